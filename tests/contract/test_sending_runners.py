"""A message that a process was sending when it died is taken up once the process is known to be dead, and not before."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection

from kinkeeper.jobs.runners import DEAD_AFTER
from kinkeeper.messaging import delivery, outbox
from kinkeeper.messaging.delivery import REPEATED, Lane, Taken
from kinkeeper.messaging.outbound import Outbound, OutboundState
from kinkeeper.store.store import Store
from runner_rows import enter

HOUSE, CHAT = "miller", "family"
NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
LANE = Lane(channel="test", chat_id=CHAT, is_notices=False)
LEASE = timedelta(seconds=90)
JUST_DEAD = DEAD_AFTER.total_seconds() + 0.01
ALMOST_DEAD = DEAD_AFTER.total_seconds() - 5


def put(store: Store, *, is_unprompted: bool) -> int:
    message = Outbound(
        channel="test", chat_id=CHAT, body="Which?", dedupe_key="a", is_unprompted=is_unprompted
    )
    row, _ = store.write_now(lambda conn: outbox.put(conn, HOUSE, message, now=NOW))
    return row


def take(store: Store, now: datetime = NOW) -> Taken | datetime | None:
    def work(conn: Connection) -> Taken | datetime | None:
        return delivery.take_next(conn, HOUSE, LANE, mint=lambda *_: (), now=now, lease=LEASE)

    return store.locking(HOUSE).write_now(work)


def beat(store: Store, runner: str, *, seconds_ago: float) -> None:
    store.write_now(lambda conn: enter(conn, runner, beat_seconds_ago=seconds_ago))


def state(store: Store, row: int) -> OutboundState | None:
    found = store.read_now(lambda conn: outbox.load(conn, HOUSE, row))
    return None if found is None else found.state


@pytest.mark.parametrize("is_unprompted", [True, False])
def test_what_a_dead_process_was_sending_is_lost_at_once_and_said_once_more_where_awaited(
    store: Store, is_unprompted: bool
) -> None:
    row = put(store, is_unprompted=is_unprompted)
    beat(store, "one", seconds_ago=0)
    store.act_as("one")
    assert isinstance(take(store), Taken)
    store.act_as("other")
    beat(store, "one", seconds_ago=ALMOST_DEAD)
    assert take(store) == NOW + LEASE
    beat(store, "one", seconds_ago=JUST_DEAD)
    # A file has one process that delivers; it ends what was under way when it begins.
    now = NOW if store.is_on_server else NOW + LEASE
    taken = take(store, now)
    if is_unprompted:
        assert taken is None
        assert state(store, row) is OutboundState.UNKNOWN
    else:
        assert isinstance(taken, Taken)
        assert taken.item.body == "Which?" + REPEATED
    store.act_as(None)


def test_who_comes_back_late_records_nothing_over_another(store: Store) -> None:
    row = put(store, is_unprompted=False)
    store.act_as("one")
    beat(store, "one", seconds_ago=JUST_DEAD)
    first = take(store)
    store.act_as("other")
    beat(store, "other", seconds_ago=0)
    second = take(store, NOW if store.is_on_server else NOW + LEASE)
    assert isinstance(first, Taken)
    assert isinstance(second, Taken)
    late, again = first.row, second.row
    store.write_now(lambda conn: delivery.refuse(conn, late, error="no"))
    assert state(store, row) is OutboundState.SENDING
    store.write_now(lambda conn: delivery.put_back(conn, again, error="no", until=NOW))
    assert state(store, row) is OutboundState.QUEUED
    store.act_as(None)


@pytest.mark.parametrize("wrong", [timedelta(days=2), timedelta(days=900)])
def test_a_try_that_a_wrong_clock_has_put_off_is_made_once_the_clock_is_right(
    store: Store, wrong: timedelta
) -> None:
    put(store, is_unprompted=False)
    taken = take(store, NOW + wrong)
    assert isinstance(taken, Taken)
    row, until = taken.row, NOW + wrong + timedelta(minutes=1)
    store.write_now(lambda conn: delivery.put_back(conn, row, error="away", until=until))
    assert isinstance(take(store), Taken)
