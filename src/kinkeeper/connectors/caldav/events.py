"""Events of the graph as things kept in step with a calendar server."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.actions.effects.calendar import (
    AddEvent,
    CancelEvent,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
    event_to_json,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import ActionType
from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.calendar.model import Event, EventState, Override
from kinkeeper.calendar.recurrence import produces
from kinkeeper.calendar.repository import list_all_overrides, list_events
from kinkeeper.connectors.caldav import objects
from kinkeeper.connectors.caldav.objects import Entry
from kinkeeper.connectors.caldav.sync_records import ids_from_there
from kinkeeper.core.time import as_utc
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer
from kinkeeper.reading.times import time_text


@dataclass(frozen=True, slots=True)
class Events:
    """The events of one household."""

    household: Household
    component = "VEVENT"
    noun = "event"
    adding = ActionType.EVENT_CREATE
    changing = ActionType.SCHEDULE_CHANGE

    def load(self, conn: Connection) -> Mapping[str, Entry]:
        """Return all of ours by id, cancelled ones too; what is private is taken nowhere, unless it came from there."""
        theirs = ids_from_there(conn, self.household.id)
        overrides = list_all_overrides(conn, self.household.id)
        return {
            event.id: Entry(event=event, overrides=tuple(overrides.get(event.id, ())))
            for event in list_events(conn, Viewer.whole(self.household.id), include_cancelled=True)
            if event.scope == HOUSEHOLD_SCOPE or event.id in theirs
        }

    def write(self, thing: Entry, *, over: bytes | None) -> bytes:
        """Return one of ours as an object; what stands in `over` and is theirs alone is kept."""
        return objects.written(
            thing, name=self.household.title, places=self.household.place_names, over=over
        )

    def read(self, data: bytes) -> Entry:
        """Return what an object stands for.

        Raises:
            InputError: It holds no event, or several, that can be taken over.
        """
        return objects.read(data, self.household)

    def count(self, thing: Entry, limit: ImportLimit) -> int:
        """Count it; returns how many rows of occurrences it takes.

        Raises:
            InputError: With it there is too much.
        """
        limit.add(thing.event, "event")
        return limit.occurrences[thing.event.id]

    def to_add(self, thing: Entry) -> list[Effect]:
        """Return what takes it in, with what is changed of single occurrences."""
        event = thing.event
        add = AddEvent.model_validate({"event": event_to_json(event)})
        return [add, *(e for each in thing.overrides for e in _to_override(event, each))]

    def to_change(self, thing: Entry, ours: Entry) -> list[Effect]:
        """Return what makes ours like it."""
        if thing.event.rrule is None and ours.event.rrule is None:
            return list(_to_change_single(thing.event, ours))
        return list(_to_change_series(thing, ours))

    def to_cancel(self, ours: Entry) -> list[Effect]:
        """Return what lets ours take place no more."""
        return [CancelEvent.model_validate({"event_id": ours.event.id})]

    def line(self, thing: Entry) -> str:
        """Return it in one line: "Dentist, Thu 12 Nov 16:30"."""
        event = thing.event
        change = thing.overrides[0] if event.rrule is None and thing.overrides else None
        start = change.start if change is not None and change.start is not None else event.start
        local = start.astimezone(ZoneInfo(event.tz))
        repeats = "from " if event.rrule is not None else ""
        locale = self.household.locale
        when = time_text.day_with_weekday(local.date(), locale)
        when += "" if event.all_day else f" {time_text.clock(local.time(), locale)}"
        return f"{event.summary}, {repeats}{when}"


def _to_change_single(theirs: Event, ours: Entry) -> Iterator[Effect]:
    """Yield effects on a single event: its time alone is a move, as people know it."""
    known = ours.event
    change = ours.overrides[0] if ours.overrides else Override(
        event_id=known.id, original_start=as_utc(known.start)
    )  # fmt: skip
    if theirs.all_day != known.all_day or theirs.state is not known.state:
        yield _update(theirs, known)
        return
    still = replace(theirs, start=known.start, duration=known.duration)
    if still != known:
        yield _update(still, known)
    start = known.start if change.start is None else change.start
    duration = known.duration if change.duration is None else change.duration
    is_back = change.state is EventState.CANCELLED
    if is_back or as_utc(theirs.start) != as_utc(start) or theirs.duration != duration:
        yield _move(known, as_utc(known.start), theirs.start, theirs)


def _to_change_series(thing: Entry, ours: Entry) -> Iterator[Effect]:
    theirs, known = thing.event, ours.event
    if Entry(event=theirs).shared() != Entry(event=known).shared():
        yield _update(theirs, known)
    before = {each.original_start: each for each in ours.overrides}
    after = {as_utc(each.original_start): each for each in thing.overrides}
    for start, change in after.items():
        if _moment(theirs, change) != _moment(known, before.get(start)):
            yield from _to_override(theirs, change)
    for start, change in before.items():
        is_other = _moment(theirs, None) != _moment(known, change)
        if start not in after and is_other and produces(theirs, start):
            yield _move(theirs, start, start, theirs)


def _to_override(event: Event, change: Override) -> Iterator[Effect]:
    if change.state is EventState.CANCELLED:
        yield CancelOccurrence.model_validate(
            {"event_id": event.id, "original_start": change.original_start}
        )
    elif change.start is not None or change.duration is not None:
        length = event.duration if change.duration is None else change.duration
        moved = replace(event, duration=length)
        yield _move(event, change.original_start, change.start or change.original_start, moved)


def _update(event: Event, known: Event) -> Effect:
    return UpdateEvent.model_validate(
        {"event": event_to_json(event), "based_on": event_to_json(known)}
    )


def _move(event: Event, original: datetime, start: datetime, like: Event) -> Effect:
    is_own_length = like.duration == event.duration
    return MoveOccurrence.model_validate(
        {
            "event_id": event.id,
            "original_start": original,
            "new_start": start,
            "new_duration": None if is_own_length else like.duration,
        }
    )


def _moment(event: Event, change: Override | None) -> tuple[Any, ...]:
    """Return what is changed of one occurrence's time, as far as it differs from the rule."""
    if change is None:
        return (None, event.duration, None)
    duration = event.duration if change.duration is None else change.duration
    start = None if change.start == change.original_start else change.start
    return (start, duration, change.state)
