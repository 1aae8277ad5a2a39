"""What runners promise on PostgreSQL: who beats keeps what it claimed, and what others claimed is free."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, insert, select, text

from kinkeeper.conversation import turns
from kinkeeper.conversation.threads import Thread
from kinkeeper.conversation.turns import Accepted, Incoming, accept
from kinkeeper.core.time import SystemClock
from kinkeeper.jobs import leases, runners
from kinkeeper.jobs.leases import LeaseLostError
from kinkeeper.jobs.runners import DEAD_AFTER, WORK_LEFT, Heartbeat
from kinkeeper.jobs.runners import runners as rows
from kinkeeper.store.store import Store
from kinkeeper.web.probes import DatabaseCheck
from runner_rows import enter
from work_rows import metadata, work

pytestmark = pytest.mark.slow

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEY = ("h", "a")
LEASE = timedelta(minutes=13)
PATIENCE = 30
JUST_DEAD = DEAD_AFTER.total_seconds() + 0.01
ALMOST_DEAD = DEAD_AFTER.total_seconds() - 1


@pytest.fixture
def one(postgres_url: str) -> Iterator[Store]:
    with Store.open(postgres_url) as store:
        store.write_now(metadata.create_all)
        store.write_now(
            lambda conn: conn.execute(
                insert(work), {"household": KEY[0], "id": KEY[1], "due_at": NOW}
            )
        )
        yield store


@pytest.fixture
def other(postgres_url: str, one: Store) -> Iterator[Store]:
    with Store.open(postgres_url) as store:
        yield store


def claimed(store: Store, *, runner: str | None = None, now: datetime = NOW) -> int | None:
    store.act_as(runner)
    return store.write_now(lambda conn: leases.claim(conn, work, KEY, now=now, lease=LEASE))


def beat(store: Store, runner: str, *, seconds_ago: float) -> None:
    store.write_now(lambda conn: enter(conn, runner, beat_seconds_ago=seconds_ago))


def stranded(store: Store, now: datetime = NOW) -> list[str]:
    found = store.read_now(lambda conn: leases.stranded(conn, work, now=now))
    return [each.key[1] for each in found]


def test_a_claim_is_free_once_its_runner_no_longer_beats(one: Store, other: Store) -> None:
    beat(one, "one", seconds_ago=0)
    first = claimed(one, runner="one")
    assert first == 1
    beat(one, "one", seconds_ago=ALMOST_DEAD)
    assert stranded(other) == []
    assert claimed(other, runner="other") is None
    beat(one, "one", seconds_ago=JUST_DEAD)
    assert stranded(other) == ["a"]
    assert claimed(other, runner="other") == 2
    with pytest.raises(LeaseLostError):
        one.write_now(lambda conn: leases.finish(conn, work, KEY, 1))


def test_the_clocks_of_the_machines_need_not_agree(one: Store, other: Store) -> None:
    beat(one, "one", seconds_ago=0)
    claimed(one, runner="one", now=NOW + timedelta(days=1))
    assert claimed(other, runner="other") is None
    beat(one, "one", seconds_ago=JUST_DEAD)
    assert claimed(other, runner="other") == 2


def test_a_claim_of_a_process_that_is_no_runner_lasts_as_long_as_its_lease(
    one: Store, other: Store
) -> None:
    assert claimed(one) == 1
    assert claimed(other, runner="other") is None
    assert claimed(other, runner="other", now=NOW + LEASE) == 2


def test_who_came_back_to_life_keeps_what_nobody_took(one: Store, other: Store) -> None:
    beat(one, "one", seconds_ago=JUST_DEAD)
    claimed(one, runner="one")
    beat(one, "one", seconds_ago=0)
    assert stranded(other) == []
    one.write_now(lambda conn: leases.finish(conn, work, KEY, 1))


def ids(store: Store) -> set[str]:
    return set(store.read_now(lambda conn: conn.execute(select(rows.c.id)).scalars().all()))


async def woken(store: Store, act: object) -> bool:
    """Whether the store's process hears that work is left, once something happens."""
    with store.watch(WORK_LEFT) as watch:
        await asyncio.to_thread(act)  # type: ignore[arg-type]  # called as it is
        return await watch.wait(PATIENCE)


