"""The one way to language models: each role's model on its server, limited, budgeted and recorded.

Loading this loads what it takes to talk HTTP; without a model server in the settings nobody does.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import structlog

from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock, midnight
from kinkeeper.models import repository
from kinkeeper.models.client import HttpChatModel, HttpServer, answer_limit, at_most
from kinkeeper.models.connection import Resolver, ServerConnection, find_addresses
from kinkeeper.models.endpoints import DailyLimits, Endpoint, ModelConfig, RoleModel
from kinkeeper.models.limits import Limited, ServerLimits
from kinkeeper.models.model import (
    ChatModel,
    ChatReply,
    ChatRequest,
    Finish,
    ModelError,
    ModelRole,
    Outcome,
    Usage,
)
from kinkeeper.models.repository import Amount, CallRecord, insert_call, insert_fallback
from kinkeeper.store.store import Store

# Keeps a household within its day's budget: the most that a call can take is set aside before it
# begins.
#
# A call whose process dies stays counted in full until the day is over.

log = structlog.get_logger()

# No server saw these, so they take nothing of the day.
_NEVER_SENT = frozenset({Outcome.UNREACHABLE, Outcome.CIRCUIT_OPEN, Outcome.PUBLIC_HOST})
# The server refused at once: a call, without tokens.
_UNREAD = frozenset({Outcome.REJECTED, Outcome.OVERLOADED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Whose days have which limits.

    Attributes:
        store: Keeps what was used.
        limits: Of each household and local day.
    """

    store: Store
    limits: DailyLimits
    zones: Mapping[str, ZoneInfo]
    clock: Clock

    def today(self, household: str) -> date:
        """Return a household's local day."""
        return self.clock.now().astimezone(self.zones[household]).date()


@dataclass(slots=True, kw_only=True)
class _Reservation:
    """What was set aside for a call, and what it took.

    Attributes:
        most: What the call can take.
        taken: What it took; all of `most` until somebody knows better.
    """

    most: Amount
    taken: Amount = field(default_factory=Amount)


class Budgeted:
    """A model within the day's budget.

    Args:
        role: Which it is, and what its tokens cost.
        budget: Whose days have which limits.
    """

    def __init__(self, model: ChatModel, role: RoleModel, budget: Budget) -> None:
        self._model = model
        self._role = role
        self._budget = budget

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the whole answer."""
        async with self._reserved(request) as reservation:
            reply = await self._model.complete(request)
            reservation.taken = self._amount(reply.usage)
            return reply

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        """Yield the answer piece by piece, and the whole of it last."""
        async with (
            self._reserved(request) as reservation,
            aclosing(self._model.stream(request)) as pieces,
        ):
            async for piece in pieces:
                if isinstance(piece, ChatReply):
                    reservation.taken = self._amount(piece.usage)
                yield piece

    @asynccontextmanager
    async def _reserved(self, request: ChatRequest) -> AsyncIterator[_Reservation]:
        household, budget = request.household, self._budget
        day, most = budget.today(household), self._most(request)
        name = await budget.store.locking(household).write(
            lambda conn: repository.reserve(conn, household, day, wanted=most, limits=budget.limits)
        )
        if name is not None:
            raise self._refusal(name, household, day)
        reservation = _Reservation(most=most, taken=most)
        try:
            yield reservation
        except ModelError as error:
            reservation.taken = _taken_in_vain(error.outcome, most)
            raise
        finally:
            await self._settle(household, day, reservation.taken - most)

    async def _settle(self, household: str, day: date, change: Amount) -> None:
        if change == Amount():
            return
        try:
            await self._budget.store.locking(household).write(
                lambda conn: repository.add_spent(conn, household, day, change)
            )
        except UnavailableError as error:
            # What was set aside stays so: too much is counted, never too little.
            log.warning("models.budget.unsettled", reason=type(error).__name__)

    def _most(self, request: ChatRequest) -> Amount:
        return self._amount(
            Usage(input_tokens=at_most(request), output_tokens=answer_limit(request, self._role))
        )

    def _amount(self, usage: Usage) -> Amount:
        return Amount(
            calls=1,
            tokens=usage.input_tokens + usage.output_tokens,
            cost_micros=self._role.price.micros(usage),
        )

    def _refusal(self, name: str, household: str, day: date) -> ModelError:
        zone = self._budget.zones[household]
        renewal = midnight(day + timedelta(days=1), zone)
        return ModelError(
            f"today's model budget does not allow this call ({name}); it renews at "
            f"{renewal:%Y-%m-%d %H:%M} {zone.key}; to allow more, raise {name}",
            outcome=Outcome.OVER_BUDGET,
            retry_after=renewal - self._budget.clock.now(),
        )


def _taken_in_vain(outcome: Outcome, most: Amount) -> Amount:
    """Return what a call without an answer counts for: what is not known counts in full."""
    if outcome in _NEVER_SENT:
        return Amount()
    return Amount(calls=1) if outcome in _UNREAD else most


# Records every call: who asked for what, how it ended, what it took. Texts only where tracing is
# on.


@dataclass(slots=True)
class _Ending:
    """How a call ended, as far as is known."""

    reply: ChatReply | None = None
    outcome: Outcome = Outcome.CANCELLED


class Recorded:
    """A model whose calls are recorded, each in a transaction after it.

    Args:
        role: Which it is, and what its tokens cost.
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
        """Return the whole answer."""
        async with self._recorded(request) as ending:
            ending.reply = await self._model.complete(request)
            return ending.reply

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        """Yield the answer piece by piece, and the whole of it last."""
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
            request=request,
            at=self._clock.now(),
            model=reply.model if reply else self._role.model,
            outcome=outcome_of(request, reply) if reply else ending.outcome,
            milliseconds=milliseconds,
            usage=usage,
            cost_micros=self._role.price.micros(usage) if usage else 0,
            answered=reply.text if reply else None,
            keeps_text=self._keeps_text,
        )
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


