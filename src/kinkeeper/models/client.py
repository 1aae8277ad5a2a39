"""Calls one model on one server, once, in the protocol that it speaks; or only looks whether it answers."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from http import HTTPStatus
from typing import Any, TypeVar

import structlog
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json

from kinkeeper.models.connection import ServerConnection
from kinkeeper.models.endpoints import Dialect, Endpoint, RoleModel
from kinkeeper.models.model import (
    ChatReply,
    ChatRequest,
    Finish,
    ModelError,
    Outcome,
    StatusError,
    Usage,
)

# How many tokens a text may have, where nobody counted. Pure.

_CHARACTERS_A_TOKEN = 4
# What templates put around each message: who speaks, where it begins and ends.
_AROUND_A_MESSAGE = 16
_MOST = 10_000_000
"""Tokens of a call; what a server claims beyond, or below nothing, would spend a budget or fill it up again."""


def estimated(text: str) -> int:
    """Return the usual number of tokens of a text."""
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def at_least(request: ChatRequest) -> int:
    """Return a number of tokens that no tokeniser stays below: one a word."""
    return sum(len(message.text.split()) for message in request.messages)


def at_most(request: ChatRequest) -> int:
    """Return a number of tokens that no tokeniser goes beyond: one a byte."""
    texts = sum(len(message.text.encode()) + _AROUND_A_MESSAGE for message in request.messages)
    schema = len(str(request.output.schema)) if request.output else 0
    return texts + schema


def usage_of(
    request: ChatRequest, answer: str, *, input_tokens: int | None, output_tokens: int | None
) -> Usage:
    """Return what a call took, estimated where its server does not say, or says what cannot be.

    Args:
        input_tokens: As the server counts; None where it does not.
        output_tokens: The same of the answer.
    """
    if input_tokens is None or output_tokens is None or not _can_be(input_tokens, output_tokens):
        sent = sum(estimated(message.text) for message in request.messages)
        return Usage(input_tokens=sent, output_tokens=estimated(answer), is_estimated=True)
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        is_input_cut=input_tokens < at_least(request),
    )


def _can_be(*counts: int) -> bool:
    return all(0 <= count <= _MOST for count in counts)


# What a server takes of a call to a model, as far as its refusals tell. Pure.

_LIMIT, _OTHER_LIMIT = "max_tokens", "max_completion_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How a model is to be asked.

    Attributes:
        takes_schema: Whether by schema; else for any JSON object, with the schema in the text.
        takes_temperature: Whether it may be told how freely to answer.
        limit_key: What the longest answer is called in OpenAI's protocol; newer models want another.
    """

    takes_schema: bool = True
    takes_temperature: bool = True
    limit_key: str = _LIMIT

    def after_refusal(self, parameter: str | None, *, has_schema: bool) -> "Manners | None":
        """Return how to ask after a call was refused; None where there is no other way.

        Args:
            parameter: What the server says it does not take; None where it does not say.
            has_schema: Whether the call asks for an answer by schema.
        """
        if parameter == _LIMIT and self.limit_key == _LIMIT:
            return replace(self, limit_key=_OTHER_LIMIT)
        if parameter == "temperature" and self.takes_temperature:
            return replace(self, takes_temperature=False)
        if has_schema and self.takes_schema:
            return replace(self, takes_schema=False)
        return None


T = TypeVar("T", bound=BaseModel)

_LONGEST_NAME = 200
"""Characters of a model's name."""

_USUAL_ANSWER = 1024
"""Tokens, where nobody says how long an answer may be."""


def decoded(kind: type[T], data: bytes) -> T:
    """Return what a part of an answer holds.

    Args:
        kind: What it must be.
    """
    try:
        return kind.model_validate_json(data, strict=True)
    except ValidationError as error:
        raise unreadable() from error


def unreadable() -> ModelError:
    """Return that an answer is none of the protocol."""
    return ModelError(
        "the model server's answer cannot be read; check MODEL_URL and MODEL_DIALECT",
        outcome=Outcome.SERVER_ERROR,
    )


def failed() -> ModelError:
    """Return that the server told of an error in the middle of an answer."""
    return ModelError(
        "the model server failed while answering; see its log", outcome=Outcome.SERVER_ERROR
    )


def messages_of(request: ChatRequest, *, is_schema_told: bool) -> list[dict[str, str]]:
    """Return the messages of a call as both protocols write them.

    Args:
        is_schema_told: Whether the schema is to stand in the first message.
    """
    messages = [{"role": each.author.value, "content": each.text} for each in request.messages]
    if request.output is not None and is_schema_told:
        schema = to_json(request.output.schema).decode()
        messages[0]["content"] += f"\n\nAnswer with one JSON object of this JSON Schema:\n{schema}"
    return messages


