"""An event out of one line of JSON. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from kinkeeper.calendar.model import Event, EventKind, Provenance, SourceType
from kinkeeper.calendar.validity import check_event
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import canonical_json, stable_id
from kinkeeper.household.model import Household
from kinkeeper.household.senders import resolve_sender
from kinkeeper.messaging.records import parse_record

_FIELDS = frozenset({"summary", "start", "end", "rrule", "who", "responsible", "location"})
_DAY_LENGTH = len("2026-03-05")
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


def event_of_line(raw: bytes, household: Household) -> Event:
    """Return the event of a line; equal lines give equal events.

    Args:
        raw: {"summary", "start", "end"?, "rrule"?, "who"?, "responsible"?, "location"?}; times without
            offset are local, and a start that is a day makes an all-day event.
        household: Whose event it is.

    Raises:
        InputError: A field is missing, unknown, of the wrong type or impossible.
    """
    record = parse_record(raw)
    unknown = sorted(record.keys() - _FIELDS)
    if unknown:
        raise InputError(f"unknown field {unknown[0]!r}; known are {', '.join(sorted(_FIELDS))}")
    summary, start_text = _text(record, "summary"), _text(record, "start")
    if summary is None or start_text is None:
        raise InputError('"summary" and "start" are needed')
    all_day = len(start_text) <= _DAY_LENGTH
    start = _instant(start_text, "start", household)
    end_text = _text(record, "end")
    length = _DAY if all_day else _HOUR
    end = _instant(end_text, "end", household) if end_text else start + length
    if end <= start:
        raise InputError(f'"end" {end_text!r} does not lie after "start"')
    event = Event(
        id=stable_id(household.id, "import", canonical_json(record)),
        household=household.id,
        kind=EventKind.BREAK if all_day and end - start > _DAY else EventKind.BOOKING,
        summary=summary,
        start=start,
        duration=end - start,
        tz=household.zone.key,
        provenance=Provenance(
            source_type=SourceType.CLI, source_id=stable_id("import", canonical_json(record))
        ),
        who=_members(record, "who", household),
        responsible=_members(record, "responsible", household),
        place=_text(record, "location"),
        all_day=all_day,
        rrule=_text(record, "rrule"),
    )
    check_event(event)
    return event


def _text(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise InputError(f'"{name}" must be a text that is not empty')
    return value.strip().removeprefix("RRULE:")


def _instant(text: str, name: str, household: Household) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f'"{name}" is {text!r}, no date or time that exists') from error
    zone = household.zone
    return instant.astimezone(zone) if instant.tzinfo else instant.replace(tzinfo=zone)


def _members(record: Mapping[str, Any], name: str, household: Household) -> tuple[str, ...]:
    value = record.get(name) or ()
    names: Sequence[Any] = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(each, str) for each in names):
        raise InputError(f'"{name}" must be a list of members')
    found = []
    for each in names:
        member = resolve_sender(household, each)
        if member is None:
            raise InputError(f'"{name}": {each!r} is not one member of the household')
        found.append(member.id)
    return tuple(found)
