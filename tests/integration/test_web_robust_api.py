"""The API when many press at once, when somebody else holds the database, and when the disk is full."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.proposals import propose
from kinkeeper.actions.repository import list_actions
from kinkeeper.calendar.repository import list_events
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.sqlite_library import dbapi2
from kinkeeper.web.security.request_limits import RateLimits
from pending_samples import adding, event, proposal
from web_server import Served, served

UNLIMITED = RateLimits(write=None, read=None)
PROPOSALS, PRESSES = 200, 8


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, rates=UNLIMITED) as serving:
        yield serving


def waiting(house: Served, count: int) -> list[str]:
    """Propose that many events; returns the actions' ids."""
    here, now = house.system.household.id, house.clock.now()
    plain = proposal(household=here)
    made = []
    for number in range(count):
        effect = event(f"e{number}", household_id=here, start=now + timedelta(hours=number + 1))
        each = replace(plain, source_id=f"m{number}", effects=adding(effect), merge_key=None)
        made.append(
            house.system.store.write_now(
                lambda conn, each=each: (
                    propose(conn, each, household=house.system.household, now=now).action.id
                )  # type: ignore[misc]
            )
        )
    return made


def events(house: Served) -> int:
    here = house.system.household.id
    return len(house.system.store.read_now(lambda conn: list_events(conn, Viewer.whole(here))))


def standing(house: Served) -> set[ActionStatus]:
    here, now = house.system.household.id, house.clock.now()
    found = house.system.store.read_now(
        lambda conn: list_actions(
            conn, Viewer.whole(here), statuses=frozenset(ActionStatus), now=now
        )
    )
    return {action.status for action in found}


@pytest.mark.slow
def test_racing_presses_write_each_effect_once(house: Served) -> None:
    before, actions = events(house), waiting(house, PROPOSALS)
    tokens = [house.token("john"), house.token("sarah")]

    async def story() -> list[list[httpx.Response]]:
        async with house.bearing(tokens[0]) as one, house.bearing(tokens[1]) as other:

            async def race(action: str) -> list[httpx.Response]:
                presses = (
                    (one, other)[n % 2].post(f"/api/pending/{action}/confirm", json={})
                    for n in range(PRESSES)
                )
                return await asyncio.gather(*presses)

            return [await race(action) for action in actions]

    answers = asyncio.run(story())
    assert events(house) == before + PROPOSALS
    for told in answers:
        outcomes = sorted(each.json()["outcome"] for each in told)
        assert outcomes == ["already_done"] * (PRESSES - 1) + ["done"]
        assert sum(each.json()["changed"] for each in told) == 1


def test_a_database_held_by_another_decides_nothing(house: Served, tmp_path: Path) -> None:
    before, (action,) = events(house), waiting(house, 1)
    token = house.token("john")
    house.system.store.write_now(lambda conn: conn.exec_driver_sql("PRAGMA busy_timeout=100"))
    other = dbapi2.connect(tmp_path / "family.sqlite", isolation_level=None)
    wish = {"summary": "Chess", "start": "2026-03-07T10:00:00"}
    writes = [
        (f"/api/pending/{action}/confirm", {}),
        (f"/api/pending/{action}/reject", {}),
        ("/api/events", wish),
        ("/api/quiet", {"for": "2h"}),
        ("/api/feeds", {}),
    ]

    async def story() -> None:
        async with house.bearing(token) as client:
            other.execute("BEGIN IMMEDIATE")
            for path, body in writes:
                refused = await client.post(path, json=body)
                assert refused.status_code == 503, (path, refused.text)
                assert refused.headers["content-type"] == "application/problem+json"
                assert int(refused.headers["retry-after"]) >= 1
            other.execute("COMMIT")
            assert standing(house) == {ActionStatus.PENDING}
            assert events(house) == before
            told = await client.post(writes[0][0], json={})
            assert told.json()["outcome"] == "done"

    asyncio.run(story())
    other.close()


def test_a_full_disk_says_so_and_keeps_what_it_said_was_done(house: Served) -> None:
    before, store, token = events(house), house.system.store, house.token("john")
    pages = store.write_now(lambda conn: conn.exec_driver_sql("PRAGMA page_count").scalar_one())
    store.write_now(lambda conn: conn.exec_driver_sql(f"PRAGMA max_page_count={pages + 4}"))

    async def story() -> list[int]:
        async with house.bearing(token) as client:
            wish = {"summary": "Chess " * 80, "start": "2026-03-07T10:00:00"}
            return [(await client.post("/api/events", json=wish)).status_code for _ in range(40)]

    codes = asyncio.run(story())
    assert set(codes) == {201, 503}
    assert events(house) == before + codes.count(201)
