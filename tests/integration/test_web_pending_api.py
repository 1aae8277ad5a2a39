"""What needs approval, as JSON: list it, settle it, take it back; all told from receipts."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from kinkeeper.actions.proposals import propose
from kinkeeper.calendar.repository import list_events
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.sqlite_library import dbapi2
from kinkeeper.web.access.model import AccessRole
from pending_samples import choice, event, proposal
from web_server import Served, served

Steps = Callable[[httpx.AsyncClient], Awaitable[None]]


AGES = timedelta(days=100)
"""Longer than the sample card waits."""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as serving:
        yield serving


def waiting(house: Served, source_id: str = "m1", *, choices: tuple[str, ...] = ()) -> str:
    """Propose a dentist for Leo; returns the action's id."""
    here, now = house.system.household.id, house.clock.now()
    made = event(source_id, household_id=here, who=("leo",), start=now + timedelta(days=1))
    proposed = proposal(source_id, household=here)
    proposed = replace(proposed, choices=tuple(choice(label, made) for label in choices))
    return house.system.store.write_now(
        lambda conn: propose(conn, proposed, household=house.system.household, now=now)
    ).action.id


def events(house: Served) -> int:
    here = house.system.household.id
    return len(house.system.store.read_now(lambda conn: list_events(conn, Viewer.whole(here))))


def as_member(house: Served, steps: Steps, role: AccessRole = AccessRole.OWNER) -> None:
    async def run() -> None:
        async with house.bearing(house.token("john", role)) as client:
            await steps(client)

    asyncio.run(run())


def test_a_yes_writes_and_undo_takes_it_back(house: Served) -> None:
    before, action = events(house), waiting(house)

    async def steps(client: httpx.AsyncClient) -> None:
        listed = (await client.get("/api/pending")).json()
        assert [each["id"] for each in listed["actions"]] == [action]
        shown = listed["actions"][0]["confirm_payload"]["hash"]
        told = await client.post(f"/api/pending/{action}/confirm", json={"payload_hash": shown})
        assert told.status_code == 200
        assert (told.json()["outcome"], told.json()["changed"]) == ("done", True)
        assert events(house) == before + 1
        again = (await client.post(f"/api/pending/{action}/confirm", json={})).json()
        assert (again["outcome"], again["changed"]) == ("already_done", False)
        undone = (await client.post(f"/api/actions/{action}/undo")).json()
        assert undone["outcome"] == "undone"
        assert events(house) == before
        assert (await client.get("/api/pending")).json()["actions"] == []
        done = (await client.get("/api/pending", params={"status": "done"})).json()
        assert [each["id"] for each in done["actions"]] == [action]

    as_member(house, steps)


def test_a_card_that_was_not_what_is_stored_is_refused(house: Served) -> None:
    before, action = events(house), waiting(house)

    async def steps(client: httpx.AsyncClient) -> None:
        told = await client.post(f"/api/pending/{action}/confirm", json={"payload_hash": "0" * 64})
        assert told.status_code == 409
        assert told.json()["outcome"] == "changed"
        assert events(house) == before

    as_member(house, steps)


def test_one_of_several_ways_has_to_be_named(house: Served) -> None:
    before, action = events(house), waiting(house, choices=("John", "Sarah"))

    async def steps(client: httpx.AsyncClient) -> None:
        await client.post(f"/api/pending/{action}/resolve", json={"choice": "Sarah"})
        assert events(house) == before + 1
        told = (await client.get("/api/pending", params={"status": "done"})).json()
        assert told["actions"][0]["choice"] == "Sarah"

    as_member(house, steps)


def test_a_no_keeps_what_was_wrong(house: Served) -> None:
    action = waiting(house)

    async def steps(client: httpx.AsyncClient) -> None:
        path = f"/api/pending/{action}"
        told = await client.post(f"{path}/reject", json={"reason": "wrong_day"})
        assert told.json()["outcome"] == "rejected"
        said = await client.post(f"{path}/feedback", json={"reason": "not_a_plan"})
        assert said.status_code == 204
        nowhere = await client.post("/api/pending/nowhere/feedback", json={"reason": "wrong_day"})
        assert nowhere.status_code == 404

    as_member(house, steps)


