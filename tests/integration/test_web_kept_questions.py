"""The page of the digest lists what is kept for its reader alone, and only they can end it."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.background.drift.observations import observed
from kinkeeper.background.drift.repository import open_questions, plant
from kinkeeper.background.drift.rounds import kept_for, snapshot_of
from kinkeeper.calendar.event_changes import add_event
from kinkeeper.calendar.model import Event, EventKind, Provenance, SourceType
from kinkeeper.core.ids import stable_id
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_scope
from kinkeeper.web.access.model import DECIDERS, AccessRole
from live_household import MONDAY, ZONE
from page_visits import FREE
from web_server import BROWSER, Served, served

OURS, PRIVATE = "Pottery", "Fencing"
END = "/digest/questions"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    """Serve the household with a lesson of John's that all see and one of Sarah's that is private, both without a place."""
    with served(tmp_path, rates=FREE) as serving:
        for name, member, scope in (
            (OURS, "john", HOUSEHOLD_SCOPE),
            (PRIVATE, "sarah", person_scope("sarah")),
        ):
            keep(serving, name, member, scope)
        yield serving


def keep(house: Served, name: str, member: str, scope: str) -> None:
    """Put a lesson into the calendar, and keep the question where it is."""
    system, now = house.system, house.clock.now()
    who = system.household.member(member)
    assert who is not None
    lesson = Event(
        id=stable_id("miller", name),
        household="miller",
        kind=EventKind.BOOKING,
        summary=name,
        activity="class",
        scope=scope,
        who=(member,),
        start=(MONDAY + timedelta(days=2)).astimezone(ZONE),
        duration=timedelta(hours=1),
        tz=ZONE.key,
        rrule="FREQ=WEEKLY",
        provenance=Provenance(source_type=SourceType.WEB, source_id=name),
    )
    system.store.write_now(lambda conn: add_event(conn, lesson, change_id=name, at=now))
    seen = system.store.read_now(lambda conn: snapshot_of(conn, system.household, who, now=now))
    [found] = [each for each in observed(seen) if name in each.text]
    system.store.write_now(lambda conn: plant(conn, "miller", member, found, at=now))


def kept(house: Served, member: str) -> dict[str, str]:
    """Return what is kept for a member: the words by id."""
    system, now = house.system, house.clock.now()
    who = system.household.member(member)
    assert who is not None
    found = system.store.read_now(lambda conn: kept_for(conn, system.household, who, now=now))
    return {each.news: each.text for each in found}


def still_open(house: Served) -> set[str]:
    def read(conn: Connection) -> set[str]:
        return {*open_questions(conn, "miller", "john"), *open_questions(conn, "miller", "sarah")}

    return house.system.store.read_now(read)


def test_the_page_lists_what_is_kept_for_its_reader_and_its_button_ends_it(house: Served) -> None:
    [mine] = kept(house, "john")
    [theirs] = kept(house, "sarah")

    async def story() -> None:
        async with (
            house.bearing(house.token("john")) as john,
            house.bearing(house.token("sarah", AccessRole.ADULT)) as sarah,
        ):
            page = (await john.get("/digest")).text
            assert OURS in page
            assert mine in page
            assert PRIVATE not in page
            assert theirs not in page
            page = (await sarah.get("/digest")).text
            assert PRIVATE in page
            assert theirs in page
            assert mine not in page

            for client, other in ((john, theirs), (sarah, mine), (john, "nothing"), (john, "")):
                told = await client.post(END, data={"news": other})
                assert told.status_code in {404, 422}, told.text
            assert still_open(house) == {mine, theirs}

            for on, is_shown in (("false", False), ("true", True)):
                await john.post("/digest/remarks", data={"on": on})
                assert (OURS in (await john.get("/digest")).text) == is_shown

            told = await john.post(END, data={"news": mine})
            assert (told.status_code, told.headers["location"]) == (303, "/digest")
            assert "Never mention this" not in (await john.get("/digest")).text
            assert (await john.post(END, data={"news": mine})).status_code == 404
            assert PRIVATE in (await sarah.get("/digest")).text
        assert still_open(house) == {theirs}

    asyncio.run(story())


def test_whoever_decides_nothing_neither_sees_nor_ends_a_question(house: Served) -> None:
    [mine] = kept(house, "john")

    async def story() -> None:
        for member, role in product(("john", "leo"), sorted(set(AccessRole) - DECIDERS)):
            async with house.bearing(house.token(member, role)) as client:
                shown = await client.get("/digest")
                assert shown.status_code == 403, (member, role)
                assert OURS not in shown.text
                told = await client.post(END, data={"news": mine})
                assert told.status_code == 403, (member, role)
        assert mine in still_open(house)

    asyncio.run(story())


def test_neither_a_program_nor_a_child_with_an_adult_s_key_ends_one(house: Served) -> None:
    [mine] = kept(house, "john")

    async def story() -> None:
        for token in (house.token("john", is_program=True), house.token("leo", AccessRole.OWNER)):
            async with house.bearing(token) as client:
                assert (await client.post(END, data={"news": mine})).status_code == 403
        async with house.client() as client:
            assert (await client.post(END, data={"news": mine})).status_code == 401
        assert mine in still_open(house)

    asyncio.run(story())


def test_a_form_of_another_page_ends_nothing(house: Served) -> None:
    [mine] = kept(house, "john")

    async def story() -> None:
        async with house.client() as client:
            await house.log_in(client, "john")
            told = await client.post(END, data={"news": mine}, headers=BROWSER)
            assert told.status_code == 403
        assert mine in still_open(house)

    asyncio.run(story())
