"""Keeps a call within bounds: the time for it, tries, calls at a time to a server, rest for one that fails."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from datetime import timedelta

from kinkeeper.models.breaker import Breaker
from kinkeeper.models.errors import ModelError
from kinkeeper.models.model import ChatModel, ChatReply, ChatRequest, Outcome
from kinkeeper.models.retry import pause_or_raise

# What says that a server is not well. A refused request or a public host says nothing of the kind.
_FAILURES = frozenset(
    {Outcome.TIMEOUT, Outcome.UNREACHABLE, Outcome.OVERLOADED, Outcome.SERVER_ERROR}
)


class ServerLimits:
    """What all roles on one server share.

    Args:
        name: Of the server, for messages.
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
        """Return the whole answer.

        Raises:
            ModelError: There is none in time.
        """
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
        """Yield the answer piece by piece, and the whole of it last; tries again only before the first.

        Raises:
            ModelError: It broke off, or did not come in time.
        """
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
