"""An event as a JSON object, read and written, and what an occurrence waits for, in words. Pure."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from kinkeeper.calendar.event_limits import check_event
from kinkeeper.calendar.model import Change, Event, EventKind, Occurrence, Provenance, SourceType
from kinkeeper.calendar.search import rule_seen
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import canonical_json, stable_id
from kinkeeper.household.model import Household, resolve_sender
from kinkeeper.household.viewers import Viewer, person_of
from kinkeeper.language.text import enumerated, one_line
from kinkeeper.messaging.message_json import parse_record

# What an occurrence waits for, in words: "not confirmed yet", and who claims it or was asked. Pure.

NOT_CONFIRMED = "not confirmed yet"

_CANCELLED = f"may be cancelled, {NOT_CONFIRMED}"


def waiting_record(occurrence: Occurrence, zone: ZoneInfo) -> dict[str, Any]:
    """Return as JSON whether an occurrence is confirmed, and the open proposals about it."""
    return {
        "confirmed": occurrence.is_confirmed,
        "waiting": [
            {
                "action_id": each.action_id,
                "change": each.change.value,
                "claimed_by": list(each.claimed_by),
                "asked": list(each.asked),
                "leaves": list(each.leaves),
                "moved_to": each.moved_to and each.moved_to.start.astimezone(zone).isoformat(),
                "moved_from": each.moved_from
                and each.moved_from.start.astimezone(zone).isoformat(),
            }
            for each in occurrence.waiting
        ],
    }


def may_be_off(record: Mapping[str, Any]) -> bool:
    """Whether an occurrence waits for a yes to be cancelled.

    Args:
        record: Holds what `waiting_record` returns.
    """
    return any(each["change"] == Change.CANCEL for each in record.get("waiting") or ())


def waiting_words(
    record: Mapping[str, Any], *, name: Callable[[str], str], moment: Callable[[datetime], str]
) -> str:
    """Return what an occurrence waits for; empty of one that nothing is proposed about.

    Args:
        record: Holds what `waiting_record` returns.
        name: Returns what a member id is called; may be "you".
        moment: Returns an instant in words, with its preposition: "on Friday at 6pm".
    """
    is_confirmed = record.get("confirmed", True)
    notes = (
        _note(each, name, moment)
        for each in record.get("waiting") or ()
        if is_confirmed or _tells_who(each)
    )
    told = ", and ".join(dict.fromkeys(notes)) or ("" if is_confirmed else NOT_CONFIRMED)
    stands = [each.get("moved_from") for each in record.get("waiting") or () if not is_confirmed]
    if stands and stands[0]:
        told += f", until then {moment(datetime.fromisoformat(stands[0]))}"
    return told


def occurrence_waiting(
    occurrence: Occurrence,
    zone: ZoneInfo,
    *,
    name: Callable[[str], str],
    moment: Callable[[datetime], str],
) -> str:
    """Return what `waiting_words` does, of an occurrence itself."""
    return waiting_words(waiting_record(occurrence, zone), name=name, moment=moment)


def _note(
    waiting: Mapping[str, Any], name: Callable[[str], str], moment: Callable[[datetime], str]
) -> str:
    claimed, asked = (
        sorted((name(each) for each in waiting[key]), key=lambda each: each != "you")
        for key in ("claimed_by", "asked")
    )
    if len(claimed) > 1:
        return f"{enumerated(claimed)} both claim it, {NOT_CONFIRMED}"
    if asked and not claimed:
        return f"{_were(asked)} asked, {NOT_CONFIRMED}"
    match waiting["change"]:
        case Change.CANCEL:
            return _CANCELLED
        case Change.MOVE | Change.UPDATE if waiting["moved_to"]:
            to = moment(datetime.fromisoformat(waiting["moved_to"])).removeprefix("on ")
            return f"may move to {to}, {NOT_CONFIRMED}"
        case Change.ASSIGN | Change.UPDATE if claimed:
            return f"{claimed[0]} would be in charge, {NOT_CONFIRMED}"
        case Change.ASSIGN | Change.UPDATE if waiting["leaves"]:
            return f"{enumerated([*map(name, waiting['leaves'])])} can't do it, {NOT_CONFIRMED}"
        case _:
            return f"a change is {NOT_CONFIRMED}"


def _tells_who(waiting: Mapping[str, Any]) -> bool:
    """Whether a proposal tells more of who is in charge than the occurrence that it would add."""
    return len(waiting["claimed_by"]) != 1 and bool(waiting["claimed_by"] or waiting["asked"])


def _were(people: Sequence[str]) -> str:
    is_one = len(people) == 1 and people[0] != "you"
    return f"{enumerated(people)} {'was' if is_one else 'were'}"


_FIELDS = frozenset({"summary", "start", "end", "rrule", "who", "responsible", "location"})
_DAY_LENGTH = len("2026-03-05")
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_LONGEST = 500


def event_of_line(raw: bytes, household: Household) -> Event:
    """Return the event of a line; equal lines give equal events.

    Args:
        raw: The record of `event_of_record` as JSON.
    """
    record = parse_record(raw)
    return event_of_record(record, household, key=canonical_json(record), source=SourceType.CLI)


def event_of_record(
    record: Mapping[str, Any], household: Household, *, key: str, source: SourceType
) -> Event:
    """Return the event that a record describes.

    Args:
        record: {"summary", "start", "end"?, "rrule"?, "who"?, "responsible"?, "location"?}; times without
            offset are local, and a start that is a day makes an all-day event.
        key: Names it among those of its source; an equal one gives the same id.
        source: How it came.

    Raises:
        InputError: A field is missing, unknown, of the wrong type or impossible.
    """
    unknown = sorted(record.keys() - _FIELDS)
    if unknown:
        raise InputError(f"unknown field {unknown[0]!r}; use one of {', '.join(sorted(_FIELDS))}")
    summary, start_text = _text(record, "summary"), _text(record, "start")
    if summary is None or start_text is None:
        raise InputError('"summary" and "start" are needed')
    all_day = len(start_text) <= _DAY_LENGTH
    start = _instant(start_text, "start", household)
    end_text = _text(record, "end")
    length = _DAY if all_day else _HOUR
    if end_text is not None:
        length = _instant(end_text, "end", household) - start
    if length <= timedelta(0):
        raise InputError(f'"end" {end_text!r} is not after "start"')
    event = Event(
        id=stable_id(household.id, "import", key),
        household=household.id,
        kind=EventKind.BREAK if all_day and length > _DAY else EventKind.BOOKING,
        summary=summary,
        start=start,
        duration=length,
        tz=household.zone.key,
        provenance=Provenance(source_type=source, source_id=stable_id("import", key)),
        who=_members(record, "who", household),
        responsible=_members(record, "responsible", household),
        place=_text(record, "location"),
        all_day=all_day,
        rrule=_rule(record),
    )
    check_event(event)
    return event


def occurrence_record(
    occurrence: Occurrence, household: Household, viewer: Viewer
) -> dict[str, Any]:
    """Return an occurrence in its public JSON form; instants are ISO 8601 in the household's zone.

    `place_id` is the id of one of the household's places; elsewhere it is None.
    """
    event, zone, place = occurrence.event, household.zone, occurrence.place
    return {
        "id": event.id,
        "summary": event.summary,
        "private": person_of(event.scope) is not None,
        "kind": event.kind.value,
        "activity": event.activity,
        "task": event.task,
        "start": occurrence.interval.start.astimezone(zone).isoformat(),
        "end": occurrence.interval.end.astimezone(zone).isoformat(),
        "original_start": occurrence.original_start.astimezone(zone).isoformat(),
        "all_day": event.all_day,
        "rrule": rule_seen(event, viewer),
        "who": list(event.who),
        "responsible": list(occurrence.responsible),
        "place": place and household.place_name(place),
        "place_id": place if place in household.place_names else None,
        "source_type": event.provenance.source_type.value,
        "source_id": event.provenance.source_id,
        "confirmed_by": event.provenance.confirmed_by,
        "action_id": event.provenance.action_id,
        **waiting_record(occurrence, zone),
    }


def _text(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise InputError(f'"{name}" must be non-empty text')
    if len(value) > _LONGEST:
        raise InputError(f'"{name}" is longer than {_LONGEST} characters')
    if not (kept := one_line(value)):
        raise InputError(f'"{name}" contains only invisible characters')
    return kept


def _rule(record: Mapping[str, Any]) -> str | None:
    text = _text(record, "rrule")
    return None if text is None else text.removeprefix("RRULE:")


def _instant(text: str, name: str, household: Household) -> datetime:
    zone = household.zone
    try:
        instant = datetime.fromisoformat(text)
        return instant.astimezone(zone) if instant.tzinfo else instant.replace(tzinfo=zone)
    except (ValueError, OverflowError) as error:
        raise InputError(f'"{name}" is {text!r}, which is not a real date or time') from error


def _members(record: Mapping[str, Any], name: str, household: Household) -> tuple[str, ...]:
    value = record.get(name) or ()
    names: Sequence[Any] = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(each, str) for each in names):
        raise InputError(f'"{name}" must be a list of members')
    found = []
    for each in names:
        member = resolve_sender(household, each)
        if member is None:
            raise InputError(
                f'"{name}": {each!r} does not match exactly one member of the household'
            )
        found.append(member.id)
    return tuple(dict.fromkeys(found))
