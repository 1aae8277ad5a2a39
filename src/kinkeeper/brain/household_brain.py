"""The brain of this household: answers from its calendar, its memory and its notes, and invents nothing."""

from datetime import datetime

from kinkeeper.brain.answer_text import (
    BEARS,
    answer_of,
    dated,
    event_sentence,
    known_events,
    sureness_of,
    times_of,
)
from kinkeeper.brain.event_words import EventWords
from kinkeeper.brain.graph import GraphBrain
from kinkeeper.brain.model import BrainAnswer, BrainQuery, Knowledge, Source, SourceKind
from kinkeeper.brain.question import read_question
from kinkeeper.brain.recollection import Recollection
from kinkeeper.brain.schedule import Scheduled, scheduled
from kinkeeper.brain.written import written
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.finding.search import Finder
from kinkeeper.notes.repository import list_notes
from kinkeeper.reading.times.reader import read
from kinkeeper.store.store import Store

_MOST_SOURCES = 5


class HouseholdBrain:
    """Answers questions about one household.

    Args:
        store: Where calendar and memory are.
        household: As its file describes it.
        finder: Searches its memory.
        clock: Tells what holds and what comes next.

    Attributes:
        household: The one it knows about.
    """

    def __init__(self, store: Store, household: Household, finder: Finder, clock: Clock) -> None:
        self._store = store
        self.household = household
        self._recollection = Recollection(store, household, finder)
        self._clock = clock
        self._words = EventWords(household)
        self._graph = GraphBrain(store, household.id, household.zone, clock)

    async def ask(self, query: BrainQuery, viewer: Viewer) -> BrainAnswer:
        """Return what is known about a day, an activity or a job.

        The calendar comes first; where it has nothing that counts, what memory holds about times does.

        Args:
            query: What is asked.
            viewer: On whose behalf.
        """
        planned = await self._graph.ask(query, viewer)
        if planned.relevance >= BEARS:
            return planned
        now = self._clock.now()
        question = read_question(query.text, self.household, now=now)
        remembered = await self._recollection.of(question, viewer, now=now)
        timely = [source for source in remembered if self._speaks_of_time(source)]
        if not timely or timely[0].relevance <= planned.relevance:
            return planned
        # Its words stay where they are: a trace that quoted them would outlast their being forgotten.
        return BrainAnswer(
            relevance=round(timely[0].relevance, 2), summary="there is something in memory about it",
            items=[{"source": each.id, "kind": each.kind.value} for each in timely],
        )  # fmt: skip

    async def know(self, query: BrainQuery, viewer: Viewer) -> Knowledge:
        """Return what is known about a question.

        Args:
            query: The question, in any words, and what it names.
            viewer: On whose behalf.
        """
        now = self._clock.now()
        question = read_question(query.text, self.household, now=now)
        planned, noted = await self._store.read(
            lambda conn: (
                scheduled(conn, viewer, self._words, question, now=now),
                list_notes(conn, viewer),
            )
        )
        every = [
            *(self._event_source(found) for found in planned),
            *await self._usual_owner(query, viewer, now=now),
            *await self._recollection.of(question, viewer, now=now),
            *written(query.text, noted),
        ]
        every.sort(key=_rank)
        sources = [source for source in every if source.relevance >= BEARS][:_MOST_SOURCES]
        best = max((source.relevance for source in every), default=0.0)
        ids = {source.id for source in sources if source.kind is SourceKind.EVENT}
        events = known_events(
            [found for found in planned if found.event.id in ids], self.household, viewer
        )
        return Knowledge(
            answer=answer_of(dated(sources, self.household.zone)), sources=sources, sureness=sureness_of(best),
            relevance=round(best, 3), events=events,
            times=times_of(question.spans, events, sources, self.household),
        )  # fmt: skip

    async def _usual_owner(
        self, query: BrainQuery, viewer: Viewer, *, now: datetime
    ) -> list[Source]:
        """Return who usually does the job that a question names, where the calendar tells."""
        if query.task is None:
            return []
        found = await self._graph.ask(query, viewer)
        if not found.items:
            return []
        person, _, times = found.summary.partition(",")
        member = self.household.member(person)
        sentence = f"Usually {member.name if member else person} does it,{times}."
        return [
            Source(
                id=str(found.items[0]["event"]), kind=SourceKind.EVENT, text=sentence,
                sentence=sentence, relevance=found.relevance, at=now,
            )
        ]  # fmt: skip

    def _speaks_of_time(self, source: Source) -> bool:
        reference = source.at.astimezone(self.household.zone)
        return bool(read(source.text, reference, locale=self.household.locale))

    def _event_source(self, found: Scheduled) -> Source:
        sentence = event_sentence(found, self.household)
        return Source(
            id=found.event.id, kind=SourceKind.EVENT, text=sentence, sentence=sentence,
            relevance=round(found.relevance, 3), at=found.times[0].interval.start,
        )  # fmt: skip


def _rank(source: Source) -> tuple[float, bool, float]:
    """Of what bears equally well, the calendar comes first: it knows when, where and who. Then newer comes first."""
    is_event = source.kind is SourceKind.EVENT
    order = -source.relevance if is_event else -source.at.timestamp()
    return -round(source.relevance, 1), not is_event, order
