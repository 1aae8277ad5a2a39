"""Events in requests: what requests about them take, and how events are told as JSON, items and lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from pydantic import Field, model_validator

from kinkeeper.actions.requests.model import Asked, Parameters
from kinkeeper.actions.requests.parameters import (
    ForWhom,
    Moment,
    Who,
    names,
    said,
    said_span,
    seen_by,
)
from kinkeeper.calendar.event_records import occurrence_waiting, waiting_record
from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.search import rule_seen
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import audience_json

# What requests about the calendar take.

_TIME = "ISO 8601 date-time with offset, or a date for whole days"


class Wanted(StrEnum):
    """What somebody wants to know about events."""

    ALL = "all"
    NEXT = "next"
    DAYS = "days"
    LAST = "last"
    START = "start"
    END = "end"
    LENGTH = "length"
    PLACE = "place"
    WHO = "who"
    RESPONSIBLE = "responsible"
    UNOWNED = "unowned"
    COUNT = "count"
    WHETHER = "whether"
    CLASH = "clash"
    AWAY = "away"


class ListEvents(Parameters):
    """Which events to list."""

    days_ahead: int = Field(
        default=7, ge=0, le=400, description="number of days, starting at `from`"
    )
    from_: str | None = Field(default=None, alias="from", description="first day; default is now")
    since: time | None = Field(default=None, description="HH:MM; only events after this time")
    until: time | None = Field(default=None, description="HH:MM; only events before this time")
    query: str | None = Field(default=None, description="their topic, in words")
    who: Who | None = Field(default=None, description="only these members' events")
    wanted: Wanted = Field(
        default=Wanted.ALL,
        description=(
            "all: the events themselves; next or last: the one that is; start, end, length, place, who or "
            "responsible: that of an event; days: on which days; count: how many; whether: if there is one; "
            "unowned: those nobody is in charge of; clash: those that overlap for the same people; "
            "away: what keeps `who` away now or next"
        ),
    )


class CreateEvent(ForWhom):
    """A new event."""

    summary: str = Field(min_length=1)
    start_time: str = Field(description=_TIME)
    end_time: str | None = None
    location: str | None = None
    who: Who | None = Field(
        default=None, description="who takes part; default is the person asking"
    )
    responsible: Who | None = Field(default=None, description="who is in charge")
    all_day: bool = False
    rrule: str | None = Field(
        default=None, description="RFC 5545 rule without prefix if it repeats"
    )
    except_days: tuple[date, ...] = Field(
        default=(), description="days on which what repeats does not take place"
    )


class Scope(StrEnum):
    """How much of an event that repeats is meant."""

    OCCURRENCE = "occurrence"
    SERIES = "series"
    FOLLOWING = "following"


class FindEvent(Parameters):
    """One event."""

    event_id: str | None = None
    find_by: str | None = Field(
        default=None, description="words that name it, as the person said them"
    )
    on: str | None = Field(default=None, description="the day or start of the occurrence meant")
    scope: Scope = Field(
        default=Scope.OCCURRENCE,
        description="one occurrence, all of them, or that one and all later ones",
    )

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if not (self.event_id or self.find_by):
            raise ValueError("event_id or find_by is needed")
        return self


class DeleteEventOf(FindEvent):
    """One event, or several times of it in a row."""

    until: date | None = Field(
        default=None,
        description="last day: cancel every occurrence from the given one up to this day",
    )


class EventChanges(Parameters):
    """What is to be different."""

    summary: str | None = Field(default=None, min_length=1)
    start_time: str | None = Field(
        default=None,
        description=f"{_TIME}, HH:MM of the same day, or another date at the same time",
    )
    end_time: str | None = None
    location: str | None = None
    who: Who | None = None
    responsible: Who | None = None
    shift_minutes: int | None = Field(
        default=None, description="by how many minutes to move it later"
    )


class UpdateEventOf(FindEvent):
    """One event, and what is to be different about it."""

    changes: EventChanges


class Between(Parameters):
    """A span of time."""

    from_: str = Field(alias="from", description=_TIME)
    to: str = Field(description=_TIME)


class FindFree(Parameters):
    """When people have time."""

    between: Between
    around: str | None = Field(
        default=None, description="words from the title of an event whose time is meant"
    )
    since: time | None = Field(default=None, description="HH:MM; start time on each day")
    until: time | None = Field(default=None, description="HH:MM; end time on each day")
    is_any: bool = Field(default=False, description="whether it is enough if one of them is free")
    duration: int = Field(default=60, ge=1, le=24 * 60, description="minutes")
    who: Who | None = Field(default=None, description="all of these; default is the person asking")


_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)


def occurrence_json(occurrence: Occurrence, asked: Asked) -> dict[str, Any]:
    """Return an occurrence as requests tell it; times are ISO 8601 in the household's zone, a day is a date."""
    event, zone = occurrence.event, asked.household.zone
    start, end = (
        each.astimezone(zone) for each in (occurrence.interval.start, occurrence.interval.end)
    )
    place = next(
        (each.name for each in asked.household.places if each.id == occurrence.place),
        occurrence.place,
    )
    return {
        "id": event.id,
        "event_id": event.id,
        "original_start": occurrence.original_start.astimezone(zone).isoformat(),
        "title": event.summary,
        "summary": event.summary,
        **audience_json(event.scope),
        "start": start.date().isoformat() if event.all_day else start.isoformat(),
        "end": (end - _DAY).date().isoformat() if event.all_day else end.isoformat(),
        "all_day": event.all_day,
        "who": list(event.who),
        "responsible": list(occurrence.responsible),
        "location": place,
        "rrule": rule_seen(event, asked.viewer),
        **waiting_record(occurrence, zone),
    }


