"""One search of what is remembered and what is planned."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection

from kinkeeper.brain.answer_text import event_sentence
from kinkeeper.brain.question import read_question
from kinkeeper.brain.schedule import EventWords, scheduled
from kinkeeper.core.errors import InputError
from kinkeeper.household.model import Household
from kinkeeper.memory.finding.search import PATIENCE, Finder, Search
from kinkeeper.memory.finding.visible_results import Hit, HitKind
from kinkeeper.store.store import Store


class Kind(StrEnum):
    """What may be found."""

    EPISODE = HitKind.EPISODE.value
    FACT = HitKind.FACT.value
    EVENT = "event"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventHit:
    """An event that was found.

    Attributes:
        text: When and where it takes place, and who is in charge.
        at: When it begins next, or in the time asked for; of one that is over, when it began last.
        source: What it was made of: the id of a message, a file or a request.
        relevance: Chance that it bears on the query.
        score: What hits are ordered by. Scores of memory and of the calendar have no common scale: an event
            stands where its relevance puts it, with the score of the memory after it.
    """

    id: str
    text: str
    at: datetime
    source: str
    relevance: float
    score: float
    kind: Kind = field(default=Kind.EVENT, init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    """What was found in memory and calendar.

    Attributes:
        hits: Best first.
        is_complete: Whether all that is remembered was searched.
    """

    hits: Sequence[Hit | EventHit]
    is_complete: bool


async def find(
    search: Search,
    kinds: Collection[Kind],
    *,
    store: Store,
    finder: Finder,
    household: Household | None,
    patience: float = PATIENCE,
) -> Everything:
    """Return what is known of something, of memory and calendar, to whoever asks.

    Args:
        search: What to look for; of which kinds is told by `kinds`.
        kinds: What may be found, at least one.
        store: The household's database.
        household: Whose calendar; None where there is no household file, and so no calendar.
        patience: How long at most to wait for what of memory was not read since the start, in seconds.

    Raises:
        InputError: The calendar is asked for as of a time.
        UnavailableError: The database cannot be read.
    """
    check_kinds(kinds, as_of=search.as_of)
    hits: Sequence[Hit] = ()
    is_complete = True
    of_memory = tuple(HitKind(kind) for kind in kinds if kind is not Kind.EVENT)
    if of_memory:
        found = await finder.search(replace(search, kinds=of_memory), patience=patience)
        hits, is_complete = found.hits, found.is_complete
    events: Sequence[EventHit] = ()
    if Kind.EVENT in kinds and household is not None:
        events = await store.read(lambda conn: _events(conn, household, search))
    return Everything(hits=merged(hits, events)[: search.limit], is_complete=is_complete)


def check_kinds(kinds: Collection[Kind], *, as_of: datetime | None) -> None:
    """Refuse what cannot be searched together.

    Raises:
        InputError: The calendar is asked for as of a time.
    """
    if as_of is not None and Kind.EVENT in kinds:
        raise InputError("only memory can be searched as of a time; leave out events, or the time")


def merged(hits: Sequence[Hit], events: Sequence[EventHit]) -> list[Hit | EventHit]:
    """Return hits in one order: memory's own, with each event before what bears less on the query.

    Args:
        hits: Of memory, best first.
        events: Best first.
    """
    found: list[Hit | EventHit] = []
    waiting = [*events]
    for place, hit in enumerate(hits):
        most = max(each.relevance for each in hits[place:])
        while waiting and waiting[0].relevance >= most:
            found.append(replace(waiting.pop(0), score=hit.score))
        found.append(hit)
    lowest = [hits[-1].score] if hits else []
    return [*found, *(replace(each, score=min(each.score, *lowest, 1.0)) for each in waiting)]


def _events(conn: Connection, household: Household, search: Search) -> list[EventHit]:
    question = read_question(search.text, household, now=search.now)
    found = scheduled(conn, search.viewer, EventWords(household), question, now=search.now)
    return [
        EventHit(
            id=each.event.id,
            text=event_sentence(each, household),
            at=each.times[0].interval.start,
            source=each.event.provenance.source_id,
            relevance=each.relevance,
            score=each.relevance,
        )
        for each in found
    ]
