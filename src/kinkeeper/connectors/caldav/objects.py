"""An event of the graph as an object of a calendar server, and back. Pure.

What is compared is what both sides have words for: title, time, rule, place, what is cancelled or moved.
Who takes part and who is in charge stays ours; reminders, notes and guests stay theirs.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Calendar, Component

from kinkeeper.calendar.event_rows import event_row, override_row
from kinkeeper.calendar.ics import export_ics, import_ics
from kinkeeper.calendar.ics_class import set_class
from kinkeeper.calendar.ics_component import event_id_of, merged
from kinkeeper.calendar.model import Event, EventState, Override, SourceType
from kinkeeper.calendar.recurrence import local_start, parse_rule, produces
from kinkeeper.core import ids
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import as_utc, to_text
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_scope

_ACTION = "X-KINKEEPER-ACTION"
_OWN = "X-KINKEEPER-"
_NAME = "X-WR-CALNAME"
# Everything else of an object on the server is kept as it stands there.
_OURS = frozenset(
    {
        "UID",
        "DTSTAMP",
        "SUMMARY",
        "DTSTART",
        "DTEND",
        "DURATION",
        "RRULE",
        "EXDATE",
        "LOCATION",
        "STATUS",
        "RECURRENCE-ID",
        "SEQUENCE",
    }
)
_SAID_ANYWAY = frozenset({("INTERVAL", "1"), ("WKST", "MO")})
_KEEPS = timedelta(days=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An event with what is changed for single occurrences of it."""

    event: Event
    overrides: tuple[Override, ...] = ()

    @property
    def id(self) -> str:
        """Of the event."""
        return self.event.id

    @property
    def foreign_id(self) -> str:
        """Id that the event would have if it came from the server now."""
        source = self.event.provenance
        is_foreign = source.source_type is SourceType.ICS
        return event_id_of(self.event.household, source.source_id) if is_foreign else self.event.id

    @property
    def title(self) -> str:
        """Of the event."""
        return self.event.summary

    @property
    def scope(self) -> str:
        """Of the event."""
        return self.event.scope

    @property
    def is_cancelled(self) -> bool:
        """Whether it takes place no more."""
        return self.event.state is EventState.CANCELLED

    def fingerprint(self) -> str:
        """Return a digest of all that is stored of it, except why it is there."""
        row = event_row(self.event)
        for name in ("source_type", "source_id", "confirmed_by", "action_id"):
            del row[name]
        overrides = [override_row(each) for each in self.overrides]
        return ids.payload_hash({"event": row, "overrides": overrides})

    def shared(self) -> str:
        """Return a digest of what both sides have words for; equal where they agree."""
        return ids.payload_hash(_shared(self.event, self.overrides))

    def is_over(self, now: datetime) -> bool:
        """Whether it has been over for so long that it is no longer taken to the other side."""
        if self.event.rrule is None:
            last = max(
                [as_utc(self.event.start), *(as_utc(o.start) for o in self.overrides if o.start)]
            )
            return last + self.event.duration + _KEEPS < now
        last_start = parse_rule(self.event.rrule).last_instant(ZoneInfo(self.event.tz))
        return last_start is not None and last_start + self.event.duration + _KEEPS < now

    def completed(self, ours: "Entry") -> "Entry":
        """Return this, as read from the server, with what only we know of it.

        Args:
            ours: As it stands in the graph.
        """
        event, known = self.event, ours.event
        is_rewritten = event.rrule is not None or event.all_day != known.all_day
        return Entry(
            event=replace(
                known,
                summary=event.summary,
                place=event.place,
                start=event.start,
                duration=event.duration,
                all_day=event.all_day,
                state=event.state,
                tz=event.tz if is_rewritten else known.tz,
                rrule=event.rrule,
                exdates=event.exdates,
                scope=event.scope if known.scope == HOUSEHOLD_SCOPE else known.scope,
            ),
            overrides=tuple(replace(each, event_id=known.id) for each in self.overrides),
        )


def written(
    entry: Entry, *, name: str, places: Mapping[str, str], over: bytes | None = None
) -> bytes:
    """Return an entry as an object for the server.

    Args:
        over: What stands there and is to be replaced; what is theirs alone is kept.
    """
    event = entry.event
    calendar = parsed(export_ics([event], {event.id: entry.overrides}, name=name, places=places))
    calendar.pop(_NAME, None)
    for component in calendar.walk("VEVENT"):
        if event.provenance.action_id is not None:
            component.add(_ACTION, event.provenance.action_id)
    if over is not None:
        _keep_all_theirs(calendar, parsed(over), event.scope)
    return bytes(calendar.to_ical())


def read(data: bytes, household: Household) -> Entry:
    """Return the entry that an object of the server stands for.

    Args:
        household: Whose; times without a timezone are meant in its own.

    Raises:
        InputError: It holds no event, or several, that can be taken over; the message says why.
    """
    found = import_ics(data, household.id, household.zone, places=household.place_names)
    if len(found.events) != 1:
        reason = (
            found.problems[0].message if found.problems else "it does not contain exactly one event"
        )
        raise InputError(reason)
    event = found.events[0]
    scope = scope_there(household, is_private=event.id in found.private)
    event = replace(event, scope=scope)
    overrides = sorted(found.overrides, key=lambda each: each.original_start)
    return Entry(event=event, overrides=tuple(overrides))


