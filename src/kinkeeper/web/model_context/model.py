"""What the tools for models of other programs take and return; descriptions and names are written for those models."""

from datetime import date, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from kinkeeper.brain.evidence_search import Kind
from kinkeeper.web.api import memory_search
from kinkeeper.web.api.events import WaitingRecord

LONGEST_TEXT = 1000
"""Most characters of one text that is taken or returned."""

MOST_PENDING = 50


class Arguments(BaseModel):
    """The arguments of a tool; unknown names are refused."""

    model_config = ConfigDict(extra="forbid")


class SearchMemory(Arguments):
    """What to look for in memory."""

    query: Annotated[
        str,
        Field(min_length=1, max_length=2000, description="A question, or words to search for."),
    ]
    limit: Annotated[int, Field(ge=1, le=20, description="Most results.")] = 5
    kinds: Annotated[
        list[Kind],
        Field(min_length=1, max_length=len(Kind), description="fact: what is known; episode: what was said; event: calendar."),
    ] = [Kind.FACT, Kind.EPISODE]  # fmt: skip
    as_of: memory_search.AsOf | None = None


class Remembered(BaseModel):
    """A memory or an event; `at` is when it was said, or when it starts."""

    id: str
    kind: Kind
    text: str
    at: datetime
    speaker: str | None
    relevance: float


class MemoryFound(BaseModel):
    """What was found, best first; not complete while older memories are still being indexed."""

    results: list[Remembered]
    is_complete: bool


class Remember(Arguments):
    """What is to be remembered."""

    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LONGEST_TEXT,
            description="One statement, as the person said it.",
        ),
    ]
    private: Annotated[
        bool | None, Field(description="Whether only this person may recall it; omit if they did not say.")
    ] = None  # fmt: skip


class Proposed(BaseModel):
    """A proposal that waits for a person's approval; nothing is done before that."""

    action_id: str
    status: str
    summary: str
    note: str


class ListEvents(Arguments):
    """Which days of the calendar."""

    start: Annotated[date | None, Field(description="First day, YYYY-MM-DD; default is today.")] = (
        None
    )
    days: Annotated[int, Field(ge=1, le=60, description="How many days.")] = 7
    member: Annotated[
        str | None, Field(max_length=64, description="Id of a member: only events they take part in or are in charge of.")
    ] = None  # fmt: skip


class CalendarEvent(BaseModel):
    """One occurrence; times are in the household's time zone, with an offset.

    `confirmed` is false if it is only proposed and nobody has confirmed it yet. `waiting`
    lists such proposals: what they would change, who claims to be in charge, and who was asked.
    """

    id: str
    summary: str
    start: datetime
    end: datetime
    all_day: bool
    who: list[str]
    responsible: list[str]
    place: str | None
    repeats: str | None
    confirmed: bool
    waiting: list[WaitingRecord]


class EventsFound(BaseModel):
    """The events from the first to the last day, inclusive."""

    first: date
    last: date
    timezone: str
    events: list[CalendarEvent]
    is_cut: bool


class ListPending(Arguments):
    """Of how much to tell."""

    limit: Annotated[int, Field(ge=1, le=MOST_PENDING)] = 20


class Waiting(BaseModel):
    """Something that waits for a person's approval, and everything that the approval would do."""

    id: str
    type: str
    summary: str
    details: list[str]
    origin: str
    created_at: datetime
    expires_at: datetime


class PendingFound(BaseModel):
    """What is waiting, oldest first, and where people decide about it."""

    pending: list[Waiting]
    is_cut: bool
    decided_at: str
