"""Whoever is erased is gone from every table and from the file, byte by byte; what is others' stays."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, select, text, update

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import list_actions, read_actions
from kinkeeper.background.drift.cycle import Remark, State
from kinkeeper.background.drift.model import Evidence, Matter
from kinkeeper.background.drift.repository import history_of, insert_remark
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.bootstrap.table_erasure import erase, found_of
from kinkeeper.core.errors import ConflictError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.sessions import SessionMessage, take_in
from kinkeeper.store.schema import metadata
from live_household import MONDAY, said
from web_server import Served, served

SAID = (
    "zanzibarquartz",
    "marmaladeyeti",
    "cobaltwombat",
    "tungstenlily",
    "vanadiumnewt",
    "osmiumheron",
)
"""Words that stand nowhere but in what Sarah said or what was said of her."""


@pytest.fixture
def house(tmp_path: Path, address: str) -> Iterator[Served]:
    with served(tmp_path, database=address) as serving:
        yield serving


def words_in(house: Served, address: str) -> set[str]:
    """Return which of the words any file of the database holds; on a server, any row of any table."""
    if "://" in address:
        held = "\n".join(house.system.store.read_now(lambda conn: [*_rows(conn)])).encode()
    else:
        held = b"".join(file.read_bytes() for file in Path(address).parent.glob("family.db*"))
    return {word for word in SAID if word.encode() in held.lower()}


def _rows(conn: Connection) -> Iterator[str]:
    tables = text(
        "SELECT format('SELECT t::text FROM %I.%I t', table_schema, table_name) FROM information_schema.tables"
        " WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'"
    )
    for query in conn.execute(tables).scalars():
        yield from conn.execute(text(query)).scalars()


def fill(house: Served) -> None:
    """Have Sarah speak everywhere, and John speak of her and of himself."""
    system, clock = house.system, house.clock
    household = system.household.id

    def session(member: str, text: str, number: int) -> None:
        message = SessionMessage(
            content_session_id=f"{member}-1",
            user_message=text,
            member=member,
            timestamp=clock.now() + timedelta(minutes=number),
            assistant_response=f"I will remember: {text}",
        )
        system.store.write_now(lambda conn: take_in(conn, household, message, at=clock.now()))

    session("sarah", "I collect zanzibarquartz figurines.", 1)
    session("john", "I collect stamps.", 2)
    session("john", "Sarah is allergic to tungstenlily.", 3)

    async def talk() -> None:
        conversation = house.context.houses[household].conversation
        assert conversation is not None
        member = system.household.member("sarah")
        assert member is not None
        for message in (
            "My favourite drink is marmaladeyeti",
            "add cobaltwombat to my shopping list",
            "remember that the gate code is vanadiumnewt",
        ):
            await conversation.say(member, message, channel="web")
            await conversation.idle()
        reading = reading_of(system.household, system.store, clock)
        while await reading.run_once():
            pass

    asyncio.run(talk())


def heard(message: InboundMessage, house: Served) -> None:
    """Take in a message of the family's chat as the observer does."""
    replay = house.system.replay(MONDAY)
    asyncio.run(_fed(replay, message))


async def _fed(replay: object, message: InboundMessage) -> None:
    async for _ in replay.feed(message):  # type: ignore[attr-defined]
        pass


def test_an_erased_person_is_in_no_row_and_no_byte(house: Served, address: str) -> None:
    fill(house)
    heard(said(1, "sarah", "can you take Leo to soccer thursday, bring the marmaladeyeti"), house)
    system, household = house.system, house.system.household.id
    system.store.fold_log()
    assert words_in(house, address) >= {"zanzibarquartz", "marmaladeyeti", "tungstenlily"}

    found = system.store.write_now(
        lambda conn: erase(conn, household, "sarah", at=house.clock.now())
    )
    system.store.fold_log()

    assert found.episodes
    assert found.facts
    assert words_in(house, address) <= {"cobaltwombat"}, (
        "the household's shopping list is the household's"
    )
    rest = system.store.read_now(lambda conn: found_of(conn, household, "sarah"))
    assert (rest.episodes, rest.facts, dict(rest.rows)) == (0, 0, {})
    later = house.clock.now() + timedelta(hours=1)
    narratives = {
        fact.narrative
        for fact in system.store.read_now(
            lambda conn: list_facts(conn, Viewer.of(household), now=later)
        )
    }
    assert "I collect stamps" in narratives