def scope_there(household: Household, *, is_private: bool) -> str:
    """Return who may see what the server has: what is private there belongs to the owner, whose account it is.

    Raises:
        InputError: It is private there, and the household has no owner.
    """
    if not is_private:
        return HOUSEHOLD_SCOPE
    if household.owner is None:
        raise InputError(
            "it is private on the server, and the household has no owner to whom it could belong"
        )
    return person_scope(household.owner)


def _shared(event: Event, overrides: Sequence[Override]) -> dict[str, Any]:
    changes = [each for each in overrides if produces(event, each.original_start)]
    if event.rrule is None:
        return _single(event, changes[0] if changes else None)
    rule = parse_rule(event.rrule)
    last = rule.last_instant(ZoneInfo(event.tz))
    moved = [
        [to_text(each.original_start), *_moment(event, each)]
        for each in changes
        if _moment(event, each)
        != _moment(event, Override(event_id="", original_start=each.original_start))
    ]
    return _basics(event) | {
        "start": local_start(event).replace(tzinfo=None).isoformat(),
        "zone": event.tz,
        "duration": event.duration.total_seconds(),
        "rule": sorted(f"{part}={value}" for part, value in rule.parts.items() - _SAID_ANYWAY),
        "until": _until(event, last),
        "left_out": sorted(to_text(start) for start in event.exdates),
        "moved": sorted(moved),
    }


def _single(event: Event, change: Override | None) -> dict[str, Any]:
    one = event if change is None else merged(event, change)
    return _basics(one) | {"start": to_text(one.start), "duration": one.duration.total_seconds()}


def _until(event: Event, last: datetime | None) -> str | None:
    if last is None:
        return None
    # The days of an all-day event have no hours that could differ.
    return str(last.astimezone(ZoneInfo(event.tz)).date()) if event.all_day else to_text(last)


def _moment(event: Event, change: Override) -> tuple[str, str, float]:
    """Return whether, when and how long one occurrence takes place."""
    is_cancelled = EventState.CANCELLED in {event.state, change.state}
    start = change.original_start if change.start is None else change.start
    duration = event.duration if change.duration is None else change.duration
    state = EventState.CANCELLED if is_cancelled else EventState.CONFIRMED
    return state.value, to_text(start), duration.total_seconds()


def _basics(event: Event) -> dict[str, Any]:
    return {
        "summary": " ".join(event.summary.split()),
        "place": " ".join((event.place or "").split()),
        "all_day": event.all_day,
        "state": event.state.value,
        "private": event.scope != HOUSEHOLD_SCOPE,
    }


def parsed(data: bytes) -> Calendar:
    """Return a calendar object as the library knows it."""
    try:
        calendar = Calendar.from_ical(data)
    except ValueError as error:
        raise InputError(f"it is not a calendar object ({error})") from error
    if not isinstance(calendar, Calendar):
        raise InputError("it is not a calendar object")
    return calendar


def _keep_all_theirs(calendar: Calendar, known: Calendar, scope: str) -> None:
    """Put into our object what stands in theirs and is no business of ours."""
    theirs = {_key(component): component for component in known.walk("VEVENT")}
    for component in calendar.walk("VEVENT"):
        match = theirs.pop(_key(component), None)
        if match is not None:
            keep_theirs(component, match, ours=_OURS)
            set_class(component, scope, match)
    for key, component in theirs.items():
        # An occurrence that differs in nothing we hold (a note, a reminder) stays as it is.
        if key is not None and _takes_place_by_rule(component):
            calendar.add_component(component)
    zones = {str(each.get("TZID")) for each in calendar.walk("VTIMEZONE")}
    for component in known.subcomponents:
        if component.name == "VTIMEZONE" and str(component.get("TZID")) not in zones:
            calendar.add_component(component)


def keep_theirs(component: Component, match: Component, *, ours: Collection[str]) -> None:
    """Put into a component of ours what stands in theirs and is no business of ours.

    Args:
        match: The same thing as it stands on the server.
        ours: Names of properties that are written as we have them.
    """
    for name, value in match.items():
        if name not in ours and not name.startswith(_OWN):
            component[name] = value
    component.subcomponents.extend(match.subcomponents)
    sequence = match.get("SEQUENCE")
    component["SEQUENCE"] = int(sequence) + 1 if isinstance(sequence, int) else 1


def _takes_place_by_rule(component: Component) -> bool:
    start, original = component.get("DTSTART"), component.get("RECURRENCE-ID")
    is_cancelled = str(component.get("STATUS", "")).upper() == EventState.CANCELLED.value.upper()
    return not is_cancelled and start is not None and start.dt == original.dt


def _key(component: Component) -> Any:
    """Return which occurrence a component is about; None for the whole event."""
    written_as = component.get("RECURRENCE-ID")
    if written_as is None:
        return None
    moment = written_as.dt
    return as_utc(moment) if isinstance(moment, datetime) and moment.tzinfo else moment