def test_the_end_of_a_runner_is_heard_at_once_and_frees_its_claims(
    one: Store, other: Store
) -> None:
    first, second = Heartbeat(one, role="serve"), Heartbeat(other, role="worker")
    first.begin()
    second.begin()
    runner = one.runner
    assert runner is not None
    assert ids(other) == {runner, other.runner}
    one.write_now(lambda conn: leases.claim(conn, work, KEY, now=NOW, lease=LEASE))
    assert stranded(other) == []
    began = SystemClock().now()
    assert asyncio.run(woken(other, first.end))
    assert SystemClock().now() - began < runners.BEAT_EVERY
    assert (stranded(other), runner in ids(other)) == (["a"], False)
    second.end()
    assert ids(other) == set()


def test_a_runner_that_is_killed_is_noticed_just_when_it_counts_as_dead(other: Store) -> None:
    beat(other, "one", seconds_ago=ALMOST_DEAD - 1)
    heartbeat = Heartbeat(other, role="worker")
    began = SystemClock().now()
    assert asyncio.run(woken(other, heartbeat.begin))
    # Sooner than at the next beat.
    assert timedelta(seconds=1) < SystemClock().now() - began < runners.BEAT_EVERY
    heartbeat.end()


def test_a_runner_that_others_took_for_dead_is_back_with_its_next_beat(one: Store) -> None:
    heartbeat = Heartbeat(one, role="serve")
    heartbeat.begin()
    one.write_now(lambda conn: conn.execute(rows.delete()))
    assert ids(one) == set()
    one.write_now(runners.announce_work)  # ends the pause between two beats

    async def until_back() -> None:
        async with asyncio.timeout(PATIENCE):
            while not ids(one):
                await asyncio.sleep(0.05)

    asyncio.run(until_back())
    heartbeat.end()


def said(store: Store, text: str, *, now: datetime = NOW) -> Accepted:
    thread = Thread(
        household="h",
        id="t",
        member="john",
        channel="web",
        chat_id=None,
        created_at=now,
        last_at=now,
    )
    incoming = Incoming(thread=thread, text=text, client_message_id=text)
    return store.write_now(lambda conn: accept(conn, incoming, now=now))


def test_a_message_does_not_wait_for_an_earlier_one_of_a_dead_server(
    one: Store, other: Store
) -> None:
    beat(one, "one", seconds_ago=0)
    one.act_as("one")
    first = said(one, "hello")
    assert said(other, "hello").claim is None
    assert said(other, "are you there?").claim is None
    beat(one, "one", seconds_ago=JUST_DEAD)
    third = said(other, "and now?")
    assert third.claim == (first.turn_id, 2)
    assert said(other, "hello").claim is None, "it is under way again"


def test_the_same_message_sent_to_another_server_is_answered_there(
    one: Store, other: Store
) -> None:
    beat(one, "one", seconds_ago=0)
    one.act_as("one")
    first = said(one, "hello")
    beat(one, "one", seconds_ago=JUST_DEAD)
    again = said(other, "hello")
    assert (again.turn_id, again.claim, again.is_new) == (first.turn_id, (first.turn_id, 2), False)


def test_a_turn_that_ended_its_processes_too_often_is_left_to_a_person(
    one: Store, other: Store
) -> None:
    for tries in range(5):
        beat(one, f"one{tries}", seconds_ago=0)
        one.act_as(f"one{tries}")
        assert said(one, "hello").claim is not None
        beat(one, f"one{tries}", seconds_ago=JUST_DEAD)
    assert said(other, "hello").claim is None


def test_probes_of_two_servers_do_not_wait_for_each_other(one: Store, other: Store) -> None:
    async def probe_beside(first: Store, second: Store) -> str | None:
        """Probe one server in the middle of the other one's probe."""
        held = first.locking("readiness/first")
        found: list[str | None] = []

        def hold(conn: Connection) -> None:
            assert runners.beat(conn)
            conn.execute(text("SELECT version_num FROM alembic_version FOR SHARE"))
            check = DatabaseCheck(second, SystemClock())
            found.append(asyncio.run(check()))

        async with asyncio.timeout(PATIENCE):
            await held.write(hold)
        return found[0]

    beats = Heartbeat(one, role="serve"), Heartbeat(other, role="serve")
    for each in beats:
        each.begin()
    assert asyncio.run(probe_beside(one, other)) is None
    for each in beats:
        each.end()


def test_turns_say_who_claimed_them(one: Store) -> None:
    beat(one, "one", seconds_ago=0)
    one.act_as("one")
    said(one, "hello")
    said(one, "more")
    found = one.read_now(
        lambda conn: conn.execute(
            select(turns.turns.c.state, turns.turns.c.runner).order_by(turns.turns.c.position)
        ).all()
    )
    assert [tuple(row) for row in found] == [("running", "one"), ("queued", None)]
