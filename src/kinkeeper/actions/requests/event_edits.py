"""What a change of an event that was asked for comes to: effects on the calendar, and how it looks then. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from kinkeeper.actions.effects.calendar import (
    AddEvent,
    AssignOccurrence,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
    event_to_json,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.requests.event_views import EventChanges, Scope
from kinkeeper.actions.requests.model import Asked
from kinkeeper.actions.requests.parameters import put_off, read_moment, read_who, shifted
from kinkeeper.calendar.model import Event, Occurrence, Provenance, SourceType
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import Interval, as_utc, midnight

_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_ALONE = frozenset({"responsible"})
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of an event, resolved.

    Attributes:
        is_time: Whether it takes place at another time then.
    """

    effects: tuple[Effect, ...]
    occurrence: Occurrence
    is_time: bool


def change_of(
    occurrence: Occurrence,
    changes: EventChanges,
    scope: Scope,
    asked: Asked,
    *,
    usual_length: timedelta,
    cancelled: Sequence[datetime] = (),
) -> Change:
    """Return what a change comes to.

    Args:
        changes: What is to be different.
        scope: How much of a series.
        usual_length: How long something takes that gets an hour and had none.
        cancelled: Original starts of its occurrences that do not take place, aware.

    Raises:
        InputError: Nothing would change, or it cannot be like that.
        UnclearError: A person named is not known.
    """
    fields = fields_changed(occurrence, changes, asked)
    if hours := _hours_of_day(occurrence, changes, asked, usual_length):
        interval, fields = hours, {**fields, "all_day": False}
    else:
        interval = _interval(occurrence, changes, asked)
    return changed(occurrence, interval, fields, asked, scope=scope, cancelled=cancelled)


def changed(
    occurrence: Occurrence,
    interval: Interval,
    fields: Mapping[str, Any],
    asked: Asked,
    *,
    scope: Scope,
    cancelled: Sequence[datetime] = (),
) -> Change:
    """Return what a change comes to whose values are worked out.

    Args:
        interval: When the occurrence takes place then.
        fields: Fields of the event, besides its time, that differ.
        scope: How much of a series.
        cancelled: Original starts of its occurrences that do not take place, aware.

    Raises:
        InputError: Nothing would change, or it cannot be like that.
    """
    if interval == occurrence.interval and not fields:
        raise InputError(f"{occurrence.event.summary!r} is already like that")
    reach = reach_of(occurrence, scope)
    after = _after(occurrence, interval, fields, is_whole=reach is not Scope.OCCURRENCE)
    effects: tuple[Effect, ...]
    if reach is Scope.FOLLOWING:
        effects = _from_then_on(occurrence, interval, fields, asked, cancelled=cancelled)
    elif reach is Scope.SERIES:
        effects = _of_whole(occurrence, interval, fields, cancelled=cancelled)
    else:
        effects = _of_one(occurrence, interval, fields, asked)
    return Change(effects=effects, occurrence=after, is_time=interval != occurrence.interval)


def reach_of(occurrence: Occurrence, scope: Scope) -> Scope:
    """Return how much of an event is meant: all of it where it does not repeat, or the first and all later are.

    Args:
        scope: As it was asked for.
    """
    event = occurrence.event
    is_all = scope is Scope.FOLLOWING and as_utc(occurrence.original_start) == as_utc(event.start)
    return Scope.SERIES if event.rrule is None or is_all else scope


def ended_before(occurrence: Occurrence) -> UpdateEvent:
    """Return what lets a series end with the day before an occurrence.

    Args:
        occurrence: The first that does not take place any more.

    Raises:
        InputError: It takes place a fixed number of times.
    """
    event = occurrence.event
    parts = _parts_of(event.rrule or "")
    if "COUNT" in parts:
        raise InputError(
            "a series with a fixed number of events cannot be ended early; cancel them one by one"
        )
    last = _wall(occurrence.original_start, event).date() - _DAY
    after = replace(event, rrule=_rule_of({**parts, "UNTIL": f"{last:%Y%m%d}"}))
    return UpdateEvent.model_validate(
        {"event": event_to_json(after), "based_on": event_to_json(event)}
    )


def _interval(occurrence: Occurrence, changes: EventChanges, asked: Asked) -> Interval:
    """Return when an occurrence takes place then, in the household's zone."""
    zone = asked.household.zone
    start, end = (
        each.astimezone(zone) for each in (occurrence.interval.start, occurrence.interval.end)
    )
    if occurrence.event.all_day:
        return _days(Interval(start, end), changes, asked)
    if changes.shift_minutes is not None:
        start = put_off(start, timedelta(minutes=changes.shift_minutes))
    if changes.start_time is not None:
        start = read_moment(changes.start_time, asked, around=start).at
    end = shifted(start, occurrence.interval.duration)
    if changes.end_time is not None:
        end = read_moment(changes.end_time, asked, around=end).at
    if end <= start:
        raise InputError("it would end before it begins")
    return Interval(start, end)