def model_of(told: str | None, role: RoleModel) -> str:
    """Return the name of who answered: as the server tells it if that is a name, else as it was asked for."""
    is_name = told is not None and told.isprintable() and 0 < len(told) <= _LONGEST_NAME
    return told if told is not None and is_name else role.model


def temperature_of(request: ChatRequest, role: RoleModel) -> float:
    """Return how freely the model is to answer."""
    wanted = request.temperature if role.temperature is None else role.temperature
    return 0.0 if wanted is None else wanted


def answer_limit(request: ChatRequest, role: RoleModel) -> int:
    """Return how many tokens an answer may have."""
    return role.max_output_tokens or request.max_output_tokens or _USUAL_ANSWER


# The protocol of OpenAI-compatible servers: /v1/chat/completions, pieces as server-sent events.
# Pure.

_FINISHES = {"length": Finish.LENGTH, "content_filter": Finish.REFUSAL}
_DATA = b"data:"
_DONE = b"[DONE]"


class _Text(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Text = _Text()
    delta: _Text = _Text()
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int = 0


class _OpenAIAnswer(BaseModel):
    choices: list[_Choice] = []
    model: str | None = None
    usage: _Usage | None = None
    error: Any = None


class _OpenAIListed(BaseModel):
    id: str


class _OpenAIList(BaseModel):
    data: list[_OpenAIListed]


class OpenAIWire:
    """Speaks it; `base` is the path of the server's address, mostly empty, without a slash at the end."""

    def path(self, base: str) -> str:
        """Return where calls are posted to; a base address without a path means its /v1."""
        return f"{base or '/v1'}/chat/completions"

    def body(
        self, request: ChatRequest, role: RoleModel, manners: Manners, *, is_streamed: bool
    ) -> Mapping[str, Any]:
        """Return what is posted."""
        body: dict[str, Any] = {
            "model": role.model,
            "messages": messages_of(request, is_schema_told=not manners.takes_schema),
            manners.limit_key: answer_limit(request, role),
        }
        if manners.takes_temperature:
            body["temperature"] = temperature_of(request, role)
        if is_streamed:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if request.output is not None and manners.takes_schema:
            schema = {"name": request.output.name, "strict": True, "schema": request.output.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.output is not None:
            body["response_format"] = {"type": "json_object"}
        return body

    def reply(self, data: bytes, request: ChatRequest, role: RoleModel) -> ChatReply:
        """Return the answer that a whole body holds."""
        answer = _answer(data)
        if not answer.choices:
            raise unreadable()
        choice = answer.choices[0]
        reading = OpenAIReading(request, role)
        reading.note(answer, choice.message)
        return reading.reply()

    def reading(self, request: ChatRequest, role: RoleModel) -> "OpenAIReading":
        """Return what reads an answer that comes in pieces."""
        return OpenAIReading(request, role)

    def list_path(self, base: str) -> str:
        """Return where a server lists its models."""
        return f"{base or '/v1'}/models"

    def listed(self, data: bytes) -> tuple[str, ...]:
        """Return the models that such a list names."""
        return tuple(each.id for each in decoded(_OpenAIList, data).data)


class OpenAIReading:
    """An answer as far as it came."""

    def __init__(self, request: ChatRequest, role: RoleModel) -> None:
        self._request = request
        self._role = role
        self._model: str | None = None
        self._texts: list[str] = []
        self._usage: _Usage | None = None
        self._finish = Finish.STOP
        self.is_done = False

    def take(self, line: bytes) -> str:
        """Read one line of the event stream; comments, names of events and blank lines add nothing."""
        if not line.startswith(_DATA):
            return ""
        data = line.removeprefix(_DATA).strip()
        if data == _DONE:
            self.is_done = True
            return ""
        answer = _answer(data)
        return self.note(answer, answer.choices[0].delta if answer.choices else _Text())

    def note(self, answer: _OpenAIAnswer, text: _Text) -> str:
        """Add what a part of the answer holds; returns its text."""
        self._model = answer.model or self._model
        self._usage = answer.usage or self._usage
        reason = answer.choices[0].finish_reason if answer.choices else None
        if reason is not None and self._finish is Finish.STOP:
            self._finish = _FINISHES.get(reason, Finish.STOP)
        if text.refusal:
            self._finish = Finish.REFUSAL
        piece = text.content or text.refusal or ""
        self._texts.append(piece)
        return piece

    def reply(self) -> ChatReply:
        """Return the whole answer."""
        text, counted = "".join(self._texts), self._usage
        usage = usage_of(
            self._request,
            text,
            input_tokens=counted.prompt_tokens if counted else None,
            output_tokens=counted.completion_tokens if counted else None,
        )
        return ChatReply(
            text=text, model=model_of(self._model, self._role), usage=usage, finish=self._finish
        )


def _answer(data: bytes) -> _OpenAIAnswer:
    answer = decoded(_OpenAIAnswer, data)
    if answer.error is not None:
        raise failed()
    return answer


# Ollama's own protocol: /api/chat, pieces as lines of JSON. Its OpenAI one does not take the
# context's size. Pure.


class _Message(BaseModel):
    content: str = ""


class _OllamaAnswer(BaseModel):
    message: _Message = _Message()
    model: str | None = None
    done: bool = False
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    error: Any = None


class _OllamaListed(BaseModel):
    name: str


class _OllamaList(BaseModel):
    models: list[_OllamaListed]


class OllamaWire:
    """Speaks it; `base` as of `OpenAIWire`."""

    def path(self, base: str) -> str:
        """Return where calls are posted to: beside the /v1 that the base address may name."""
        return f"{base.removesuffix('/v1')}/api/chat"

    def body(
        self, request: ChatRequest, role: RoleModel, manners: Manners, *, is_streamed: bool
    ) -> Mapping[str, Any]:
        """Return what is posted."""
        body: dict[str, Any] = {
            "model": role.model,
            "messages": messages_of(request, is_schema_told=not manners.takes_schema),
            "stream": is_streamed,
            # A model that first thinks aloud spends the answer's tokens on it.
            "think": False,
            "options": {
                "temperature": temperature_of(request, role),
                "num_predict": answer_limit(request, role),
                "num_ctx": role.context_tokens,
            },
        }
        if request.output is not None:
            body["format"] = request.output.schema if manners.takes_schema else "json"
        return body

    def reply(self, data: bytes, request: ChatRequest, role: RoleModel) -> ChatReply:
        """Return the answer that a whole body holds."""
        reading = OllamaReading(request, role)
        reading.take(data)
        if not reading.is_done:
            raise unreadable()
        return reading.reply()

    def reading(self, request: ChatRequest, role: RoleModel) -> "OllamaReading":
        """Return what reads an answer that comes in pieces."""
        return OllamaReading(request, role)

    def list_path(self, base: str) -> str:
        """Return where a server lists its models."""
        return f"{base.removesuffix('/v1')}/api/tags"

    def listed(self, data: bytes) -> tuple[str, ...]:
        """Return the models that such a list names."""
        return tuple(each.name for each in decoded(_OllamaList, data).models)


class OllamaReading:
    """An answer as far as it came."""

    def __init__(self, request: ChatRequest, role: RoleModel) -> None:
        self._request = request
        self._role = role
        self._texts: list[str] = []
        self._last = _OllamaAnswer()

    @property
    def is_done(self) -> bool:
        """Whether the server said that this was all."""
        return self._last.done

    def take(self, line: bytes) -> str:
        """Read one line, an object of its own."""
        if not line.strip():
            return ""
        self._last = decoded(_OllamaAnswer, line)
        if self._last.error is not None:
            raise failed()
        self._texts.append(self._last.message.content)
        return self._last.message.content

    def reply(self) -> ChatReply:
        """Return the whole answer."""
        text, last = "".join(self._texts), self._last
        usage = usage_of(
            self._request, text, input_tokens=last.prompt_eval_count, output_tokens=last.eval_count
        )
        finish = Finish.LENGTH if last.done_reason == "length" else Finish.STOP
        return ChatReply(
            text=text, model=model_of(last.model, self._role), usage=usage, finish=finish
        )


Wire = OpenAIWire | OllamaWire

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
            found = from_json(answer)
        except StatusError as error:
            return None if error.may_retry else False
        except ValueError:
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
        """Return the whole answer."""
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
        """Yield the answer piece by piece, and the whole of it last."""
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
            is_ambient=request.is_ambient,
            seconds=self._role.timeout.total_seconds(),
        )
        return wire.reply(answer, request, self._role)

    async def _streamed(
        self, request: ChatRequest, manners: Manners
    ) -> AsyncGenerator[str | ChatReply]:
        wire, connection = await self._server.wire(), self._server.connection
        reading = wire.reading(request, self._role)
        lines = connection.post_for_lines(
            wire.path(await connection.base_path()),
            wire.body(request, self._role, manners, is_streamed=True),
            is_ambient=request.is_ambient,
            seconds=self._role.timeout.total_seconds(),
        )
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
