"""The one way to language models: each role's model on its server, limited, budgeted and recorded.

Loading this loads what it takes to talk HTTP; without a model server in the settings nobody does.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import structlog

from kinkeeper.core.time import Clock
from kinkeeper.models.budget import Budget, Budgeted
from kinkeeper.models.call_log import Recorded
from kinkeeper.models.call_records import insert_fallback
from kinkeeper.models.client import HttpChatModel, HttpServer
from kinkeeper.models.connection import ServerConnection
from kinkeeper.models.endpoints import Endpoint, ModelConfig
from kinkeeper.models.limits import Limited, ServerLimits
from kinkeeper.models.model import ChatModel, ChatReply, ChatRequest, ModelRole, Outcome
from kinkeeper.models.privacy import Resolver, find_addresses
from kinkeeper.store.store import Store

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Server:
    """A server, shared by all roles on it."""

    http: HttpServer
    limits: ServerLimits


class Gateway:
    """Answers calls by the settings. Use it on one event loop, and close it there.

    Args:
        config: Which models, within which bounds.
        store: Keeps records and budgets.
        clock: Tells when.
        zones: Of the households, by tenant key: their days are budgeted.
        resolve: Looks host names up.
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
        """Yield the answer piece by piece, and the whole of it last.

        Raises:
            ModelError: It broke off, or never began.
        """
        async with aclosing(self._model(request.role).stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        """Record that a stage went on without a model.

        Args:
            household: Tenant key.
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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
                Budgeted(limited, role, self._budget), role,
                store=self._store, clock=self._clock, keeps_text=self._config.keeps_text,
            )  # fmt: skip
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
