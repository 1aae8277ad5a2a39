"""Questions to memory and their answers: frozen values and the protocol of whoever answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Protocol

from kinkeeper.household.viewers import Viewer


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainQuery:
    """An abstract question; never holds message text, names of children or whereabouts.

    Attributes:
        text: Composed from templates and vocabulary: "soccer schedule Thursday".
        activity: Activity id it is about, if any.
        task: Task it is about, if any.
        day: Local day it is about, if any.
        child: Opaque id of the child, if any.
    """

    text: str
    activity: str | None = None
    task: str | None = None
    day: date | None = None
    child: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainAnswer:
    """What memory says.

    Attributes:
        relevance: In [0, 1].
        summary: One line for the trace.
        items: What it rests on, newest or nearest first.
    """

    relevance: float
    summary: str
    items: Sequence[Mapping[str, Any]] = ()


class Brain(Protocol):
    """Answers questions about one household."""

    async def ask(self, query: BrainQuery, viewer: Viewer) -> BrainAnswer:
        """Return the answer; relevance 0 where nothing is known to the viewer.

        Raises:
            UnavailableError: Memory cannot be reached.
        """
        ...


class SourceKind(StrEnum):
    """What an answer rests on."""

    FACT = "fact"
    EPISODE = "episode"
    EVENT = "event"
    NOTE = "note"


class Sureness(StrEnum):
    """How well the sources bear on the question, in a word."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Something known that bears on a question.

    Attributes:
        id: Of the fact, episode, event or note.
        text: Its own words; of an event, what the calendar says of it.
        sentence: As it is told in an answer.
        speaker: Name of who said it, if known.
        relevance: In [0, 1].
        at: When it was said, or when the event begins; aware.
    """

    id: str
    kind: SourceKind
    text: str
    sentence: str
    speaker: str | None = None
    relevance: float
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalEntity:
    """A time that a question or its sources speak of.

    Attributes:
        type: "date", "time", "datetime", "range", "duration" or "recurring".
        value: ISO 8601 with offset; two of them joined by "/" for a range; an RFC 5545 rule for recurring.
        context: The words that say it, or what takes place then.
    """

    type: str
    value: str
    context: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEvent:
    """Something that takes place, as far as the sources tell.

    Attributes:
        summary: One line.
        recurrence: RFC 5545 rule, if it recurs.
        is_confirmed: Whether it is in the calendar, and not only proposed.
    """

    summary: str
    start: datetime
    end: datetime
    location: str | None
    recurrence: str | None
    is_confirmed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is known about a question.

    Attributes:
        answer: One or two sentences made of the best sources.
        sources: Those that bear on the question, best first.
        sureness: The relevance in a word.
        relevance: In [0, 1]; from 0.5 on the sources bear on the question.
        times: What the question and the sources say about time.
        lead: What is said before the sources, or instead of them; empty where they answer the question by themselves.
        is_list: Whether all the sources together are the answer, not the best of them.
        is_of_deeds: Whether they tell that what is asked about was done, or was not: no calendar or list knows that better.
    """

    answer: str
    sources: Sequence[Source]
    sureness: Sureness
    relevance: float
    times: Sequence[TemporalEntity]
    events: Sequence[KnownEvent]
    lead: str = ""
    is_list: bool = False
    is_of_deeds: bool = False
