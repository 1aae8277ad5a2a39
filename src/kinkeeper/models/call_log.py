"""Records every call: who asked for what, how it ended, what it took. Texts only where tracing is on."""

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

import structlog

from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.models.call_records import CallRecord, insert_call
from kinkeeper.models.endpoints import RoleModel
from kinkeeper.models.errors import ModelError
from kinkeeper.models.model import ChatModel, ChatReply, ChatRequest, Finish, Outcome
from kinkeeper.store.store import Store

log = structlog.get_logger()


@dataclass(slots=True)
class _Ending:
    """How a call ended, as far as is known."""

    reply: ChatReply | None = None
    outcome: Outcome = Outcome.CANCELLED


class Recorded:
    """A model whose calls are recorded, each in a transaction after it.

    Args:
        model: Answers.
        role: Which it is, and what its tokens cost.
        store: Keeps the records.
        clock: Tells when.
        keeps_text: Whether requests and answers are kept with them.
    """

    def __init__(
        self, model: ChatModel, role: RoleModel, *, store: Store, clock: Clock, keeps_text: bool
    ) -> None:
        self._model = model
        self._role = role
        self._store = store
        self._clock = clock
        self._keeps_text = keeps_text

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the whole answer.

        Raises:
            ModelError: There is none.
        """
        async with self._recorded(request) as ending:
            ending.reply = await self._model.complete(request)
            return ending.reply

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        """Yield the answer piece by piece, and the whole of it last.

        Raises:
            ModelError: It broke off, or never began.
        """
        async with (
            self._recorded(request) as ending,
            aclosing(self._model.stream(request)) as pieces,
        ):
            async for piece in pieces:
                if isinstance(piece, ChatReply):
                    ending.reply = piece
                yield piece

    @asynccontextmanager
    async def _recorded(self, request: ChatRequest) -> AsyncIterator[_Ending]:
        began, ending = time.perf_counter(), _Ending()
        try:
            yield ending
        except ModelError as error:
            ending.outcome = error.outcome
            raise
        finally:
            await self._keep(request, ending, milliseconds=1000 * (time.perf_counter() - began))

    async def _keep(self, request: ChatRequest, ending: _Ending, *, milliseconds: float) -> None:
        reply = ending.reply
        usage = reply.usage if reply else None
        record = CallRecord(
            request=request, at=self._clock.now(), model=reply.model if reply else self._role.model,
            outcome=outcome_of(request, reply) if reply else ending.outcome,
            milliseconds=milliseconds, usage=usage,
            cost_micros=self._role.price.micros(usage) if usage else 0,
            answered=reply.text if reply else None, keeps_text=self._keeps_text,
        )  # fmt: skip
        if usage and usage.is_input_cut:
            log.warning("models.input.cut", model=record.model, tokens=usage.input_tokens)
        try:
            await self._store.locking(request.household).write(
                lambda conn: insert_call(conn, record)
            )
        except UnavailableError as error:
            # The answer is there, and was paid for.
            log.warning("models.call.unrecorded", reason=type(error).__name__)


def outcome_of(request: ChatRequest, reply: ChatReply) -> Outcome:
    """Return how a call with an answer ended."""
    if reply.finish is Finish.REFUSAL:
        return Outcome.REFUSED_BY_MODEL
    is_cut = request.output is not None and reply.finish is Finish.LENGTH
    if is_cut or reply.usage.is_input_cut:
        return Outcome.TRUNCATED
    fits = request.output.fits if request.output else None
    if fits is not None and not fits(reply.text):
        return Outcome.INVALID_OUTPUT
    return Outcome.REPAIRED if request.is_repair else Outcome.OK
