"""The stages of a turn with their limits and failures, and the stop that its person says while it is at work."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

import structlog

from kinkeeper.conversation import turns
from kinkeeper.conversation.events import Poll
from kinkeeper.core.effort import MOST_FATIGUE, MOST_ROUNDS
from kinkeeper.core.errors import KinkeeperError
from kinkeeper.store.store import Store

log = structlog.get_logger()
T = TypeVar("T")


class Stage(StrEnum):
    """What a turn goes through."""

    CONTEXT = "context"
    MEMORIES = "memories"
    FETCH = "fetch"
    ROUTE = "route"
    QUESTION = "question"
    PLAN = "plan"
    ACT = "act"
    CRITIC = "critic"
    ANSWER = "answer"
    TYPING = "typing"
    COMMIT = "commit"
    TURN = "turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Longest times, and how much a turn may do.

    Attributes:
        context: Of looking up what was said before.
        memories: Of looking up memories.
        route: Of routing, model included.
        plan: Of one plan, model included.
        critic: Of a second look at what one request came to, with what it sets right.
        outside: Of waiting for a server outside after a yes.
        answer: Of the answer, model included.
        acting: Of all steps of a turn together.
        steps: Most plans of a turn.
        fatigue: What all steps may cost; see `Effort`.
        repeats: How often the same request running ends the acting.
        status_after: What takes longer is told.
        tools: Of everything a turn waits for behind the talk, from the first slow request on.
        in_line: How long a thread's next turns wait for one that waits for slow tools.
        beat: How often such a turn says that it goes on, and renews its claim.
    """

    context: timedelta = timedelta(seconds=2)
    memories: timedelta = timedelta(milliseconds=500)
    route: timedelta = timedelta(seconds=2)
    plan: timedelta = timedelta(seconds=20)
    action: timedelta = timedelta(seconds=10)
    critic: timedelta = timedelta(seconds=10)
    outside: timedelta = timedelta(seconds=5)
    answer: timedelta = timedelta(seconds=120)
    acting: timedelta = timedelta(seconds=60)
    steps: int = MOST_ROUNDS
    fatigue: float = MOST_FATIGUE
    repeats: int = 3
    status_after: timedelta = timedelta(seconds=2)
    tools: timedelta = timedelta(seconds=600)
    in_line: timedelta = timedelta(seconds=10)
    beat: timedelta = timedelta(seconds=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A stage that failed; the turn went on without it.

    Attributes:
        reason: The kind of error.
    """

    stage: Stage
    reason: str


@dataclass(slots=True)
class Course:
    """How a turn went: what failed, and how long each stage took.

    Attributes:
        failures: In order.
    """

    failures: list[Failure] = field(default_factory=list)
    took: dict[str, float] = field(default_factory=dict)

    async def attempt(
        self, stage: Stage, work: Callable[[], Awaitable[T]], fallback: T, *, within: timedelta
    ) -> T:
        """Return what a stage comes to, or the fallback where it fails or takes too long.

        Args:
            fallback: What the turn goes on with otherwise.
            within: Longest time.
        """
        async with self.timed(stage):
            try:
                async with asyncio.timeout(within.total_seconds()):
                    return await work()
            except Exception as error:  # noqa: BLE001 - a stage that breaks must not take the turn with it; it is counted
                self.note(stage, error)
                return fallback

    @asynccontextmanager
    async def timed(self, stage: Stage) -> AsyncIterator[None]:
        """Measure a stage; several times add up."""
        began = perf_counter()
        try:
            yield
        finally:
            took = (perf_counter() - began) * 1000
            self.took[stage] = round(self.took.get(stage, 0.0) + took, 3)

    def note(self, stage: Stage, error: BaseException | str) -> None:
        """Count a failure."""
        reason = error if isinstance(error, str) else type(error).__name__
        log.warning("conversation.stage.failed", stage=stage.value, reason=reason)
        self.failures.append(Failure(stage=stage, reason=reason))


# A person's word that a turn is to stop: what waits under it is broken off where it stands.


class StoppedError(KinkeeperError):
    """The person said stop."""


class StopSignal:
    """Whether the person of one turn said stop, as this process knows it."""

    def __init__(self) -> None:
        self._is_set = False
        self._waiting: set[asyncio.Task[Any]] = set()

    @property
    def is_set(self) -> bool:
        """Whether they did."""
        return self._is_set

    def set(self) -> None:
        """Stop; called on the turn's loop. Said again it changes nothing, so that what is being broken off can clear up."""
        if self._is_set:
            return
        self._is_set = True
        for task in self._waiting:
            task.cancel()

    @contextmanager
    def breaking_off(self) -> Iterator[None]:
        """Let a stop end whatever the block waits for; only for what may be left half-way.

        Raises:
            StoppedError: The person said stop, before it or meanwhile.
        """
        if self._is_set:
            raise StoppedError("the person said stop")
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only an asyncio task can be cancelled")
        before = task.cancelling()
        self._waiting.add(task)
        try:
            yield
        except asyncio.CancelledError:
            # As with a time limit: only a cancellation of our own becomes an error.
            if self.is_set and task.uncancel() <= before:
                raise StoppedError("the person said stop") from None
            raise
        finally:
            self._waiting.discard(task)


# The turns that one process works on, each of which hears a stop that its person says, here or to
# another process.


class UnderWay:
    """The turns of one household that this process works on."""

    def __init__(self, store: Store, household: str) -> None:
        self._store = store
        self._household = household
        self._signals: dict[str, StopSignal] = {}
        self._poll = Poll(self._hear, self._signals, name="conversation.stops")

    @contextmanager
    def working_on(self, turn_id: str) -> Iterator[StopSignal]:
        """Yield what tells the block that its turn is to stop."""
        signal = self._signals[turn_id] = StopSignal()
        self._poll.begin()
        try:
            yield signal
        finally:
            self._signals.pop(turn_id, None)

    def stop(self, turn_ids: Iterable[str]) -> None:
        """Break off what this process works on of turns that were told to stop."""
        for turn_id in turn_ids:
            if turn_id in self._signals:
                self._signals[turn_id].set()

    async def close(self) -> None:
        """Listen no more."""
        await self._poll.close()

    async def _hear(self) -> None:
        """Hear of what is said to other processes."""
        look = partial(turns.stopped_of, household=self._household, turn_ids=list(self._signals))
        self.stop(await self._store.read(look))
