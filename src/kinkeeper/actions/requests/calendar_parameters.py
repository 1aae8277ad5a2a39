"""What requests about the calendar take."""

from datetime import date, time
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from kinkeeper.actions.requests.audience import ForWhom
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
            "what to find out; `last` looks back, `unowned` are those nobody is in charge of, "
            "`clash` those that overlap for the same people, `away` what keeps `who` away now or next"
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
