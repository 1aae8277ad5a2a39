"""A clock that was wrong, and is set right: nothing waits for longer than it ever does, and nothing is deleted too soon."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Column, MetaData, String, Table, create_engine, insert

from kinkeeper.core.time import A_DAY, ForwardJumps, is_held_until, is_of_wrong_clock
from kinkeeper.jobs import leases

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LEASE = timedelta(minutes=5)
WRONG = st.timedeltas(timedelta(days=-900), timedelta(days=900))

metadata = MetaData()
work = Table(
    "work",
    metadata,
    Column("household", String, primary_key=True),
    Column("id", String, primary_key=True),
    *leases.work_columns(),
)
engine = create_engine("sqlite://")
metadata.create_all(engine)
KEY = ("one", "a")


@given(wrong=WRONG)
def test_work_that_was_claimed_or_queued_by_a_wrong_clock_waits_for_a_day_at_most(
    wrong: timedelta,
) -> None:
    then = NOW + wrong
    with engine.begin() as conn:
        conn.execute(work.delete())
        conn.execute(insert(work), {"household": "one", "id": "a", "due_at": then})
        assert leases.claim(conn, work, KEY, now=then, lease=LEASE) == 1
        free = bool(leases.stranded(conn, work, now=NOW))
        assert free == (leases.claim(conn, work, KEY, now=NOW, lease=LEASE) == 2)
        assert (
            free == (not then <= NOW + A_DAY or then + LEASE <= NOW) or then > NOW + A_DAY - LEASE
        )
        if not free:
            later = NOW + A_DAY + LEASE
            assert leases.claim(conn, work, KEY, now=later, lease=LEASE) == 2


@given(wrong=WRONG, longest=st.timedeltas(timedelta(seconds=1), A_DAY))
def test_a_wait_is_never_longer_than_it_was_meant_to_be(
    wrong: timedelta, longest: timedelta
) -> None:
    until = NOW + longest
    moved = NOW + wrong
    if is_held_until(until, moved, longest):
        assert NOW <= moved < until
    assert is_held_until(until, NOW, longest)


@given(wrong=WRONG)
def test_only_what_lies_more_than_a_day_ahead_is_of_a_wrong_clock(wrong: timedelta) -> None:
    assert is_of_wrong_clock(NOW + wrong, NOW) == (wrong > A_DAY)


@given(
    steps=st.lists(st.timedeltas(timedelta(seconds=1), timedelta(hours=12)), max_size=12),
    jump=st.timedeltas(A_DAY + timedelta(seconds=1), timedelta(days=900)),
)
def test_after_a_jump_ahead_nothing_counts_as_old_for_a_day_or_until_it_is_set_back(
    steps: list[timedelta], jump: timedelta
) -> None:
    jumps, now = ForwardJumps(), NOW
    for step in [timedelta(0), *steps]:
        now += step
        assert not jumps.is_recent(now)
    ahead = now + jump
    assert jumps.is_recent(ahead)
    assert jumps.is_recent(ahead + timedelta(hours=23))
    assert not jumps.is_recent(now)  # set back
    again = ForwardJumps()
    assert not again.is_recent(now)
    assert again.is_recent(ahead)
    assert again.is_recent(ahead + timedelta(hours=12))
    assert not again.is_recent(ahead + A_DAY)