def test_what_awaits_a_yes_because_of_them_is_withdrawn_without_its_words(
    house: Served, address: str
) -> None:
    heard(said(1, "sarah", "@bot remember that the osmiumheron key is under the pot"), house)
    heard(said(2, "sarah", "can you take Leo to soccer thursday?"), house)
    heard(said(3, "sarah", "can someone feed the vanadiumnewt friday at 5?"), house)
    system, household = house.system, house.system.household.id
    everybody = Viewer.of(household, "john")
    waiting = system.store.read_now(
        lambda conn: list_actions(conn, everybody, now=house.clock.now())
    )
    assert {each.status for each in waiting} == {ActionStatus.PENDING}
    assert any("vanadiumnewt" in each.proposal.summary for each in waiting)

    system.store.write_now(lambda conn: erase(conn, household, "sarah", at=house.clock.now()))
    system.store.fold_log()

    left = system.store.read_now(
        lambda conn: read_actions(conn, everybody, [each.id for each in waiting])
    )
    assert {each.status for each in left} == {ActionStatus.WITHDRAWN}
    assert not any(each.proposal.effects for each in left)
    assert not words_in(house, address)


def test_what_is_being_carried_out_is_not_cut_off(house: Served) -> None:
    heard(said(1, "sarah", "can you take Leo to soccer thursday?"), house)
    system, household = house.system, house.system.household.id
    cards = metadata.tables["pending_actions"]
    system.store.write_now(
        lambda conn: conn.execute(update(cards).values(status=ActionStatus.EXECUTING.value))
    )
    with pytest.raises(ConflictError, match="try again"):
        system.store.write_now(lambda conn: erase(conn, household, "sarah", at=house.clock.now()))


def test_nothing_of_anybody_else_is_touched(house: Served) -> None:
    fill(house)
    system, household = house.system, house.system.household.id

    def johns() -> list[tuple[object, ...]]:
        return system.store.read_now(
            lambda conn: [
                tuple(row)
                for table in metadata.sorted_tables
                if "member" in table.c and table.name != "episodes"
                for row in conn.execute(select(table).where(table.c.member == "john"))
            ]
        )

    before = johns()
    system.store.write_now(lambda conn: erase(conn, household, "sarah", at=house.clock.now()))
    assert johns() == before


def test_what_others_never_want_to_hear_again_outlives_whoever_is_erased(
    house: Served, address: str
) -> None:
    system, household, now = house.system, house.system.household.id, house.clock.now()
    states = (State.UNWANTED, State.IGNORED, State.DEFERRED)

    def remark(member: str, state: State) -> Remark:
        return Remark(
            id=f"{member} {state}",
            member=member,
            matter=Matter.PLACE,
            news=f"{member} {state}",
            text="Where is the osmiumheron lesson?",
            about=frozenset(),
            score=0.8,
            state=state,
            made_at=now,
            until=now + timedelta(days=9),
        )

    words = [Evidence(kind="fact", id="1", words="Sarah's vanadiumnewt")]
    for each in (remark(member, state) for member in ("john", "sarah") for state in states):
        system.store.write_now(lambda conn, each=each: insert_remark(conn, household, each, words))  # type: ignore[misc]
    system.store.write_now(lambda conn: erase(conn, household, "sarah", at=now))
    system.store.fold_log()

    later = now + timedelta(hours=1)
    left = system.store.read_now(lambda conn: history_of(conn, household, now=later)).remarks
    assert {each.news: each.state for each in left} == {
        f"john {State.UNWANTED}": State.UNWANTED,
        f"john {State.IGNORED}": State.IGNORED,
        # Its words may be hers: it is made anew, or not.
        f"john {State.DEFERRED}": State.DROPPED,
    }
    assert not words_in(house, address)


def test_every_table_of_somebody_s_own_is_known(house: Served) -> None:
    """A table that says whose a row is must be emptied of whoever is erased."""
    fill(house)
    system, household = house.system, house.system.household.id
    system.store.write_now(lambda conn: erase(conn, household, "sarah", at=house.clock.now()))
    left = system.store.read_now(
        lambda conn: {
            table.name
            for table in metadata.sorted_tables
            for name in {"member", "sender", "speaker", "asker"} & {*table.c.keys()}
            if conn.execute(select(table).where(table.c[name] == "sarah")).first()
        }
    )
    assert left == set()