def told(occurrence: Occurrence, asked: Asked) -> str:
    """Return what an occurrence is and when: "Dentist, Thu 12 Nov 16:30"."""
    return f"{occurrence.event.summary}, {when(occurrence, asked)}"


def when(occurrence: Occurrence, asked: Asked) -> str:
    """Return when an occurrence begins, of whole days also the last, in few words."""
    first, last = (
        each.astimezone(asked.household.zone)
        for each in (occurrence.interval.start, occurrence.interval.end - _INSTANT)
    )
    is_day = occurrence.event.all_day
    begins = said(Moment(at=first, is_day=is_day), asked)
    if not is_day or first.date() == last.date():
        return begins
    return f"{begins} – {said(Moment(at=last, is_day=True), asked)}"


def details(occurrence: Occurrence, asked: Asked) -> str:
    """Return what an occurrence is, where, with whom and who is in charge, in one line."""
    record = occurrence_json(occurrence, asked)
    parts = (
        record["title"],
        f"at {record['location']}" if record["location"] else "",
        f"with {names(record['who'], asked)}" if record["who"] else "",
        f"{names(record['responsible'], asked)} in charge" if record["responsible"] else "",
    )
    return ", ".join(part for part in parts if part)


def item(occurrence: Occurrence, asked: Asked) -> dict[str, Any]:
    """Return an occurrence as an item of a card."""
    record = occurrence_json(occurrence, asked)
    people = dict.fromkeys((*record["who"], *record["responsible"]))
    waits = occurrence_waiting(
        occurrence,
        asked.household.zone,
        name=lambda each: names([each], asked),
        moment=lambda at: said(Moment(at=at, is_day=False), asked),
    )
    parts = (names(list(people), asked), record["location"], waits)
    detail = ", ".join(part for part in parts if part)
    interval, event = occurrence.interval, occurrence.event
    time = (
        when(occurrence, asked) if event.all_day else said_span(interval.start, interval.end, asked)
    )
    return {"id": event.id, "text": event.summary, "when": time, "detail": detail}


def line(occurrence: Occurrence, asked: Asked) -> str:
    """Return all of an occurrence in one line: "Dentist, Thu 12 Nov 16:30 – 17:00, Leo, Old Hall"."""
    shown = item(occurrence, asked)
    return ", ".join(part for part in (shown["text"], shown["when"], shown["detail"]) if part)


def shown_lines(occurrence: Occurrence, asked: Asked) -> dict[str, str]:
    """Return an occurrence as a person sees it before a yes: a line for each thing there is to know."""
    record, shown = occurrence_json(occurrence, asked), item(occurrence, asked)
    lines = {
        "event": shown["text"],
        "when": shown["when"],
        "who": names(record["who"], asked),
        "in charge": names(record["responsible"], asked),
        "where": record["location"],
        "seen by": seen_by(occurrence.event.scope, asked),
    }
    return {name: text for name, text in lines.items() if text}


# Times of a series told as one where many days are looked at: "every Tuesday and Thursday 17:00, 8
# times". Pure.

_LONG: Final = timedelta(days=16)
"""Of so many days every time is told by itself."""

_FEWEST: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Times of one event that differ in nothing but their day.

    Attributes:
        times: At least one, in order.
    """

    times: Sequence[Occurrence]

    def as_json(self, asked: Asked) -> dict[str, Any]:
        """Return the first of them as requests tell it, with how many there are and the day of the last."""
        told = occurrence_json(self.times[0], asked)
        if len(self.times) == 1:
            return told
        last = self.times[-1].interval.start.astimezone(asked.household.zone)
        return {**told, "times": len(self.times), "last": last.date().isoformat()}

    def as_item(self, asked: Asked) -> dict[str, Any]:
        """Return them as one item of a card."""
        shown = item(self.times[0], asked)
        if len(self.times) == 1:
            return shown
        last = said(Moment(at=self.times[-1].interval.start, is_day=True), asked)
        more = f"and {len(self.times) - 1} more times by {last}"
        return {**shown, "when": f"{shown['when']} {more}"}


def runs_of(found: Sequence[Occurrence], span: Interval, asked: Asked) -> list[Run]:
    """Return occurrences, of a long span those of a series together, in the order of the first of each.

    Args:
        found: In order.
        asked: Whose clock tells at what hour they are.
    """
    if span.duration <= _LONG:
        return [Run(times=(each,)) for each in found]
    alike: dict[tuple[Any, ...], list[Occurrence]] = {}
    for each in found:
        alike.setdefault(_without_day(each, asked), []).append(each)
    runs = [
        run
        for times in alike.values()
        for run in ([times] if len(times) >= _FEWEST else [[each] for each in times])
    ]
    return [Run(times=run) for run in sorted(runs, key=lambda run: run[0].interval.start)]


def _without_day(occurrence: Occurrence, asked: Asked) -> tuple[Any, ...]:
    start = occurrence.interval.start.astimezone(asked.household.zone)
    return (
        occurrence.event.id,
        start.time(),
        occurrence.interval.duration,
        occurrence.place,
        tuple(occurrence.responsible),
    )