@dataclass(frozen=True, slots=True)
class _Server:
    """A server, shared by all roles on it."""

    http: HttpServer
    limits: ServerLimits


class Gateway:
    """Answers calls by the settings. Use it on one event loop, and close it there.

    Args:
        config: Which models, within which bounds.
        zones: Of the households, by tenant key: their days are budgeted.
    """

    def __init__(
        self,
        config: ModelConfig,
        *,
        store: Store,
        clock: Clock,
        zones: Mapping[str, ZoneInfo],
        resolve: Resolver = find_addresses,
    ) -> None:
        self._config = config
        self._store = store
        self._clock = clock
        self._budget = Budget(store=store, limits=config.limits, zones=zones, clock=clock)
        self._resolve = resolve
        self._servers: dict[Endpoint, _Server] = {}
        self._models: dict[ModelRole, ChatModel] = {}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the whole answer.

        Raises:
            ModelError: There is none; its `outcome` says why.
        """
        return await self._model(request.role).complete(request)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        """Yield the answer piece by piece, and the whole of it last."""
        async with aclosing(self._model(request.role).stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        """Record that a stage went on without a model.

        Args:
            stage: "observer.extraction".
            outcome: Why there was no usable answer.
        """
        log.warning("models.stage.fell_back", stage=stage, outcome=outcome.value)
        now = self._clock.now()
        await self._store.locking(household).write(
            lambda conn: insert_fallback(conn, household, stage=stage, outcome=outcome, at=now)
        )

    async def close(self) -> None:
        """Close the connections; harmless to repeat."""
        for server in self._servers.values():
            await server.http.connection.close()

    async def __aenter__(self) -> Self:
        """Return the gateway."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.close()

    def _model(self, name: ModelRole) -> ChatModel:
        """Return a role's model: recorded, within the budget, within its server's limits, over HTTP."""
        model = self._models.get(name)
        if model is None:
            role = self._config.roles[name]
            server = self._server(role.endpoint)
            limited = Limited(HttpChatModel(server.http, role), server.limits, timeout=role.timeout)
            model = self._models[name] = Recorded(
                Budgeted(limited, role, self._budget),
                role,
                store=self._store,
                clock=self._clock,
                keeps_text=self._config.keeps_text,
            )
        return model

    def _server(self, endpoint: Endpoint) -> _Server:
        server = self._servers.get(endpoint)
        if server is None:
            connection = ServerConnection(
                endpoint, allows_public=self._config.allows_public, resolve=self._resolve
            )
            name = urlsplit(endpoint.url).hostname or "this machine"
            server = self._servers[endpoint] = _Server(
                HttpServer(connection, endpoint.dialect),
                ServerLimits(name, concurrency=self._config.concurrency),
            )
        return server
