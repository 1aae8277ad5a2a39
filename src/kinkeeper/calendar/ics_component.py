"""One VEVENT and the event or override it stands for, in both directions. Pure.

What iCalendar has no word for is kept in properties of our own (`X-KINKEEPER-…`). Where an event
came from is never read from a file: whoever writes a file could claim anything.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Event as Component
from icalendar import vDDDLists, vDDDTypes, vRecur
from icalendar.parser import unescape_char

from kinkeeper.calendar.event_limits import check_duration, check_event, check_start
from kinkeeper.calendar.ics_class import Privacy, privacy_of, set_class
from kinkeeper.calendar.model import (
    UNTITLED,
    Event,
    EventKind,
    EventState,
    Override,
    Provenance,
    SourceType,
)
from kinkeeper.calendar.recurrence import local_start, parse_rule
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import as_utc

_OWN = "X-KINKEEPER-"
_OWN_DOMAIN = "@kinkeeper"
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one component says.

    Attributes:
        event: The event; of a component for one occurrence, that occurrence as if it stood alone.
        uid: UID as written, or one made of the content.
        recurrence_id: Aware start of the one occurrence it is about; None for a whole event.
        notes: What could not be taken over.
        privacy: Who may see it, where that is not everybody.
        description: What else it tells; empty where it tells nothing. It is not kept.
    """

    event: Event
    uid: str
    recurrence_id: datetime | None
    notes: tuple[str, ...]
    privacy: Privacy | None = None
    description: str = ""


def component_of(event: Event) -> Component:
    """Return the component of a whole event."""
    component = _component(event, local_start(event), event.duration)
    if event.rrule is not None:
        component.add("rrule", vRecur.from_ical(_exported_rule(event)))
    for start in event.exdates:
        component.add("exdate", _written(event, start))
    return component


def component_of_override(event: Event, override: Override) -> Component:
    """Return the component that tells what was changed for one occurrence alone."""
    changed = merged(event, override)
    component = _component(changed, local_start(changed), changed.duration)
    component.add("recurrence-id", _written(event, override.original_start))
    return component


def merged(event: Event, override: Override) -> Event:
    """Return one occurrence, changed as an override says, as if it stood alone."""
    start = override.original_start if override.start is None else override.start
    is_cancelled = EventState.CANCELLED in {event.state, override.state}
    return replace(
        event,
        start=start.astimezone(ZoneInfo(event.tz)),
        duration=event.duration if override.duration is None else override.duration,
        state=EventState.CANCELLED if is_cancelled else EventState.CONFIRMED,
        responsible=event.responsible if override.responsible is None else override.responsible,
        place=event.place if override.place is None else override.place,
        rrule=None,
        exdates=(),
    )


def read_component(component: Component, household: str, zone: ZoneInfo) -> Reading:
    """Return what a component says.

    Args:
        household: Tenant key of the event.
        zone: Where floating times and dates are meant.

    Raises:
        InputError: It cannot be an event; the message says why.
    """
    notes = [f"{name or 'a line'} is broken and was left out" for name, _ in component.errors]
    if "RDATE" in component:
        notes.append("additional dates (RDATE) are not imported")
    start = _zoned(component, "DTSTART", zone, notes)
    check_start("DTSTART", start)
    all_day = not isinstance(_moment(component, "DTSTART"), datetime)
    duration = _duration(component, start, all_day=all_day)
    summary = _text(component, "SUMMARY") or UNTITLED
    uid = _text(component, "UID") or stable_id(start.isoformat(), summary)
    event = Event(
        id=event_id_of(household, uid),
        household=household,
        kind=_kind(component, duration, all_day=all_day),
        summary=summary,
        activity=_text(component, f"{_OWN}ACTIVITY"),
        task=_text(component, f"{_OWN}TASK"),
        who=_texts(component, f"{_OWN}WHO"),
        responsible=_texts(component, f"{_OWN}RESPONSIBLE"),
        place=_text(component, "LOCATION"),
        start=start,
        duration=duration,
        all_day=all_day,
        tz=start.tzinfo.key if isinstance(start.tzinfo, ZoneInfo) else zone.key,
        rrule=_rule(component),
        exdates=tuple(_exdates(component, start)),
        state=_state(component),
        about=_text(component, f"{_OWN}ABOUT"),
        provenance=Provenance(source_type=SourceType.ICS, source_id=uid),
    )
    check_event(event)
    recurrence_id = _recurrence_id(component, zone, notes)
    return Reading(
        event=event,
        uid=uid,
        recurrence_id=recurrence_id,
        notes=tuple(notes),
        privacy=privacy_of(component),
        description=_text(component, "DESCRIPTION") or "",
    )


