"""Keeps a call within bounds: the time for it, tries, calls at a time to a server, rest for one that fails."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from kinkeeper.models.model import ChatModel, ChatReply, ChatRequest, ModelError, Outcome

# A circuit breaker: a server that keeps failing is left alone for a while, then tried with one
# call. Pure.

FAILURES = 5
_FIRST_REST_SECONDS = 15.0
_LONGEST_REST_SECONDS = 240.0


class Admission(StrEnum):
    """As what a call was let through."""

    CALL = "call"
    PROBE = "probe"  # the only one, to see whether the server is well again


@dataclass(slots=True)
class Breaker:
    """The breaker of one server. Instants are seconds of any clock that never goes back.

    Every call that is let through is followed by exactly one of `succeeded`, `failed`, `abandoned`.

    Attributes:
        rests: How often in a row it opened.
        open_until: From when on a probe is let through; None while closed.
        is_probing: Whether one is under way.
    """

    failures: int = 0
    rests: int = 0
    open_until: float | None = None
    is_probing: bool = False

    def admit(self, now: float) -> Admission | None:
        """Let a call through, or not."""
        if self.open_until is None:
            return Admission.CALL
        if self.is_probing or now < self.open_until:
            return None
        self.is_probing = True
        return Admission.PROBE

    def succeeded(self) -> None:
        """Close it: the server answered."""
        self.failures, self.rests, self.open_until, self.is_probing = 0, 0, None, False

    def failed(self, admission: Admission, now: float) -> None:
        """Count a failure of the server; enough in a row, or one of a probe, open it.

        A call that began before it opened says nothing new.
        """
        self.failures += 1
        is_too_many = self.open_until is None and self.failures >= FAILURES
        if admission is Admission.PROBE or is_too_many:
            self._open(now)

    def abandoned(self, admission: Admission) -> None:
        """Forget a call whose caller gave up: it says nothing about the server."""
        if admission is Admission.PROBE:
            self.is_probing = False

    def _open(self, now: float) -> None:
        rest = min(_FIRST_REST_SECONDS * 2**self.rests, _LONGEST_REST_SECONDS)
        self.open_until, self.rests, self.is_probing = now + rest, self.rests + 1, False


# Whether and when a call is tried again.

_TRIES = 3
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 8.0
_CHANCES = 1000


def pause_before_retry(
    error: ModelError, *, tried: int, seconds_left: float, chance: float
) -> float | None:
    """Return how many seconds to wait before the next try; None where there is to be none.

    Args:
        tried: How many tries there were, >= 1.
        seconds_left: Until the time for the whole call is over.
        chance: In [0, 1): spreads callers who failed together over half of the pause.
    """
    if not error.may_retry or tried >= _TRIES:
        return None
    usual = min(_FIRST_PAUSE_SECONDS * 2 ** (tried - 1), _LONGEST_PAUSE_SECONDS)
    asked = error.retry_after.total_seconds() if error.retry_after is not None else 0.0
    pause = max(usual * (1 - chance / 2), asked)
    return pause if pause < seconds_left else None


async def pause_or_raise(error: ModelError, *, tried: int, deadline: float) -> None:
    """Wait until a call that failed is to be tried again.

    Args:
        tried: How many tries there were, >= 1.
        deadline: Of the whole call, on the event loop's clock.

    Raises:
        ModelError: The same, where there is to be no other try.
    """
    pause = pause_before_retry(
        error,
        tried=tried,
        seconds_left=deadline - asyncio.get_running_loop().time(),
        chance=secrets.randbelow(_CHANCES) / _CHANCES,
    )
    if pause is None:
        raise error
    await asyncio.sleep(pause)


# What says that a server is not well. A refused request or a public host says nothing of the kind.
_FAILURES = frozenset(
    {Outcome.TIMEOUT, Outcome.UNREACHABLE, Outcome.OVERLOADED, Outcome.SERVER_ERROR}
)


class ServerLimits:
    """What all roles on one server share.

    Args:
        concurrency: Most calls at a time, > 0.
    """

    def __init__(self, name: str, *, concurrency: int) -> None:
        self.breaker = Breaker()
        self._name = name
        self._slots = asyncio.Semaphore(concurrency)

    @asynccontextmanager
    async def held(self, deadline: float) -> AsyncIterator[None]:
        """Hold one of the server's slots for the length of the block.

        Args:
            deadline: On the event loop's clock: how long to wait for one.

        Raises:
            ModelError: None came free, or the server is left alone for now.
        """
        try:
            async with asyncio.timeout_at(deadline):
                await self._slots.acquire()
        except TimeoutError as error:
            raise ModelError(
                f"the model server at {self._name} had no free slot; allow more with "
                "MODEL_CONCURRENCY if it can take them",
                outcome=Outcome.OVERLOADED,
            ) from error
        try:
            with self._guarded():
                yield
        finally:
            self._slots.release()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        clock = asyncio.get_running_loop().time
        admission = self.breaker.admit(clock())
        if admission is None:
            raise ModelError(
                f"the model server at {self._name} failed {self.breaker.failures} times in a row and is not called for a while",
                outcome=Outcome.CIRCUIT_OPEN,
            )
        is_settled = False
        try:
            yield
            self.breaker.succeeded()
            is_settled = True
        except ModelError as error:
            is_settled = True
            if error.outcome in _FAILURES:
                self.breaker.failed(admission, clock())
            elif error.outcome is Outcome.PUBLIC_HOST:
                self.breaker.abandoned(admission)
            else:
                self.breaker.succeeded()
            raise
        finally:
            if not is_settled:
                self.breaker.abandoned(admission)


class Limited:
    """A model within its bounds.

    Args:
        model: Tries a call once.
        server: What it shares with others on its server.
        timeout: Of a whole call: waiting, tries and pauses.
    """

    def __init__(self, model: ChatModel, server: ServerLimits, *, timeout: timedelta) -> None:
        self._model = model
        self._server = server
        self._timeout = timeout

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the whole answer."""
        deadline = self._deadline()
        tried = 0
        while True:
            tried += 1
            try:
                async with self._server.held(deadline), self._in_time(deadline):
                    return await self._model.complete(request)
            except ModelError as error:
                await pause_or_raise(error, tried=tried, deadline=deadline)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        """Yield the answer piece by piece, and the whole of it last; tries again only before the first."""
        deadline = self._deadline()
        tried, has_begun = 0, False
        while True:
            tried += 1
            try:
                async with (
                    self._server.held(deadline),
                    aclosing(self._model.stream(request)) as pieces,
                ):
                    while True:
                        # Only the waiting for a piece counts here, not what the reader does with it.
                        async with self._in_time(deadline):
                            piece = await anext(pieces, None)
                        if piece is None:
                            return
                        has_begun = True
                        yield piece
            except ModelError as error:
                if has_begun:
                    raise
                await pause_or_raise(error, tried=tried, deadline=deadline)

    def _deadline(self) -> float:
        return asyncio.get_running_loop().time() + self._timeout.total_seconds()

    @asynccontextmanager
    async def _in_time(self, deadline: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout_at(deadline):
                yield
        except TimeoutError as error:
            seconds = self._timeout.total_seconds()
            raise ModelError(
                f"the model did not answer within {seconds:g} s; allow more with MODEL_TIMEOUT_SECONDS, or use a smaller model",
                outcome=Outcome.TIMEOUT,
            ) from error