def _hours_of_day(
    occurrence: Occurrence, changes: EventChanges, asked: Asked, usual_length: timedelta
) -> Interval | None:
    """Return the hours that something gets which takes a whole day and does not repeat; None where it gets none."""
    event, zone = occurrence.event, asked.household.zone
    if not event.all_day or event.rrule is not None or changes.start_time is None:
        return None
    day = occurrence.interval.start.astimezone(zone)
    start = read_moment(changes.start_time, asked, around=day)
    if start.is_day or event.duration > _DAY:
        return None
    end = shifted(start.at, usual_length)
    if changes.end_time is not None:
        end = read_moment(changes.end_time, asked, around=start.at).at
    if end <= start.at:
        raise InputError("it would end before it begins")
    return Interval(start.at, end)


def _days(interval: Interval, changes: EventChanges, asked: Asked) -> Interval:
    """Return the days that something takes then which takes whole days; the last one is included.

    Raises:
        InputError: A time of day is wanted, or the last day lies before the first.
    """
    zone, first = asked.household.zone, interval.start.date()
    length = interval.end.date() - first
    given = [text for text in (changes.start_time, changes.end_time) if text is not None]
    read = [
        read_moment(text, asked, around=None if "-" in text else interval.start) for text in given
    ]
    if changes.shift_minutes is not None or not all(each.is_day for each in read):
        raise InputError("that is an all-day event; say which day instead")
    if changes.start_time is not None:
        first = read[0].at.date()
    after = first + length
    if changes.end_time is not None:
        after = read[-1].at.date() + _DAY
    if after <= first:
        raise InputError("it would end before it begins")
    return Interval(midnight(first, zone), midnight(after, zone))


def fields_changed(occurrence: Occurrence, changes: EventChanges, asked: Asked) -> dict[str, Any]:
    """Return the fields of the event, besides its time, that would differ."""
    wanted: dict[str, Any] = {}
    if changes.summary is not None:
        wanted["summary"] = changes.summary.strip()
    if changes.location is not None:
        wanted["place"] = place_of(changes.location, asked)
    if changes.who is not None:
        wanted["who"] = read_who(changes.who, asked)
    if changes.responsible is not None:
        wanted["responsible"] = read_who(changes.responsible, asked)
    now = {"place": occurrence.place, "responsible": occurrence.responsible}
    return {
        name: value
        for name, value in wanted.items()
        if value != now.get(name, getattr(occurrence.event, name))
    }


def place_of(text: str, asked: Asked) -> str | None:
    """Return a place of the household by its name or another word for it, else the words as they are.

    Args:
        text: As somebody said it; empty for none.
    """
    plain = text.strip()
    for place in asked.household.places:
        known = {place.id, place.name.casefold(), *(each.casefold() for each in place.aliases)}
        if plain.casefold() in known:
            return place.id
    return plain or None


def _after(
    occurrence: Occurrence, interval: Interval, fields: Mapping[str, Any], *, is_whole: bool
) -> Occurrence:
    # An occurrence is known by when it would begin; where the whole event moves, that moves, too.
    moved = interval.start - occurrence.interval.start
    return replace(
        occurrence,
        event=replace(occurrence.event, **fields),
        interval=interval,
        original_start=occurrence.original_start + (moved if is_whole else timedelta(0)),
        place=fields.get("place", occurrence.place),
        responsible=fields.get("responsible", occurrence.responsible),
    )


def _of_one(
    occurrence: Occurrence, interval: Interval, fields: Mapping[str, Any], asked: Asked
) -> tuple[Effect, ...]:
    common = {"event_id": occurrence.event.id, "original_start": occurrence.original_start}
    if not fields.keys() <= _ALONE:
        # Only its time and who is in charge can differ within a series: it becomes an event of its own.
        apart = replace(
            occurrence.event,
            **fields,
            id=stable_id(asked.household.id, "chat", asked.turn_id, asked.number),
            start=interval.start,
            duration=_length(interval, is_day=fields.get("all_day", occurrence.event.all_day)),
            rrule=None,
            exdates=(),
            provenance=provenance(asked),
        )
        return (
            CancelOccurrence.model_validate(common),
            AddEvent.model_validate({"event": event_to_json(apart)}),
        )
    effects: list[Effect] = []
    if interval != occurrence.interval:
        moved = {
            "new_start": interval.start,
            "new_duration": _length(interval, is_day=occurrence.event.all_day),
        }
        effects.append(MoveOccurrence.model_validate(common | moved))
    if "responsible" in fields:
        effects.append(AssignOccurrence.model_validate({**common, **fields}))
    return tuple(effects)


