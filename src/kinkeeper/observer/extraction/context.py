"""What memory adds: the questions a message raises, asked with a timeout and a cache, and their gate.

The questions may leave this machine. They are made of templates and of the household's vocabulary alone; names
of people and of places are taken out of that, too.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kinkeeper.brain.model import Brain, BrainAnswer, BrainQuery
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.gates import ConfidenceType, GateDecision, GateResult, Stage
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import Clock
from kinkeeper.household.viewers import Viewer
from kinkeeper.household.vocabulary import WordKind
from kinkeeper.observer.model import Extraction, Task
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.observer.wording.private_words import without_private

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_JOBS = frozenset({Task.PICKUP, Task.DROPOFF, Task.COVER})
_UNNAMED = "activity"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainContext:
    """What memory said about a message.

    Attributes:
        queries: Questions asked.
        answers: Their answers; shorter than the questions where one got none.
        trouble: Why one got none; None where all were answered.
    """

    queries: tuple[BrainQuery, ...] = ()
    answers: tuple[BrainAnswer, ...] = ()
    trouble: str | None = None

    @property
    def is_degraded(self) -> bool:
        """Whether a question timed out or failed."""
        return self.trouble is not None

    @property
    def relevance(self) -> float | None:
        """The best answer's relevance; None where nothing was asked or nothing came back."""
        if self.is_degraded or not self.answers:
            return None
        return max(answer.relevance for answer in self.answers)

    def gate(self, threshold: float) -> GateResult | None:
        """Return the gate's result; None where nothing was asked."""
        if not self.queries:
            return None
        relevance = self.relevance
        passes = relevance is not None and relevance >= threshold
        return GateResult(
            stage=Stage.BRAIN,
            confidence_type=ConfidenceType.RELEVANCE,
            score=relevance,
            threshold=threshold,
            decision=GateDecision.PROCEED if passes else GateDecision.PROCEED_NO_CONTEXT,
        )


def compose_queries(
    extraction: Extraction, participants: Participants, *, limit: int
) -> tuple[BrainQuery, ...]:
    """Return the abstract questions a message raises, the most telling first.

    Args:
        extraction: What the message says.
        participants: The household compiled; children are passed under ids that only it can resolve.
        limit: Most questions, >= 0.
    """
    if not extraction.is_coordination or not extraction.dates:
        return ()
    day = extraction.dates[0]
    weekday = _WEEKDAYS[day.weekday()]
    children = extraction.child
    child = stable_id(participants.household.id, children[0]) if children else None
    queries = []
    if extraction.activity:
        name = _abstract(extraction.activity, participants)
        queries.append(
            BrainQuery(
                text=f"{name} schedule {weekday}",
                activity=extraction.activity,
                day=day,
                child=child,
            )
        )
    if extraction.task in _JOBS and not extraction.owners:
        queries.append(
            BrainQuery(
                text=f"who usually does {extraction.task} on {weekday}", task=extraction.task,
                day=day, child=child,
            )
        )  # fmt: skip
    queries.append(BrainQuery(text=f"events {weekday}", day=day, child=child))
    return tuple(queries[:limit])


def _abstract(activity: str, participants: Participants) -> str:
    """Return an activity in words that may leave: an extractor may have read it from anywhere."""
    vocabulary = participants.vocabulary
    known = {word.id for word in vocabulary.of_kind(WordKind.ACTIVITY)}
    if activity not in known and vocabulary.generic_activity(activity) is None:
        return _UNNAMED
    return without_private(activity, participants.private_words) or _UNNAMED


class ContextSource:
    """Asks the brain, with a timeout and a cache.

    Args:
        brain: Who answers.
        viewer: On whose behalf it is asked: whoever reads along in the chat.
        timeout: Longest wait for one question.
        cache_ttl: How long an answer is kept; the event graph may have changed after that.
        clock: Tells the age of cached answers.
    """

    def __init__(
        self,
        brain: Brain,
        viewer: Viewer,
        *,
        timeout: timedelta,
        cache_ttl: timedelta,
        clock: Clock,
    ) -> None:
        self._brain = brain
        self._viewer = viewer
        self._timeout = timeout
        self._cache_ttl = cache_ttl
        self._clock = clock
        self._cache: dict[BrainQuery, tuple[datetime, BrainAnswer]] = {}

    async def ask(self, queries: Sequence[BrainQuery]) -> BrainContext:
        """Return what the brain says; a question that fails or takes too long degrades the context."""
        answers = []
        for query in queries:
            try:
                answers.append(await self._cached(query))
            except TimeoutError:
                trouble = f"no answer came within {self._timeout.total_seconds():g} s"
            except UnavailableError as error:
                trouble = str(error)
            else:
                continue
            return BrainContext(queries=tuple(queries), answers=tuple(answers), trouble=trouble)
        return BrainContext(queries=tuple(queries), answers=tuple(answers))

    async def _cached(self, query: BrainQuery) -> BrainAnswer:
        now = self._clock.now()
        found = self._cache.get(query)
        if found and now - found[0] <= self._cache_ttl:
            return found[1]
        async with asyncio.timeout(self._timeout.total_seconds()):
            answer = await self._brain.ask(query, self._viewer)
        self._cache = {
            key: kept for key, kept in self._cache.items() if now - kept[0] <= self._cache_ttl
        }
        self._cache[query] = (now, answer)
        return answer