def test_a_late_yes_says_so_and_changes_nothing(house: Served) -> None:
    before, action = events(house), waiting(house)
    house.clock.advance_to(house.clock.now() + AGES)

    async def steps(client: httpx.AsyncClient) -> None:
        told = (await client.post(f"/api/pending/{action}/confirm", json={})).json()
        assert (told["outcome"], told["changed"]) == ("expired", False)
        assert events(house) == before

    as_member(house, steps)


@pytest.mark.parametrize("role", [AccessRole.CHILD, AccessRole.GUEST])
def test_who_may_not_decide_reads_at_most(house: Served, role: AccessRole) -> None:
    action = waiting(house)

    async def steps(client: httpx.AsyncClient) -> None:
        for verb in ("confirm", "reject", "feedback"):
            told = await client.post(f"/api/pending/{action}/{verb}", json={"reason": "wrong_day"})
            assert told.status_code == 403
        assert (await client.post(f"/api/actions/{action}/undo")).status_code == 403

    as_member(house, steps, role)


def test_pages_of_the_list_follow_each_other(house: Served) -> None:
    made = [waiting(house, f"m{number}") for number in range(5)]

    async def steps(client: httpx.AsyncClient) -> None:
        seen: list[str] = []
        after: str | None = ""
        while after is not None:
            page = (await client.get("/api/pending", params={"after": after, "limit": 2})).json()
            seen += [each["id"] for each in page["actions"]]
            after = page["next"]
        assert sorted(seen) == sorted(made)
        assert len(set(seen)) == len(made)

    as_member(house, steps)


def test_pages_of_what_is_settled_or_ran_out_follow_each_other(house: Served) -> None:
    made = [waiting(house, f"m{number}") for number in range(6)]
    ended = ["expired", "rejected", "done"]

    async def steps(client: httpx.AsyncClient) -> None:
        for action in made[:2]:
            await client.post(f"/api/pending/{action}/reject", json={})
        for action in made[2:4]:
            await client.post(f"/api/pending/{action}/confirm", json={})
        house.clock.advance_to(house.clock.now() + AGES)
        seen: dict[str, str] = {}
        after: str | None = ""
        while after is not None:
            asked = {"status": ended, "after": after, "limit": 2}
            page = (await client.get("/api/pending", params=asked)).json()
            assert len(page["actions"]) == 2
            seen |= {each["id"]: each["status"] for each in page["actions"]}
            after = page["next"]
        wanted = ["rejected"] * 2 + ["done"] * 2 + ["expired"] * 2
        assert [seen[action] for action in made] == wanted
        assert (await client.get("/api/pending")).json()["actions"] == []

    as_member(house, steps)


def test_a_yes_that_the_database_has_no_time_for_says_so_soon_and_is_not_made_later(
    tmp_path: Path,
) -> None:
    with served(tmp_path, patience=timedelta(milliseconds=200)) as house:
        before, action = events(house), waiting(house)
        token = house.token("john", AccessRole.OWNER)
        other = dbapi2.connect(str(tmp_path / "family.sqlite"), isolation_level=None)

        async def story() -> None:
            async with house.bearing(token) as client:
                other.execute("BEGIN IMMEDIATE")
                refused = await client.post(f"/api/pending/{action}/confirm", json={})
                assert refused.status_code == 503
                assert int(refused.headers["retry-after"]) >= 1
                other.execute("COMMIT")
                await client.post("/api/quiet", json={"for": "1h"})  # what waited before it is over
                assert events(house) == before
                assert (await client.post(f"/api/pending/{action}/confirm", json={})).is_success

        asyncio.run(story())
        other.close()
        assert events(house) == before + 1