def _of_whole(
    occurrence: Occurrence,
    interval: Interval,
    fields: Mapping[str, Any],
    *,
    cancelled: Sequence[datetime],
) -> tuple[Effect, ...]:
    event = occurrence.event
    after = _with(occurrence, fields, interval)
    if interval.start != occurrence.interval.start:
        # What was cancelled is known by its old start and would take place again at the new one.
        after = replace(after, exdates=_left_out(event, cancelled))
        after = _shifted(after, _wall(interval.start) - _wall(occurrence.interval.start, event))
    if "rrule" in fields:
        after = replace(after, rrule=fields["rrule"])
    effect = {"event": event_to_json(after), "based_on": event_to_json(event)}
    return (UpdateEvent.model_validate(effect),)


def _from_then_on(
    occurrence: Occurrence,
    interval: Interval,
    fields: Mapping[str, Any],
    asked: Asked,
    *,
    cancelled: Sequence[datetime],
) -> tuple[Effect, ...]:
    """Let a series end before an occurrence, and another one begin with it."""
    event, first = occurrence.event, occurrence.original_start
    left_out = _left_out(event, cancelled)
    after = replace(
        _with(occurrence, fields, interval),
        start=first.astimezone(event.start.tzinfo),
        provenance=provenance(asked),
        id=stable_id(asked.household.id, "chat", asked.turn_id, asked.number),
        exdates=tuple(each for each in left_out if as_utc(each) > first),
    )
    by = _wall(interval.start) - _wall(occurrence.interval.start, event)
    after = _shifted(after, by)
    if "rrule" in fields:
        after = replace(after, rrule=fields["rrule"])
    return (ended_before(occurrence), AddEvent.model_validate({"event": event_to_json(after)}))


def _with(occurrence: Occurrence, fields: Mapping[str, Any], interval: Interval) -> Event:
    """Return the event of an occurrence with other fields, and as long as an interval where the time changes."""
    after = replace(occurrence.event, **fields)
    if interval == occurrence.interval and "all_day" not in fields:
        return after  # how long this one takes may differ from the others
    return replace(after, duration=_length(interval, is_day=after.all_day))


def _left_out(event: Event, cancelled: Sequence[datetime]) -> tuple[datetime, ...]:
    """Return the starts at which a series does not take place, each once, in its own zone."""
    starts = {as_utc(each): each for each in (*event.exdates, *cancelled)}
    return tuple(each.astimezone(event.start.tzinfo) for each in starts.values())


def _shifted(event: Event, by: timedelta) -> Event:
    """Return an event, with all its occurrences, at another time by the clock on the wall."""
    start = event.start + by
    days = (start.date() - event.start.date()).days
    return replace(
        event,
        start=start,
        exdates=tuple(each + by for each in event.exdates),
        rrule=_rule_shifted(event.rrule, days),
    )


def _rule_shifted(rule: str | None, days: int) -> str | None:
    """Return a rule whose weekdays are others by so many days.

    Raises:
        InputError: It names days in a way that cannot be moved.
    """
    if rule is None or days == 0:
        return rule
    parts = _parts_of(rule)
    if parts["FREQ"] != "DAILY" and parts.keys() & {"BYMONTHDAY", "BYYEARDAY", "BYSETPOS"}:
        raise InputError("a series that repeats like this cannot be moved to another day")
    if "BYDAY" in parts:
        named = parts["BYDAY"].split(",")
        if not set(named) <= set(_DAYS):
            raise InputError("a series that repeats like this cannot be moved to another day")
        moved = [_DAYS[(_DAYS.index(day) + days) % len(_DAYS)] for day in named]
        parts["BYDAY"] = ",".join(moved)
    return _rule_of(parts)


def _parts_of(rule: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in rule.split(";"))


def _rule_of(parts: Mapping[str, str]) -> str:
    return ";".join(f"{name}={value}" for name, value in parts.items())


def _length(interval: Interval, *, is_day: bool) -> timedelta:
    """Return a length as events have it: of real time, or of days where it takes all day."""
    if not is_day:
        return as_utc(interval.end) - as_utc(interval.start)
    return timedelta(days=(_wall(interval.end).date() - _wall(interval.start).date()).days)


def _wall(instant: datetime, event: Event | None = None) -> datetime:
    local = instant if event is None else instant.astimezone(event.start.tzinfo)
    return local.replace(tzinfo=None, fold=0)


def provenance(asked: Asked) -> Provenance:
    """Return where an event comes from that was asked for in conversation, or made by hand."""
    source = SourceType.WEB if asked.is_by_hand else SourceType.CHAT
    return Provenance(source_type=source, source_id=asked.turn_id)
