"""A card waits until what it is about is over, in every zone and for every kind of event, and never shorter than the minimum."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine

from kinkeeper.actions.effects.calendar import (
    AddEvent,
    AssignOccurrence,
    CancelEvent,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.effects.memory import RememberFact, Sentence, Words
from kinkeeper.actions.effects.tasks import AddTask
from kinkeeper.actions.lifetime import extend_open
from kinkeeper.actions.model import PendingAction, Proposal
from kinkeeper.actions.proposals import propose
from kinkeeper.actions.repository import load_action, open_actions
from kinkeeper.actions.tables import pending_actions
from kinkeeper.calendar import event_changes
from kinkeeper.calendar.model import Event, Override
from kinkeeper.calendar.occurrences import over_at
from kinkeeper.calendar.recurrence import expand
from kinkeeper.calendar.repository import insert_event, put_override
from kinkeeper.core.time import Interval
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.model import Category, Origin, StatementType
from kinkeeper.store.engines import close_engine, parse_address, writer_engine
from kinkeeper.store.store import Store
from kinkeeper.tasks.model import Place, Task
from pending_samples import FAMILY, event, proposal

LEAST = FAMILY.pending_ttl
DAY = timedelta(days=1)
# Zones whose clocks change on different nights, at midnight, by half an hour, or not at all.
ZONES = (
    "Europe/Dublin",
    "America/Chicago",
    "Pacific/Auckland",
    "Asia/Kolkata",
    "America/Havana",
    "Australia/Lord_Howe",
    "Pacific/Kiritimati",
    "UTC",
)
RULES = (
    None,
    "FREQ=DAILY;COUNT=9",
    "FREQ=WEEKLY;COUNT=5",
    "FREQ=WEEKLY;INTERVAL=2;COUNT=3",
    "FREQ=MONTHLY;COUNT=4",
    "FREQ=WEEKLY;BYDAY=MO,TH;UNTIL=20270120",
    "FREQ=DAILY;UNTIL=20261205",
)
OPEN_ENDED = ("FREQ=WEEKLY", "FREQ=DAILY;INTERVAL=3", "FREQ=MONTHLY")

moments = st.datetimes(datetime(2026, 3, 1), datetime(2026, 12, 1)).map(  # noqa: DTZ001 - zone added below
    lambda each: each.replace(second=0, microsecond=0)
)
lengths = st.integers(0, 6 * 24 * 4).map(lambda quarters: timedelta(minutes=15 * quarters))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    path = str(tmp_path_factory.mktemp("lifetimes") / "family.db")
    with Store.open(path):
        pass
    engine = writer_engine(parse_address(path))
    yield engine
    close_engine(engine)


@contextmanager
def undone(store: Engine) -> Iterator[list[Connection]]:
    """Give the block a connection; nothing of what it writes stays."""
    with store.connect() as conn, conn.begin() as transaction:
        yield [conn]
        transaction.rollback()


@st.composite
def events(draw: st.DrawFn, rules: tuple[str | None, ...] = RULES) -> Event:
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    start = draw(moments)
    all_day = draw(st.booleans())
    length = DAY * draw(st.integers(1, 10)) if all_day else draw(lengths)
    if all_day:
        start = datetime.combine(start.date(), time())
    return event(
        "drawn",
        start=start.replace(tzinfo=zone),
        tz=zone.key,
        all_day=all_day,
        duration=length,
        rrule=draw(st.sampled_from(rules)),
    )


homes = st.sampled_from(ZONES).map(lambda name: replace(FAMILY, zone=ZoneInfo(name)))


def waiting(
    conn: Connection, home: Household, now: datetime, *effects: Effect, dates: tuple[date, ...] = ()
) -> PendingAction:
    wanted = proposal(
        effects=tuple(each.frozen() for each in effects),
        extraction={"dates": [each.isoformat() for each in dates]},
    )
    return propose(conn, wanted, household=home, now=now).action


def last_day_over(found: Event, overrides: tuple[Override, ...], home: Household) -> datetime:
    """Return the end of the last day by walking through every occurrence."""
    ages = Interval(datetime(2025, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC))
    return max(
        midnight_after(found, each.interval, home) for each in expand(found, overrides, ages)
    )


def midnight_after(found: Event, span: Interval, home: Household) -> datetime:
    zone = ZoneInfo(found.tz) if found.all_day else home.zone
    last = max(span.start, span.end - timedelta(microseconds=1)).astimezone(zone).date()
    midnight = datetime.combine(last + DAY, time(), tzinfo=home.zone).astimezone(UTC)
    return max(midnight, span.end.astimezone(UTC))


@given(found=events(), home=homes, asked=moments)
def test_a_new_event_waits_until_its_last_day_is_over(
    store: Engine, found: Event, home: Household, asked: datetime
) -> None:
    now = asked.replace(tzinfo=UTC)
    with undone(store) as [conn]:
        action = waiting(conn, home, now, AddEvent(event=found))
    over = last_day_over(found, (), home)
    assert action.expires_at == max(now + LEAST, over)


@given(found=events(OPEN_ENDED), home=homes, asked=moments)
def test_an_open_ended_series_waits_until_its_next_day_is_over(
    store: Engine, found: Event, home: Household, asked: datetime
) -> None:
    now = asked.replace(tzinfo=UTC)
    with undone(store) as [conn]:
        action = waiting(conn, home, now, AddEvent(event=found))
    ahead = Interval(now, max(now, found.start) + timedelta(days=70))
    nearest = next(
        each for each in expand(found, (), ahead) if each.interval.end > now or not found.duration
    )
    assert action.expires_at >= max(
        now + LEAST, min(nearest.interval.end, nearest.interval.start + DAY)
    )
    assert action.expires_at <= max(now + LEAST, nearest.interval.end + timedelta(days=35))


def test_an_occurrence_that_ends_at_this_moment_is_over() -> None:
    start = datetime(2026, 11, 29, tzinfo=UTC)
    series = replace(
        event(), start=start, duration=2 * DAY, tz="UTC", all_day=True, rrule="FREQ=WEEKLY"
    )
    assert over_at(series, (), zone=ZoneInfo("UTC"), after=start + 2 * DAY) == start + 9 * DAY


@given(found=events(), home=homes, asked=moments, moved=moments, data=st.data())
def test_what_is_moved_cancelled_or_given_away_waits_for_the_day_where_it_is_now(
    store: Engine,
    found: Event,
    home: Household,
    asked: datetime,
    moved: datetime,
    data: st.DataObject,
) -> None:
    now, elsewhere = asked.replace(tzinfo=UTC), moved.replace(tzinfo=UTC)
    ages = Interval(datetime(2025, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC))
    chosen = data.draw(st.sampled_from([each.original_start for each in expand(found, (), ages)]))
    override = Override(event_id=found.id, original_start=chosen, start=elsewhere)
    named = {"event_id": found.id, "original_start": chosen}
    with undone(store) as [conn]:
        insert_event(conn, found)
        put_override(conn, home.id, override)
        kinds = (
            CancelOccurrence(**named),
            AssignOccurrence(**named, responsible=("ines",)),
            MoveOccurrence(**named, new_start=now),
        )
        actions = [
            propose(
                conn,
                proposal(f"m{at}", effects=(each.frozen(),), extraction={}),
                household=home,
                now=now,
            ).action
            for at, each in enumerate(kinds)
        ]
        whole = propose(
            conn,
            proposal("whole", effects=(CancelEvent(event_id=found.id).frozen(),), extraction={}),
            household=home,
            now=now,
        ).action
    (there,) = [
        each.interval for each in expand(found, (override,), ages) if each.original_start == chosen
    ]
    over = midnight_after(found, there, home)
    assert all(each.expires_at >= max(now + LEAST, over) for each in actions)
    assert actions[0].expires_at == actions[1].expires_at == max(now + LEAST, over)
    assert whole.expires_at >= max(now + LEAST, over)


@given(found=events((None,)), home=homes, asked=moments, later=st.integers(1, 90))
def test_an_event_that_goes_to_another_day_waits_for_the_later_one(
    store: Engine, found: Event, home: Household, asked: datetime, later: int
) -> None:
    now = asked.replace(tzinfo=UTC)
    moved = replace(found, start=found.start + later * DAY)
    with undone(store) as [conn]:
        insert_event(conn, found)
        back = waiting(conn, home, now, UpdateEvent(event=moved))
    assert back.expires_at == max(now + LEAST, last_day_over(moved, (), home))


@given(
    home=homes,
    asked=moments,
    named=st.lists(st.dates(date(2026, 1, 1), date(2027, 1, 1)), max_size=4),
)
def test_what_a_message_names_counts_also_where_nothing_would_be_written_yet(
    store: Engine, home: Household, asked: datetime, named: list[date]
) -> None:
    now = asked.replace(tzinfo=UTC)
    with undone(store) as [conn]:
        action = waiting(conn, home, now, dates=tuple(named))
    ends = [
        datetime.combine(each + DAY, time(), tzinfo=home.zone).astimezone(UTC) for each in named
    ]
    assert action.expires_at == max([now + LEAST, *ends])


@given(home=homes, asked=moments, deadline=moments, is_all_day=st.booleans())
def test_a_task_waits_until_its_day_is_over(
    store: Engine, home: Household, asked: datetime, deadline: datetime, *, is_all_day: bool
) -> None:
    now, due = asked.replace(tzinfo=UTC), deadline.replace(tzinfo=home.zone)
    due = datetime.combine(due.date(), time(), tzinfo=home.zone) if is_all_day else due
    task = Task(
        id="t",
        household=home.id,
        title="Pay",
        tz=home.zone.key,
        place=Place(channel="web"),
        created_at=now,
        deadline=due,
        is_all_day=is_all_day,
    )
    with undone(store) as [conn]:
        action = waiting(conn, home, now, AddTask(task=task))
        undated = propose(
            conn,
            proposal(
                "undated",
                effects=(AddTask(task=replace(task, deadline=None)).frozen(),),
                extraction={},
            ),
            household=home,
            now=now,
        ).action
    day = due.astimezone(home.zone).date()
    over = datetime.combine(day + DAY, time(), tzinfo=home.zone).astimezone(UTC)
    assert action.expires_at == max(now + LEAST, over)
    assert undated.expires_at == now + LEAST


def test_what_an_earlier_version_left_with_two_days_gets_its_full_time_at_the_next_start(
    store: Engine,
) -> None:
    now = datetime(2026, 5, 1, 9, tzinfo=UTC)
    with undone(store) as [conn]:
        far = event("far", start=datetime(2026, 6, 20, 15, tzinfo=FAMILY.zone))
        action = waiting(conn, FAMILY, now, AddEvent(event=far))
        old = action.created_at + timedelta(hours=48)
        conn.execute(pending_actions.update().values(expires_at=old))
        assert extend_open(conn, FAMILY, now=now + timedelta(hours=47)) == 1
        assert load_action(conn, FAMILY.id, action.id).expires_at == action.expires_at
        assert extend_open(conn, FAMILY, now=now + timedelta(hours=47)) == 0
        # What is already over stays so: nobody could tell what happened in between.
        conn.execute(pending_actions.update().values(expires_at=old))
        assert extend_open(conn, FAMILY, now=old) == 0
        assert open_actions(conn, Viewer.whole(FAMILY.id), now=old) == []


def test_an_event_moved_after_it_was_asked_about_extends_the_question(store: Engine) -> None:
    now = datetime(2026, 5, 1, 9, tzinfo=UTC)
    judo = event("judo", start=datetime(2026, 5, 8, 16, tzinfo=FAMILY.zone))
    with undone(store) as [conn]:
        insert_event(conn, judo)
        asked = waiting(
            conn,
            FAMILY,
            now,
            AssignOccurrence(event_id=judo.id, original_start=judo.start, responsible=("omar",)),
        )
        event_changes.move_occurrence(
            conn,
            FAMILY.id,
            judo.id,
            judo.start,
            new_start=judo.start + 7 * DAY,
            new_duration=None,
            change_id="c1",
            at=now,
        )
        extend_open(conn, FAMILY, now=now)
        assert load_action(conn, FAMILY.id, asked.id).expires_at == asked.expires_at + 7 * DAY


def test_no_maker_of_a_proposal_says_how_long_it_waits() -> None:
    assert "expires_at" not in Proposal.__dataclass_fields__


@pytest.mark.parametrize("until", [None, timedelta(days=1), timedelta(days=40)])
def test_a_fact_waits_two_weeks_or_until_it_holds_no_more(
    store: Engine, until: timedelta | None
) -> None:
    now = datetime(2026, 3, 2, 9, tzinfo=UTC)
    said = Words(id="w", text="Nia cannot have nuts", said_at=now, origin=Origin.SAID)
    fact = RememberFact(
        words=said,
        sentences=(
            Sentence(
                start=0,
                end=len(said.text),
                category=Category.IDENTITY,
                type=StatementType.STATEMENT,
                title="nuts",
                narrative=said.text,
                confidence=0.8,
                valid_to=None if until is None else now + until,
            ),
        ),
    )
    with undone(store) as [conn]:
        action = waiting(conn, FAMILY, now, fact)
    if until is None:
        assert action.expires_at == now + timedelta(days=14)
    else:
        assert timedelta() < action.expires_at - max(now + LEAST, now + until) <= DAY or (
            action.expires_at == now + LEAST
        )