def override_from(series: Event, one: Reading, original_start: datetime) -> Override | None:
    """Return how one occurrence differs from its series; None where it does not.

    Args:
        one: What the component of the occurrence says.
        original_start: Aware start that the series gives.
    """
    start, event = as_utc(original_start), one.event
    override = Override(
        event_id=series.id,
        original_start=start,
        start=None if as_utc(event.start) == start else as_utc(event.start),
        duration=None if event.duration == series.duration else event.duration,
        state=EventState.CANCELLED if event.state is EventState.CANCELLED else None,
        responsible=None if event.responsible == series.responsible else event.responsible,
        place=None if event.place == series.place else event.place,
    )
    return None if override == Override(event_id=series.id, original_start=start) else override


def _component(event: Event, start: datetime, duration: timedelta) -> Component:
    component = Component()
    is_foreign = event.provenance.source_type is SourceType.ICS
    component.add("uid", event.provenance.source_id if is_foreign else f"{event.id}{_OWN_DOMAIN}")
    # The time of the export is left out, so that an unchanged calendar gives the same bytes.
    component.add("dtstamp", as_utc(event.start))
    component.add("summary", event.summary)
    component.add("dtstart", _written(event, start))
    _add_end(component, event, start, duration)
    if event.place is not None:
        component.add("location", event.place)
    component.add("status", event.state.value.upper())
    is_background = event.all_day or event.kind in {EventKind.BREAK, EventKind.DEADLINE}
    component.add("transp", "TRANSPARENT" if is_background else "OPAQUE")
    component.add(f"{_OWN}KIND", event.kind.value)
    for name, value in (("ACTIVITY", event.activity), ("TASK", event.task), ("ABOUT", event.about)):
        if value is not None:
            component.add(f"{_OWN}{name}", value)
    for name, members in (("WHO", event.who), ("RESPONSIBLE", event.responsible)):
        for member in members:
            component.add(f"{_OWN}{name}", member)
    set_class(component, event.scope)
    return component


def _add_end(component: Component, event: Event, start: datetime, duration: timedelta) -> None:
    if not duration:
        return
    if event.all_day:
        component.add("dtend", start.date() + duration)
        return
    end = (start.astimezone(UTC) + duration).astimezone(ZoneInfo(event.tz))
    if end.fold:  # a wall time that comes twice is read as the first
        component.add("duration", duration)
    else:
        component.add("dtend", end)


def _written(event: Event, start: datetime) -> date:
    local = start if start.tzinfo is ZoneInfo(event.tz) else start.astimezone(ZoneInfo(event.tz))
    return local.date() if event.all_day else local


def _exported_rule(event: Event) -> str:
    """Return the rule with UNTIL in the form that goes with the start: a date or in UTC."""
    rule = parse_rule(event.rrule or "")
    zone = ZoneInfo(event.tz)
    parts = [f"{name}={value}" for name, value in rule.parts.items()]
    last = rule.last_instant(zone)
    if last is not None:
        until = f"{last.astimezone(zone):%Y%m%d}" if event.all_day else f"{last:%Y%m%dT%H%M%SZ}"
        parts.append(f"UNTIL={until}")
    return ";".join(parts)


def event_id_of(household: str, uid: str) -> str:
    """Return the id of a file's event: our own where the UID is ours, else one made of the UID.

    Args:
        uid: As written in the file.
    """
    own = uid.removesuffix(_OWN_DOMAIN)
    return own if own and own != uid else stable_id(household, "ics", uid)


