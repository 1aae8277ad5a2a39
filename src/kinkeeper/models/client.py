"""Calls one model on one server, once, in the protocol that it speaks; or only looks whether it answers."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict, dataclass
from http import HTTPStatus

import msgspec
import structlog

from kinkeeper.models.connection import ServerConnection
from kinkeeper.models.endpoints import Dialect, Endpoint, RoleModel
from kinkeeper.models.model import ChatReply, ChatRequest, ModelError, Outcome, StatusError
from kinkeeper.models.protocols import OllamaWire, OpenAIWire
from kinkeeper.models.wire import Manners, Wire

log = structlog.get_logger()

_UNWANTED = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_ASKING_SECONDS = 5.0


class HttpServer:
    """A server as its clients know it: the connection, and what they learnt about it."""

    def __init__(self, connection: ServerConnection, dialect: Dialect) -> None:
        self.connection = connection
        self._wire = _WIRES.get(dialect)
        self._manners: dict[str, Manners] = {}

    async def wire(self) -> Wire:
        """Return its protocol; where the settings leave it open, Ollama is known by its version.

        Raises:
            ModelError: It had to be asked, and cannot be reached.
        """
        if self._wire is None:
            is_ollama = await self._is_ollama(await self.connection.base_path())
            if is_ollama is None:
                return _WIRES[Dialect.OPENAI]
            self._wire = _WIRES[Dialect.OLLAMA if is_ollama else Dialect.OPENAI]
        return self._wire

    def manners(self, model: str) -> Manners:
        """Return how a model is to be asked, as far as is known."""
        return self._manners.get(model, _USUAL)

    def note_manners(self, model: str, manners: Manners) -> None:
        """Remember how a model was asked with success."""
        if manners != self.manners(model):
            log.warning("models.manners.learnt", model=model, **asdict(manners))
            self._manners[model] = manners

    async def _is_ollama(self, base: str) -> bool | None:
        """Whether it knows its version as Ollama does; None where it is not well enough to tell."""
        path = f"{base.removesuffix('/v1')}/api/version"
        try:
            answer = await self.connection.fetch(path, seconds=_ASKING_SECONDS)
            found = msgspec.json.decode(answer)
        except StatusError as error:
            return None if error.may_retry else False
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return False
        return isinstance(found, dict) and isinstance(found.get("version"), str)


_USUAL = Manners()
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
        manners = self._server.manners(self._role.model)
        while True:
            try:
                reply = await self._completed(request, manners)
            except StatusError as error:
                manners = _other_manners(request, manners, error)
            else:
                self._server.note_manners(self._role.model, manners)
                return reply

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        """Yield the answer piece by piece, and the whole of it last.

        Raises:
            ModelError: It broke off, or never began.
        """
        manners = self._server.manners(self._role.model)
        while True:
            try:
                async with aclosing(self._streamed(request, manners)) as pieces:
                    async for piece in pieces:
                        yield piece
            except StatusError as error:
                manners = _other_manners(request, manners, error)
            else:
                self._server.note_manners(self._role.model, manners)
                return

    async def _completed(self, request: ChatRequest, manners: Manners) -> ChatReply:
        wire, connection = await self._server.wire(), self._server.connection
        answer = await connection.post(
            wire.path(await connection.base_path()),
            wire.body(request, self._role, manners, is_streamed=False),
            is_ambient=request.is_ambient, seconds=self._role.timeout.total_seconds(),
        )  # fmt: skip
        return wire.reply(answer, request, self._role)

    async def _streamed(
        self, request: ChatRequest, manners: Manners
    ) -> AsyncGenerator[str | ChatReply]:
        wire, connection = await self._server.wire(), self._server.connection
        reading = wire.reading(request, self._role)
        lines = connection.post_for_lines(
            wire.path(await connection.base_path()),
            wire.body(request, self._role, manners, is_streamed=True),
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
            "the model server ended its answer before it was complete", outcome=Outcome.SERVER_ERROR
        )


def _other_manners(request: ChatRequest, manners: Manners, error: StatusError) -> Manners:
    """Return how to ask after a refusal; raises it where it has nothing to do with how."""
    other = manners.after_refusal(error.parameter, has_schema=request.output is not None)
    if error.status not in _UNWANTED or other is None:
        raise error
    return other


# Looks at a model server without asking a model anything: does it answer, how fast, what does it
# have.

_SECONDS = 5.0
_USUAL_TAG = ":latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLook:
    """How a server looked.

    Attributes:
        is_private: Whether chat text may go there without being allowed to.
        milliseconds: Until it had listed its models; None where it did not.
        models: That it has; none where it did not say.
        problem: Why it cannot be used, and how to mend it; None where it can.
    """

    url: str
    is_private: bool = True
    milliseconds: float | None = None
    models: tuple[str, ...] = ()
    problem: str | None = None

    def has(self, model: str) -> bool:
        """Whether it has a model; Ollama's usual tag may be left out."""
        return model in self.models or model + _USUAL_TAG in self.models


async def look_at(endpoint: Endpoint) -> ServerLook:
    """Look at a server for a few seconds at most."""
    connection = ServerConnection(endpoint, allows_public=False)
    is_private = True
    try:
        async with asyncio.timeout(_SECONDS):
            is_private = await connection.is_private()
            wire = await HttpServer(connection, endpoint.dialect).wire()
            path = wire.list_path(await connection.base_path())
            began = time.perf_counter()
            listed = wire.listed(await connection.fetch(path, seconds=_SECONDS))
            milliseconds = 1000 * (time.perf_counter() - began)
    except ModelError as error:
        return ServerLook(url=endpoint.url, is_private=is_private, problem=str(error))
    except TimeoutError:
        silent = f"it did not answer within {_SECONDS:g} s"
        return ServerLook(url=endpoint.url, is_private=is_private, problem=silent)
    finally:
        await connection.close()
    return ServerLook(
        url=endpoint.url, is_private=is_private, milliseconds=milliseconds, models=listed
    )
