"""Traces, figures, quiet and answers over HTTP."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import httpx
import pytest

from kinkeeper.messaging import outbox
from kinkeeper.observer.quiet_requests import quiet_until
from kinkeeper.web.access.model import AccessRole
from web_server import Served, served

Steps = Callable[[httpx.AsyncClient], Awaitable[None]]
SAID = "Leo has the dentist Thursday at 4pm"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as serving:
        yield serving


def as_member(house: Served, steps: Steps, role: AccessRole = AccessRole.OWNER) -> None:
    async def run() -> None:
        async with house.bearing(house.token("john", role)) as client:
            await steps(client)

    asyncio.run(run())


async def hear(house: Served, client: httpx.AsyncClient, number: int, text: str) -> None:
    heard = {
        "chat_id": "family",
        "message_id": f"heard-{number}",
        "sender": "sarah",
        "text": text,
        "sent_at": house.clock.now().isoformat(),
    }
    assert (await client.post("/observe", json=heard)).status_code == 202


def test_the_way_of_a_message_is_told_without_its_words(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        await hear(house, client, 1, "lol the zebrafish ate the remote")
        answer = await client.get("/api/messages/heard-1/trace", params={"chat": "family"})
        assert answer.status_code == 200, answer.text
        trace = answer.json()
        assert (trace["tier1_decision"], trace["chat_id"]) == ("DROP", "family")
        assert [gate["stage"] for gate in trace["gates"]] == ["tripwire"]
        assert trace["steps"][0]["stage"] == "heard"
        assert "zebrafish" not in answer.text
        by_beginning = await client.get("/api/messages/heard/trace")
        assert by_beginning.json() == trace
        for path in ("/api/messages/nothing/trace", "/api/messages/heard-1/trace?chat=other"):
            assert (await client.get(path)).status_code == 404

    as_member(house, steps)


def test_a_message_is_found_by_its_row_too(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        await hear(house, client, 1, SAID)
        by_name = (await client.get("/api/messages/heard-1/trace")).json()
        assert (await client.get("/api/messages/1/trace")).json() == by_name

    as_member(house, steps)


def test_the_figures_count_what_was_heard(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        await hear(house, client, 1, "lol")
        await hear(house, client, 2, SAID)
        figures = (await client.get("/api/metrics", params={"days": 1})).json()
        assert (figures["first"], figures["last"]) == ("2026-03-02", "2026-03-02")
        assert [(day["messages"], day["spoken"]) for day in figures["days"]] == [(2, 0)]
        assert "lol" not in json.dumps(figures)
        work = (await client.get("/api/observability/jobs")).json()
        assert work["reading"] == {"dropped": 1, "queued": 1}
        assert (work["failed_updates"], work["manual_review"]) == (0, [])
        for days in ("0", "367", "many"):
            assert (await client.get("/api/metrics", params={"days": days})).status_code == 422

    as_member(house, steps)


def test_quiet_is_kept_and_ended(house: Served) -> None:
    here, store = house.system.household.id, house.system.store

    async def steps(client: httpx.AsyncClient) -> None:
        assert (await client.get("/api/quiet")).json() == {"until": None}
        told = await client.post("/api/quiet", json={"for": "1h30m"})
        assert told.json() == {"until": "2026-03-02T09:30:00-06:00"}
        now = house.clock.now()
        assert store.read_now(lambda conn: quiet_until(conn, here, now=now)) is not None
        assert (await client.post("/api/quiet", json={"for": "off"})).json() == {"until": None}
        assert store.read_now(lambda conn: quiet_until(conn, here, now=now)) is None
        for wrong in ("", "soon", "32d", "9" * 30 + "h"):
            assert (await client.post("/api/quiet", json={"for": wrong})).status_code == 422

    as_member(house, steps)


@pytest.mark.parametrize("role", [AccessRole.CHILD, AccessRole.GUEST])
def test_only_who_decides_asks_for_quiet(house: Served, role: AccessRole) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        assert (await client.post("/api/quiet", json={"for": "2h"})).status_code == 403
        assert (await client.get("/api/quiet")).json() == {"until": None}

    as_member(house, steps, role)


@pytest.mark.parametrize(
    ("question", "activity", "task", "day"),
    [
        ("soccer schedule Thursday", "soccer", None, "2026-03-05"),
        ("football practice on Tuesday", "soccer", None, "2026-03-03"),
        ("who usually does pickup on Tuesday", None, "pickup", "2026-03-03"),
        ("who usually picks up from soccer Tuesday", None, "pickup", "2026-03-03"),
        ("events Friday", None, None, "2026-03-06"),
        ("¿qué?", None, None, None),
    ],
)
def test_a_question_in_words_is_answered_from_the_calendar(
    house: Served, question: str, activity: str | None, task: str | None, day: str | None
) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        asked = {"q": question, "context": "observer", "format": "json"}
        headers = {"X-Observer-Request": "true", "X-Family-Context": house.system.household.id}
        answer = await client.get("/brain/query", params=asked, headers=headers)
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert (told["activity"], told["task"], told["day"]) == (activity, task, day)
        assert (told["relevance"] >= 0.5) is (activity is not None)

    as_member(house, steps)


def test_a_question_of_another_household_is_not_answered(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        headers = {"X-Family-Context": "jones"}
        answer = await client.get("/brain/query", params={"q": "events"}, headers=headers)
        assert answer.status_code == 404
        assert (await client.get("/brain/query")).status_code == 422

    as_member(house, steps)


def test_asking_says_nothing_in_any_chat(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        await client.get("/brain/query", params={"q": "soccer Thursday"})
        await client.post("/api/quiet", json={"for": "2h"})
        span = (house.clock.now().replace(hour=0), house.clock.now().replace(hour=23))
        here = house.system.household.id
        assert not house.system.store.read_now(
            lambda conn: outbox.count_unprompted(conn, here, since=span[0], until=span[1])
        )

    as_member(house, steps)
