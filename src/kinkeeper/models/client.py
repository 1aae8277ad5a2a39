"""Calls one model on one server, once, in the protocol that the server speaks."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from http import HTTPStatus

import msgspec
import structlog

from kinkeeper.models.connection import ServerConnection
from kinkeeper.models.endpoints import Dialect, RoleModel
from kinkeeper.models.errors import ModelError, StatusError
from kinkeeper.models.model import ChatReply, ChatRequest, Outcome
from kinkeeper.models.ollama_wire import OllamaWire
from kinkeeper.models.openai_wire import OpenAIWire
from kinkeeper.models.wire import Wire

log = structlog.get_logger()

_UNWANTED = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_ASKING_SECONDS = 5.0


class HttpServer:
    """A server as its clients know it: the connection, and what they learnt about it.

    Args:
        connection: To it.
        dialect: What it speaks.
    """

    def __init__(self, connection: ServerConnection, dialect: Dialect) -> None:
        self.connection = connection
        self._wire = _WIRES.get(dialect)
        self._without_schemas: set[str] = set()

    async def wire(self) -> Wire:
        """Return its protocol; where the settings leave it open, Ollama is known by its version.

        Raises:
            ModelError: It had to be asked, and cannot be reached.
        """
        if self._wire is None:
            base = await self.connection.base_path()
            self._wire = _WIRES[Dialect.OLLAMA if await self._is_ollama(base) else Dialect.OPENAI]
        return self._wire

    def takes_schemas(self, model: str) -> bool:
        """Whether nothing is known against a model's answering by schema."""
        return model not in self._without_schemas

    def note_no_schemas(self, model: str) -> None:
        """Remember that a model was refused with a schema and answered without."""
        log.warning("models.schema.refused", model=model)
        self._without_schemas.add(model)

    async def _is_ollama(self, base: str) -> bool:
        path = f"{base.removesuffix('/v1')}/api/version"
        try:
            answer = await self.connection.fetch(path, seconds=_ASKING_SECONDS)
            found = msgspec.json.decode(answer)
        except StatusError as error:
            if error.may_retry:
                raise
            return False
        except msgspec.DecodeError:
            return False
        return isinstance(found, dict) and isinstance(found.get("version"), str)


_WIRES: dict[Dialect, Wire] = {Dialect.OPENAI: OpenAIWire(), Dialect.OLLAMA: OllamaWire()}


class HttpChatModel:
    """One role's model on its server.

    Args:
        server: Shared by all roles on it.
        role: The model, and its bounds.
    """

    def __init__(self, server: HttpServer, role: RoleModel) -> None:
        self._server = server
        self._role = role

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the whole answer.

        Raises:
            ModelError: There is none.
        """
        try:
            return await self._completed(request, has_schema=self._has_schema(request))
        except StatusError as error:
            if not self._may_step_down(request, error):
                raise
        reply = await self._completed(request, has_schema=False)
        self._server.note_no_schemas(self._role.model)
        return reply

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        """Yield the answer piece by piece, and the whole of it last.

        Raises:
            ModelError: It broke off, or never began.
        """
        try:
            async with aclosing(
                self._streamed(request, has_schema=self._has_schema(request))
            ) as pieces:
                async for piece in pieces:
                    yield piece
                return
        except StatusError as error:
            if not self._may_step_down(request, error):
                raise
        async with aclosing(self._streamed(request, has_schema=False)) as pieces:
            async for piece in pieces:
                yield piece
        self._server.note_no_schemas(self._role.model)

    def _has_schema(self, request: ChatRequest) -> bool:
        return request.output is not None and self._server.takes_schemas(self._role.model)

    def _may_step_down(self, request: ChatRequest, error: StatusError) -> bool:
        return error.status in _UNWANTED and self._has_schema(request)

    async def _completed(self, request: ChatRequest, *, has_schema: bool) -> ChatReply:
        wire, connection = await self._server.wire(), self._server.connection
        answer = await connection.post(
            wire.path(await connection.base_path()),
            wire.body(request, self._role, is_streamed=False, has_schema=has_schema),
            is_ambient=request.is_ambient, seconds=self._role.timeout.total_seconds(),
        )  # fmt: skip
        return wire.reply(answer, request, self._role)

    async def _streamed(
        self, request: ChatRequest, *, has_schema: bool
    ) -> AsyncGenerator[str | ChatReply]:
        wire, connection = await self._server.wire(), self._server.connection
        reading = wire.reading(request, self._role)
        lines = connection.post_for_lines(
            wire.path(await connection.base_path()),
            wire.body(request, self._role, is_streamed=True, has_schema=has_schema),
            is_ambient=request.is_ambient, seconds=self._role.timeout.total_seconds(),
        )  # fmt: skip
        async with aclosing(lines):
            async for line in lines:
                if piece := reading.take(line):
                    yield piece
                if reading.is_done:
                    yield reading.reply()
                    return
        raise ModelError(
            "the model server ended its answer before it was whole", outcome=Outcome.SERVER_ERROR
        )
