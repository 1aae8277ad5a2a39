"""Whatever goes out as iCalendar and comes back, nobody sees more of it than before."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from kinkeeper.actions.calendar_import import Import
from kinkeeper.actions.event_files import read_events
from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.calendar.event_rows import event_row
from kinkeeper.calendar.ics import export_ics
from kinkeeper.calendar.model import Event, EventKind, Override, Provenance, SourceType
from kinkeeper.calendar.occurrences import extend_horizon
from kinkeeper.calendar.repository import (
    insert_event,
    list_all_overrides,
    list_events,
    put_override,
)
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    Viewer,
    is_hidden_from,
    person_scope,
    surprise_scope,
    viewer_for,
)
from kinkeeper.store.store import RehearsedError, Store, rehearsed

ZONE = ZoneInfo("Pacific/Auckland")
NOW = datetime(2026, 5, 4, 8, tzinfo=UTC)
MEMBERS = ("rua", "tane", "mere", "wiremu")
ADULTS = MEMBERS[:2]
ROLES = (Role.PARENT, Role.PARENT, Role.CHILD, Role.OTHER)
FAMILY = Household(
    id="h",
    zone=ZONE,
    locale="en-NZ",
    bot_name="Bot",
    owner="rua",
    members=tuple(
        Member(id=each, name=each.title(), role=role)
        for each, role in zip(MEMBERS, ROLES, strict=True)
    ),
)
CLASSES = (
    "",
    "CLASS:PUBLIC",
    "CLASS:PRIVATE",
    "CLASS:CONFIDENTIAL",
    "CLASS:X-ELSE",
    "class:private",
)

SCOPES = (
    HOUSEHOLD_SCOPE,
    *map(person_scope, MEMBERS),
    *(
        surprise_scope(hidden)
        for count in range(1, len(MEMBERS))
        for hidden in combinations(MEMBERS, count)
        if not {*ADULTS} <= {*hidden}
    ),
)

Rows = dict[str, dict[str, Any]]


@st.composite
def calendars(draw: st.DrawFn) -> list[tuple[Event, list[Override]]]:
    """Return events of every audience, source and shape, with changed occurrences."""
    found = []
    for number in range(draw(st.integers(1, 6))):
        scope = draw(st.sampled_from(SCOPES))
        start = (NOW + timedelta(hours=draw(st.integers(-48, 400)))).astimezone(ZONE)
        start = start.replace(minute=0, second=0, microsecond=0)
        rrule = draw(st.sampled_from([None, "FREQ=DAILY;COUNT=4", "FREQ=WEEKLY"]))
        source = draw(st.sampled_from([SourceType.ICS, SourceType.CHAT, SourceType.CLI]))
        event = Event(
            id=f"e{number}",
            household="h",
            kind=draw(st.sampled_from(EventKind)),
            scope=scope,
            summary=f"secret{number} {scope}",
            start=start,
            duration=timedelta(hours=1),
            tz=ZONE.key,
            who=tuple(draw(st.lists(st.sampled_from(MEMBERS), max_size=2, unique=True))),
            rrule=rrule,
            about=draw(st.sampled_from([None, "e0"])),
            provenance=Provenance(source_type=source, source_id=f"uid{number}@elsewhere"),
        )
        moved = Override(event_id=event.id, original_start=start, start=start + timedelta(hours=2))
        found.append((event, [moved] if rrule and draw(st.booleans()) else []))
    return found


def plant(conn: Connection, calendar: list[tuple[Event, list[Override]]]) -> None:
    extend_horizon(conn, "h", NOW)
    for event, overrides in calendar:
        insert_event(conn, event)
        for override in overrides:
            put_override(conn, "h", override)


def rows(conn: Connection) -> Rows:
    events = list_events(conn, Viewer.whole("h"), include_cancelled=True)
    return {event.id: event_row(event) for event in events}


def seen(conn: Connection) -> Mapping[str, set[str]]:
    """Return what each member sees, by member id."""
    return {
        each.id: {e.summary for e in list_events(conn, viewer_for(FAMILY, each, now=NOW))}
        for each in FAMILY.members
    }


def exported(conn: Connection, viewer: Viewer) -> bytes:
    return export_ics(list_events(conn, viewer), list_all_overrides(conn, "h"), name="x", places={})


def imported(
    conn: Connection, data: bytes, by: str, *, is_operator: bool = False
) -> list[dict[str, Any]]:
    """Import a file as the page or (operator) the command line does; returns the report."""
    member = FAMILY.member(by)
    assert member is not None
    found = read_events(data.splitlines(keepends=True), FAMILY, ImportLimit(NOW))
    found.leave_out_hidden(FAMILY, member, is_operator=is_operator)
    work = Import(
        id=f"import {by} {hash(data)}",
        household=FAMILY,
        member=member,
        now=NOW,
        name="a file",
        found=found,
        is_operator=is_operator,
    )
    for step in work.steps():
        found.report(work.write(conn, step).lines)
    return found.lines


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(str(tmp_path_factory.mktemp("audience") / "family.sqlite")) as opened:
        yield opened


def undone(store: Store, steps: Callable[[Connection], Any]) -> Any:
    """Run steps in a transaction that is always undone; return what they return."""
    try:
        store.write_now(rehearsed(steps))
    except RehearsedError as ended:
        return ended.result
    raise AssertionError


def without_class(data: bytes, instead: str, *, drops_own: bool = True) -> bytes:
    """Return a file as another program hands it on: without our own lines, or with them, every CLASS as it likes."""
    dropped = rb"CLASS|X-KINKEEPER-" if drops_own else rb"CLASS"
    text = re.sub(rb"(?m)^(" + dropped + rb")[^\r\n]*\r\n", b"", data)
    line = f"{instead}\r\nEND:VEVENT".encode() if instead else b"END:VEVENT"
    return text.replace(b"END:VEVENT", line)


@settings(max_examples=30, deadline=None)
@given(calendar=calendars(), data=st.data())
def test_round_trips_keep_every_audience(
    store: Store, calendar: list[tuple[Event, list[Override]]], data: st.DataObject
) -> None:
    by = data.draw(st.sampled_from(ADULTS))

    def here(conn: Connection) -> tuple[bytes, Mapping[str, set[str]], Rows]:
        plant(conn, calendar)
        before, whole = rows(conn), exported(conn, Viewer.whole("h"))
        told = imported(conn, whole, by, is_operator=True)
        assert {line["status"] for line in told} == {"unchanged"}
        told = imported(conn, exported(conn, Viewer.of("h", by)), by)
        assert {line["status"] for line in told} <= {"unchanged"}
        assert rows(conn) == before
        return whole, seen(conn), before

    def moved_house(conn: Connection) -> None:
        extend_horizon(conn, "h", NOW)
        imported(conn, whole, by, is_operator=True)
        assert seen(conn) == saw
        now, was = rows(conn).values(), before.values()
        assert {(e["summary"], e["scope"]) for e in now} == {
            (e["summary"], e["scope"]) for e in was
        }

    whole, saw, before = undone(store, here)
    undone(store, moved_house)


@settings(max_examples=40, deadline=None)
@given(calendar=calendars(), data=st.data())
def test_no_file_changes_who_sees_what_is_there(
    store: Store, calendar: list[tuple[Event, list[Override]]], data: st.DataObject
) -> None:
    by, line = data.draw(st.sampled_from(ADULTS)), data.draw(st.sampled_from(CLASSES))

    def steps(conn: Connection) -> None:
        plant(conn, calendar)
        before = rows(conn)
        # The importer has a copy of everything, whoever it was private to.
        data = without_class(exported(conn, Viewer.whole("h")), line)
        imported(conn, data, by)
        after = rows(conn)
        for event_id, row in before.items():
            assert after[event_id]["scope"] == row["scope"], (
                "shown to more, or taken from the others"
            )
            if is_hidden_from(row["scope"], by):
                assert after[event_id] == row
        new = [row["scope"] for event_id, row in after.items() if event_id not in before]
        is_private = line.upper() not in {"", "CLASS:PUBLIC"}
        assert set(new) <= {person_scope(by) if is_private else HOUSEHOLD_SCOPE}
        imported(conn, data, by)
        assert rows(conn) == after

    undone(store, steps)


@settings(max_examples=40, deadline=None)
@given(calendar=calendars(), data=st.data())
def test_whom_a_file_names_counts_whatever_its_class_says(
    store: Store, calendar: list[tuple[Event, list[Override]]], data: st.DataObject
) -> None:
    by, line = data.draw(st.sampled_from(ADULTS)), data.draw(st.sampled_from(CLASSES))

    def here(conn: Connection) -> tuple[bytes, Mapping[str, set[str]], Rows]:
        plant(conn, calendar)
        file = without_class(exported(conn, Viewer.whole("h")), line, drops_own=False)
        return file, seen(conn), rows(conn)

    def elsewhere(conn: Connection, *, is_operator: bool) -> tuple[Mapping[str, set[str]], Rows]:
        extend_horizon(conn, "h", NOW)
        imported(conn, file, by, is_operator=is_operator)
        return seen(conn), rows(conn)

    file, saw, before = undone(store, here)
    for is_operator in (False, True):
        sees, after = undone(store, lambda conn, o=is_operator: elsewhere(conn, is_operator=o))
        for member in MEMBERS:
            assert sees[member] <= saw[member]
        wanted = {
            (row["summary"], row["scope"])
            for row in before.values()
            if row["scope"] != HOUSEHOLD_SCOPE
            and (is_operator or not is_hidden_from(row["scope"], by))
        }
        found = {(row["summary"], row["scope"]) for row in after.values()}
        assert wanted <= found


@settings(max_examples=30, deadline=None)
@given(calendar=calendars(), data=st.data())
def test_another_s_private_event_answers_as_an_unknown_one(
    store: Store, calendar: list[tuple[Event, list[Override]]], data: st.DataObject
) -> None:
    by, line = data.draw(st.sampled_from(ADULTS)), data.draw(st.sampled_from(CLASSES))
    hidden = [each for each in calendar if is_hidden_from(each[0].scope, by)]
    file = without_class(
        export_ics([e for e, _ in hidden], {e.id: o for e, o in hidden}, name="x", places={}), line
    )

    def there(conn: Connection) -> list[dict[str, Any]]:
        plant(conn, calendar)
        return imported(conn, file, by)

    def nowhere(conn: Connection) -> list[dict[str, Any]]:
        extend_horizon(conn, "h", NOW)
        return imported(conn, file, by)

    assert undone(store, there) == undone(store, nowhere)


@pytest.mark.parametrize("kind", CLASSES)
def test_a_surprise_keeps_its_audience_when_it_comes_back(store: Store, kind: str) -> None:
    scope = surprise_scope(["mere"])
    event = Event(
        id="e0",
        household="h",
        kind=EventKind.BOOKING,
        scope=scope,
        summary="party",
        start=NOW,
        duration=timedelta(hours=1),
        tz=ZONE.key,
        who=("mere",),
        provenance=Provenance(source_type=SourceType.CHAT, source_id="said"),
    )

    def story(conn: Connection) -> Rows:
        plant(conn, [(event, [])])
        data = without_class(exported(conn, Viewer.of("h", "rua")), kind)
        imported(conn, data.replace(b"SUMMARY:party", b"SUMMARY:big party"), "rua")
        return rows(conn)

    after = undone(store, story)
    assert [(row["summary"], row["scope"]) for row in after.values()] == [("big party", scope)]


@pytest.mark.parametrize(
    "names",
    [
        "X-KINKEEPER-HIDDEN-FROM:rua\r\nX-KINKEEPER-PRIVATE-TO:rua",
        "X-KINKEEPER-PRIVATE-TO:tane\r\nX-KINKEEPER-PRIVATE-TO:rua",
        "X-KINKEEPER-HIDDEN-FROM:rua\r\nX-KINKEEPER-HIDDEN-FROM:nobody known",
        "X-KINKEEPER-HIDDEN-FROM:tane\r\nX-KINKEEPER-HIDDEN-FROM:rua",
    ],
)
@pytest.mark.parametrize("is_operator", [False, True])
def test_what_nobody_may_see_stays_out(store: Store, names: str, is_operator: bool) -> None:
    file = (
        f"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:u\r\nSUMMARY:party\r\nDTSTART:20260506T100000Z\r\n{names}\r\n"
        "END:VEVENT\r\nEND:VCALENDAR\r\n"
    ).encode()

    def story(conn: Connection) -> tuple[list[dict[str, Any]], Rows]:
        extend_horizon(conn, "h", NOW)
        return imported(conn, file, "rua", is_operator=is_operator), rows(conn)

    (line,), kept = undone(store, story)
    assert line["error"]
    assert not kept


@pytest.mark.parametrize("name", ["PRIVATE-TO", "HIDDEN-FROM"])
def test_a_name_that_nobody_here_has_makes_an_event_the_importer_s(store: Store, name: str) -> None:
    file = (
        f"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:u\r\nSUMMARY:party\r\nDTSTART:20260506T100000Z\r\nX-KINKEEPER-{name}:zoe\r\n"
        "END:VEVENT\r\nEND:VCALENDAR\r\n"
    ).encode()

    def story(conn: Connection) -> Rows:
        extend_horizon(conn, "h", NOW)
        imported(conn, file, "rua")
        return rows(conn)

    assert [row["scope"] for row in undone(store, story).values()] == [person_scope("rua")]