def _zoned(component: Component, name: str, zone: ZoneInfo, notes: list[str]) -> datetime:
    """Return a date or time as an aware start."""
    moment = _moment(component, name)
    if not isinstance(moment, date):
        raise InputError(f"{name} is missing or not a date")
    if not isinstance(moment, datetime):
        return datetime.combine(moment, time(), zone)
    if moment.tzinfo is None and "TZID" in component[name].params:
        tzid = component[name].params["TZID"]
        notes.append(f"time zone {tzid!r} of {name} is unknown; {zone.key} is used instead")
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _recurrence_id(component: Component, zone: ZoneInfo, notes: list[str]) -> datetime | None:
    if "RECURRENCE-ID" not in component:
        return None
    start = _zoned(component, "RECURRENCE-ID", zone, notes)
    if "RANGE" in component["RECURRENCE-ID"].params:
        raise InputError("changes to all later occurrences (RANGE) are not supported")
    check_start("RECURRENCE-ID", start)
    return start


def _duration(component: Component, start: datetime, *, all_day: bool) -> timedelta:
    length, end = _moment(component, "DURATION"), _moment(component, "DTEND")
    shortest = _ONE_DAY if all_day else timedelta()
    if isinstance(length, timedelta):
        duration = length
    elif end is None or isinstance(end, timedelta):
        duration = shortest
    elif isinstance(end, datetime) is all_day:
        raise InputError("DTSTART and DTEND must both be dates or both be times")
    elif isinstance(end, datetime):
        zoned = end if end.tzinfo else end.replace(tzinfo=start.tzinfo)
        duration = as_utc(zoned) - as_utc(start)
    else:
        duration = end - start.date()
    check_duration("DTEND", duration)
    return max(duration, shortest)


def _exdates(component: Component, start: datetime) -> Iterator[datetime]:
    """Yield the starts left out; a bare date means the occurrence of that day."""
    for written in _all(component, "EXDATE"):
        for each in written.dts if isinstance(written, vDDDLists) else ():
            moment = each.dt
            if isinstance(moment, datetime):
                yield moment if moment.tzinfo else moment.replace(tzinfo=start.tzinfo)
            elif isinstance(moment, date):
                yield datetime.combine(moment, start.time(), start.tzinfo)


def _rule(component: Component) -> str | None:
    rules = _all(component, "RRULE")
    if len(rules) > 1 or not all(isinstance(rule, vRecur) and rule for rule in rules):
        raise InputError("RRULE is broken or given more than once")
    return rules[0].to_ical().decode() if rules else None


def _kind(component: Component, duration: timedelta, *, all_day: bool) -> EventKind:
    own = _text(component, f"{_OWN}KIND")
    if own in set(EventKind):
        return EventKind(own)
    is_background = all_day and duration > _ONE_DAY
    return EventKind.BREAK if is_background else EventKind.BOOKING


def _state(component: Component) -> EventState:
    is_cancelled = (_text(component, "STATUS") or "").upper() == "CANCELLED"
    return EventState.CANCELLED if is_cancelled else EventState.CONFIRMED


def _moment(component: Component, name: str) -> date | timedelta | None:
    written = next(iter(_all(component, name)), None)
    if written is None:
        return None
    moment = written.dt if isinstance(written, vDDDTypes) else None
    if not isinstance(moment, date | timedelta) or len(_all(component, name)) > 1:
        raise InputError(f"{name} is broken or given more than once")
    return moment


def _all(component: Component, name: str) -> Sequence[Any]:
    written = component.get(name, [])
    return written if isinstance(written, list) else [written]


def _texts(component: Component, name: str) -> tuple[str, ...]:
    """Return the texts of a property; of our own ones, escapes are still to be resolved."""
    texts = (str(each) for each in _all(component, name))
    return tuple(unescape_char(text) if name.startswith(_OWN) else text for text in texts)


def _text(component: Component, name: str) -> str | None:
    return next(iter(_texts(component, name)), None) or None
