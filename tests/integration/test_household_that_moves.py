"""A household that moves to another zone: whole days stay days, hours stay instants, series keep the wall time they began with."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection

from kinkeeper.actions.approvals import confirm
from kinkeeper.actions.effects.calendar import (
    AddEvent,
    AssignOccurrence,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.lifetime import keep_days_of_open
from kinkeeper.actions.model import Choice, Proposal
from kinkeeper.actions.proposals import propose
from kinkeeper.actions.receipts import Outcome
from kinkeeper.calendar.model import EventState, Override
from kinkeeper.calendar.occurrences import extend_horizon
from kinkeeper.calendar.repository import insert_event, list_events, list_overrides, put_override
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.calendar.seeds import keep_whole_days
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store
from pending_samples import FAMILY, PARENT, event, proposal
from pressed_cards import Cards

HOUSE, OLD = FAMILY.id, ZoneInfo("Europe/Berlin")
ZONES = [
    "America/New_York",
    "Asia/Tokyo",
    "Pacific/Auckland",
    "Australia/Lord_Howe",
    "UTC",
    "Europe/Berlin",
]
NOW = datetime(2026, 9, 1, tzinfo=UTC)
FIRST, LAST = date(2026, 9, 14), date(2026, 12, 3)
DAY, WEEK = timedelta(days=1), timedelta(days=7)
ALL_DAY = {"all_day": True, "tz": OLD.key, "duration": DAY}


def midnight(day: date, zone: ZoneInfo = OLD) -> datetime:
    return datetime.combine(day, time(), tzinfo=zone)


def planted(conn: Connection) -> None:
    """Plant events over a change of clocks: a day, a trip, bins each week but one moved and one cancelled, judo, a visit."""
    extend_horizon(conn, HOUSE, NOW)
    insert_event(conn, event("sports", start=midnight(FIRST), **ALL_DAY))
    trip = {**ALL_DAY, "duration": 3 * DAY}
    insert_event(conn, event("trip", start=midnight(date(2026, 10, 24)), **trip))
    bins = event("bins", start=midnight(FIRST), rrule="FREQ=WEEKLY", **ALL_DAY)
    insert_event(conn, bins)
    moved, gone = midnight(FIRST + 2 * WEEK), midnight(FIRST + 8 * WEEK)
    put_override(
        conn,
        HOUSE,
        Override(event_id=bins.id, original_start=moved, start=midnight(FIRST + 2 * WEEK + DAY)),
    )
    put_override(
        conn, HOUSE, Override(event_id=bins.id, original_start=gone, state=EventState.CANCELLED)
    )
    left_out = (midnight(FIRST + 3 * WEEK), midnight(FIRST + 9 * WEEK))
    paper = event("paper", start=midnight(FIRST), rrule="FREQ=WEEKLY", exdates=left_out, **ALL_DAY)
    insert_event(conn, paper)
    judo = datetime(2026, 9, 15, 16, tzinfo=OLD)
    insert_event(conn, event("judo", start=judo, tz=OLD.key, rrule="FREQ=WEEKLY"))
    insert_event(conn, event("visit", start=judo + DAY, tz=OLD.key))


def seen(conn: Connection) -> list[tuple[str, bool, datetime, datetime]]:
    span = Interval(NOW, midnight(LAST))
    found = occurrences_between(conn, Viewer.whole(HOUSE), span)
    return sorted(
        (each.event.summary, each.event.all_day, each.interval.start, each.interval.end)
        for each in found
        if each.state is EventState.CONFIRMED
    )


def days(conn: Connection, zone: ZoneInfo) -> list[tuple[str, date, date]]:
    return [
        (name, start.astimezone(zone).date(), end.astimezone(zone).date())
        for name, all_day, start, end in seen(conn)
        if all_day
    ]


def hours(conn: Connection) -> list[tuple[str, datetime]]:
    return [(name, start) for name, all_day, start, _ in seen(conn) if not all_day]


def settled(conn: Connection, zone: ZoneInfo) -> int:
    """Let the household live in a zone; return how many events that changes."""
    found = list_events(conn, Viewer.whole(HOUSE), include_cancelled=True)
    return len(keep_whole_days(conn, found, zone))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        opened.write_now(planted)
        yield opened


@pytest.mark.parametrize("name", ZONES)
def test_whole_days_stay_days_and_hours_stay_instants(store: Store, name: str) -> None:
    zone = ZoneInfo(name)
    before, instants = store.read_now(lambda conn: days(conn, OLD)), store.read_now(hours)
    assert len(before) > 10
    moved = store.write_now(lambda conn: settled(conn, zone))
    assert moved == (0 if zone == OLD else 4)
    assert store.read_now(lambda conn: days(conn, zone)) == before
    assert store.read_now(hours) == instants
    assert store.write_now(lambda conn: settled(conn, zone)) == 0
    starts = [start for _, is_whole, start, _ in store.read_now(seen) if is_whole]
    assert {start.astimezone(zone).time() for start in starts} == {time()}
    store.write_now(lambda conn: settled(conn, OLD))
    assert store.read_now(lambda conn: days(conn, OLD)) == before


def test_what_is_changed_for_one_day_stays_changed_for_that_day(store: Store) -> None:
    zone = ZoneInfo("America/New_York")
    store.write_now(lambda conn: settled(conn, zone))
    bins = event("bins").id
    found = store.read_now(lambda conn: list_overrides(conn, HOUSE, bins))
    assert {each.original_start.astimezone(zone).date() for each in found} == {
        FIRST + 2 * WEEK,
        FIRST + 8 * WEEK,
    }


def asked() -> list[Proposal]:
    """Return cards about whole days, and one about an hour: new, changed, one day of a series moved, cancelled, assigned."""
    bins, fair = event("bins").id, event("fair", start=midnight(date(2026, 10, 5)), **ALL_DAY)
    trip = event("trip", start=midnight(date(2026, 10, 24)), **{**ALL_DAY, "duration": 3 * DAY})
    later = replace(trip, start=midnight(date(2026, 10, 31)))
    fourth, fifth, sixth = (midnight(FIRST + number * WEEK) for number in (4, 5, 6))
    effects: list[Effect] = [
        AddEvent(event=fair),
        AddEvent(event=event("concert", start=datetime(2026, 10, 6, 20, tzinfo=OLD), tz=OLD.key)),
        UpdateEvent(event=later, based_on=trip),
        MoveOccurrence(event_id=bins, original_start=fourth, new_start=fourth + DAY),
        CancelOccurrence(event_id=bins, original_start=fifth),
        AssignOccurrence(event_id=bins, original_start=sixth, responsible=("omar",)),
    ]
    return [
        proposal(
            f"m{number}",
            effects=(each.frozen(),),
            choices=(Choice(label="One way", effects=(each.frozen(),), result=""),),
        )
        for number, each in enumerate(effects)
    ]


def confirmed(store: Store, zone: ZoneInfo) -> list[str]:
    """Ask, let the household live in a zone, say yes to everything; return what could not be done."""
    before, now = replace(FAMILY, zone=OLD), replace(FAMILY, zone=zone)

    def ask(conn: Connection) -> list[str]:
        return [propose(conn, each, household=before, now=NOW).action.id for each in asked()]

    def move(conn: Connection) -> int:
        kept = keep_days_of_open(conn, now, now=NOW)
        settled(conn, zone)
        return kept

    def say_yes(conn: Connection) -> list[str]:
        receipts = [confirm(conn, each, member=PARENT, household=now, now=NOW) for each in waiting]
        return [each.message for each in receipts if each.outcome is not Outcome.DONE]

    waiting = store.write_now(ask)
    assert store.write_now(move) == (0 if zone == OLD else len(waiting) - 1)
    assert store.write_now(lambda conn: keep_days_of_open(conn, now, now=NOW)) == 0
    return store.write_now(say_yes)


@pytest.mark.parametrize("name", ZONES)
def test_what_waits_is_done_on_the_days_that_were_shown(
    store: Store, tmp_path: Path, name: str
) -> None:
    zone = ZoneInfo(name)
    with Store.open(str(tmp_path / "unmoved.db")) as unmoved:
        unmoved.write_now(planted)
        assert confirmed(unmoved, OLD) == []
        expected, instants = unmoved.read_now(lambda conn: days(conn, OLD)), unmoved.read_now(hours)
    assert confirmed(store, zone) == []
    assert store.read_now(lambda conn: days(conn, zone)) == expected
    assert store.read_now(hours) == instants


def test_the_buttons_of_what_waits_stay_good(store: Store) -> None:
    cards, zone = Cards(store), ZoneInfo("America/New_York")
    fair = event("fair", start=midnight(date(2026, 10, 5)), **ALL_DAY)
    cards.ask(proposal(effects=(AddEvent(event=fair).frozen(),)))
    moved = replace(FAMILY, zone=zone)
    store.write_now(lambda conn: keep_days_of_open(conn, moved, now=cards.clock.now()))
    assert cards.press(cards.shown("Confirm")).is_change
    assert ("Tara fair", date(2026, 10, 5), date(2026, 10, 6)) in store.read_now(
        lambda conn: days(conn, zone)
    )
