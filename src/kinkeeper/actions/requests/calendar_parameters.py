"""What requests about the calendar take."""

from datetime import date, time
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from kinkeeper.actions.requests.audience import PRIVATE
from kinkeeper.actions.requests.model import Parameters
from kinkeeper.actions.requests.people import Who

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

    days_ahead: int = Field(default=7, ge=0, le=400, description="how many days, from `from` on")
    from_: str | None = Field(default=None, alias="from", description="first day; now if left out")
    since: time | None = Field(default=None, description="HH:MM; only what goes on after it")
    until: time | None = Field(default=None, description="HH:MM; only what goes on before it")
    query: str | None = Field(default=None, description="words they are about")
    who: Who | None = Field(default=None, description="only these members' events")
    wanted: Wanted = Field(
        default=Wanted.ALL,
        description=(
            "what is asked about them; `last` looks back, `unowned` are those nobody is in charge of, "
            "`clash` those that meet with others of the same people, `away` what keeps `who` away now or next"
        ),
    )


class CreateEvent(Parameters):
    """A new event."""

    summary: str = Field(min_length=1)
    start_time: str = Field(description=_TIME)
    end_time: str | None = None
    location: str | None = None
    who: Who | None = Field(default=None, description="who takes part; who asks if left out")
    responsible: Who | None = Field(default=None, description="who sees to it")
    all_day: bool = False
    rrule: str | None = Field(
        default=None, description="RFC 5545 rule without prefix if it repeats"
    )
    private: bool | None = Field(default=None, description=PRIVATE)


class Scope(StrEnum):
    """How much of an event that repeats is meant."""

    OCCURRENCE = "occurrence"
    SERIES = "series"
    FOLLOWING = "following"


class FindEvent(Parameters):
    """One event."""

    event_id: str | None = None
    find_by: str | None = Field(default=None, description="words of it, as the person says them")
    on: str | None = Field(default=None, description="the day or start of the occurrence meant")
    scope: Scope = Field(
        default=Scope.OCCURRENCE,
        description="one time of it, all of them, or that one and all later",
    )

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if not (self.event_id or self.find_by):
            raise ValueError("event_id or find_by is needed")
        return self


class DeleteEventOf(FindEvent):
    """One event, or several times of it in a row."""

    until: date | None = Field(
        default=None, description="last day: all times of it from the one meant to this day"
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
    shift_minutes: int | None = Field(default=None, description="later by so many minutes")


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
        default=None, description="words of an event in that span whose time is meant"
    )
    since: time | None = Field(default=None, description="HH:MM; from when on each of the days")
    until: time | None = Field(default=None, description="HH:MM; to when on each of the days")
    is_any: bool = Field(default=False, description="whether one of them is enough")
    duration: int = Field(default=60, ge=1, le=24 * 60, description="minutes")
    who: Who | None = Field(default=None, description="all of these; who asks if left out")
