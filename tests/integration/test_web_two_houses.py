"""Two households behind one server: every route with the other's ids, and no word of one in the other's answers."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts
from sqlalchemy import Connection, select

from kinkeeper.actions.proposals import propose
from kinkeeper.bootstrap import Houses, open_houses
from kinkeeper.core.time import VirtualClock
from kinkeeper.settings.model import Settings
from kinkeeper.store.schema import metadata
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.app import Application
from kinkeeper.web.context import House, WebContext
from kinkeeper.web.security.request_limits import RateLimits
from live_household import HOUSEHOLD, MONDAY
from pending_samples import adding, event, proposal
from web_server import ADDRESS, BROWSER

pytestmark = pytest.mark.slow

CANARIES = {"north": "zebrafish", "south": "quokka"}
FREE = RateLimits(probe=None, login=None, ingest=None, read=None, write=None)
ENDLESS = {"/live", "/welcome/live"}
# What a route needs beside ids, so that nothing but the id can be what it refuses.
BODIES: Mapping[str, dict[str, Any]] = {
    "resolve": {"json": {"choice": "John"}},
    "feedback": {"json": {"reason": "wrong_day"}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Two:
    """Both households, and the ids of what each has."""

    app: Application
    houses: Houses
    tokens: Mapping[str, str]
    ids: Mapping[str, Mapping[str, str]]
    feeds: Mapping[str, str]

    def client(self, name: str) -> httpx.AsyncClient:
        """Return a client of the owner of a household."""
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        headers = {"Authorization": f"Bearer {self.tokens[name]}"}
        return httpx.AsyncClient(transport=transport, base_url=ADDRESS, headers=headers)

    def rows(self, name: str) -> str:
        """Return every row of a household."""

        def load(conn: Connection) -> str:
            return "\n".join(
                f"{table.name}: {row}"
                for table in metadata.sorted_tables
                if "household" in table.c
                for row in conn.execute(select(table).where(table.c.household == name))
            )

        return self.houses.store.read_now(load)


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    folder = tmp_path / "households"
    folder.mkdir()
    text = HOUSEHOLD.read_text(encoding="utf-8")
    for name in CANARIES:
        own = text.replace('id = "miller"', f'id = "{name}"\nchats = ["chat-{name}"]', 1)
        (folder / f"{name}.toml").write_text(own, encoding="utf-8")
    settings = Settings(family_context=folder, db_path=tmp_path / "both.db")
    with open_houses(settings, now=MONDAY) as houses, houses.live_intakes() as intakes:
        clock = VirtualClock(MONDAY)
        served = {
            name: House(
                participants=system.participants,
                store=system.store,
                intake=intakes[name],
                prover=system.prover(),
                finder=system.recall.finder,
                conversation=system.talk(clock).conversation,
            )
            for name, system in houses.by_id.items()
        }
        context = WebContext(
            houses=served, store=houses.store, clock=clock, address=ADDRESS, rates=FREE
        )
        made = {name: _key(houses, name) for name in CANARIES}
        two = Two(
            app=Application(context),
            houses=houses,
            tokens={name: secret for name, (_, secret) in made.items()},
            ids={},
            feeds={},
        )
        keys = {name: key for name, (key, _) in made.items()}
        yield asyncio.run(_lived_in(two, keys))


def _key(houses: Houses, name: str) -> tuple[str, str]:
    issued = houses.store.write_now(
        lambda conn: logins.create_token(
            conn, name, "john", role=AccessRole.OWNER, label=f"of the {CANARIES[name]}", now=MONDAY
        )
    )
    return issued.key.id, issued.secret


async def _lived_in(two: Two, keys: Mapping[str, str]) -> Two:
    """Let each household say, plan and share something that holds its word."""
    ids: dict[str, dict[str, str]] = {}
    feeds: dict[str, str] = {}
    for name, word in CANARIES.items():
        async with two.client(name) as client:
            said = {
                "chat_id": f"chat-{name}",
                "message_id": f"m-{name}",
                "sender": "sarah",
                "text": f"Leo has the dentist Thursday at 4pm, take the {word} card",
                "sent_at": MONDAY.isoformat(),
            }
            assert (await client.post("/observe", json=said)).status_code == 202
            wish = {"summary": f"Feed the {word}", "start": "2026-03-04T10:00:00", "who": ["john"]}
            told = (await client.post("/api/events", json=wish)).json()
            made = told["action"]["confirm_payload"]["effects"][0]["event"]["id"]
            feed = (await client.post("/api/feeds", json={"label": word})).json()
            feeds[name] = feed["address"]
            line = {"text": f"add {word} food to the {word} list", "thread": f"thread-{name}"}
            answered = await client.post("/chat", json=line)
            assert word in answered.text.lower()
            turn = answered.headers["X-Turn"]
            task = (await client.post("/api/tasks", json={"title": f"Brush the {word}"})).json()
        effect = event(word, household_id=name, summary=f"Ask the {word}")
        waiting = replace(
            proposal(word, household=name), summary=f"Ask the {word}", effects=adding(effect)
        )
        family = two.houses.by_id[name].household
        action = two.houses.store.write_now(
            lambda conn, waiting=waiting, family=family: (  # type: ignore[misc]
                propose(conn, waiting, household=family, now=MONDAY).action.id
            )
        )
        ids[name] = {
            "action_id": action,
            "key_id": keys[name],
            "message_id": f"m-{name}",
            "event_id": made,
            "thread": f"thread-{name}",
            "turn": turn,
            "task_id": task["task"]["id"],
        }
    return replace(two, ids=ids, feeds=feeds)


def routes(two: Two) -> list[tuple[str, frozenset[str]]]:
    found = [
        (each.path, frozenset(each.methods or ()) - {"HEAD"})
        for each in iter_route_contexts(two.app.routes)
        if each.path is not None and each.path not in ENDLESS
    ]
    assert len(found) > 40
    return found


def parameters(path: str) -> list[str]:
    return re.findall(r"{(\w+)(?::\w+)?}", path)


@pytest.mark.parametrize(("name", "other"), [("north", "south"), ("south", "north")])
def test_the_other_s_ids_lead_nowhere_and_change_nothing(two: Two, name: str, other: str) -> None:
    before = two.rows(other)
    walked = set()

    async def story() -> None:
        async with two.client(name) as client:
            for path, methods in routes(two):
                names = parameters(path)
                if not names or not set(names) <= set(two.ids[other]):
                    continue
                address = re.sub(r"{(\w+)(?::\w+)?}", lambda m: two.ids[other][m[1]], path)
                for method in methods:
                    body = BODIES.get(path.rpartition("/")[2], {"json": {}})
                    if method == "GET":
                        body = {}
                    for headers in ({}, BROWSER):
                        told = await client.request(method, address, headers=headers, **body)
                        assert told.status_code in {404, 422}, (method, path, told.text)
                        assert CANARIES[other] not in told.text, (method, path)
                        walked.add((method, path, told.status_code))

    asyncio.run(story())
    assert two.rows(other) == before
    refused = {path for _, path, status in walked if status == 404}
    assert {
        "/api/pending/{action_id}/confirm",
        "/api/pending/{action_id}/reject",
        "/api/pending/{action_id}/resolve",
        "/api/pending/{action_id}/feedback",
        "/api/actions/{action_id}/undo",
        "/api/keys/{key_id}",
        "/api/messages/{message_id}/trace",
    } <= refused


@pytest.mark.parametrize(("name", "other"), [("north", "south"), ("south", "north")])
def test_no_answer_holds_the_other_s_word(two: Two, name: str, other: str) -> None:
    async def story() -> set[str]:
        mine: set[str] = set()
        async with two.client(name) as client:
            for path, methods in routes(two):
                if "GET" not in methods or parameters(path):
                    continue
                for headers in ({}, BROWSER):
                    told = await client.get(path, headers=headers)
                    assert told.status_code < 500, path
                    assert CANARIES[other] not in told.text, path
                    mine |= {path} if CANARIES[name] in told.text else set()
            feed = await client.get(two.feeds[name])
            assert CANARIES[name] in feed.text
            assert CANARIES[other] not in feed.text
        return mine

    mine = asyncio.run(story())
    assert {
        "/api/pending",
        "/api/events",
        "/api/keys",
        "/pending",
        "/calendar",
        "/people",
        "/api/threads",
        "/api/tasks",
        "/tasks",
    } <= mine


def test_own_ids_do_lead_somewhere(two: Two) -> None:
    async def story() -> None:
        async with two.client("north") as client:
            ids = two.ids["north"]
            told = await client.get(f"/api/messages/{ids['message_id']}/trace")
            assert told.status_code == 200
            told = await client.post(f"/api/pending/{ids['action_id']}/confirm", json={})
            assert told.json()["outcome"] == "done"
            page = await client.get(f"/calendar/event/{ids['event_id']}", headers=BROWSER)
            assert page.status_code == 200

    asyncio.run(story())
