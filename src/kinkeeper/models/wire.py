"""What a protocol of model servers must tell its client, what a server takes, and how tokens are counted."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import msgspec

from kinkeeper.models.endpoints import RoleModel
from kinkeeper.models.model import ChatReply, ChatRequest, ModelError, Outcome, Usage

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
        input_tokens=input_tokens, output_tokens=output_tokens,
        is_input_cut=input_tokens < at_least(request),
    )  # fmt: skip


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


T = TypeVar("T")

_LONGEST_NAME = 200
"""Characters of a model's name."""

_USUAL_ANSWER = 1024
"""Tokens, where nobody says how long an answer may be."""


class Reading(Protocol):
    """An answer that comes in pieces, as far as it was read."""

    @property
    def is_done(self) -> bool:
        """Whether the server said that this was all."""
        ...

    def take(self, line: bytes) -> str:
        """Read one line; returns what it adds to the answer, perhaps nothing.

        Raises:
            ModelError: It is no line of this protocol, or tells of an error.
        """
        ...

    def reply(self) -> ChatReply:
        """Return the whole answer."""
        ...


class Wire(Protocol):
    """One protocol: where to post, what, and how to read what comes. Pure."""

    def path(self, base: str) -> str:
        """Return where calls are posted to.

        Args:
            base: Path of the server's base address, without a slash at the end; mostly empty.
        """
        ...

    def body(
        self, request: ChatRequest, role: RoleModel, manners: Manners, *, is_streamed: bool
    ) -> Mapping[str, Any]:
        """Return what is posted.

        Args:
            request: The call.
            role: The model that is to answer, and its bounds.
            manners: How it is to be asked.
            is_streamed: Whether the answer is to come in pieces.
        """
        ...

    def reply(self, data: bytes, request: ChatRequest, role: RoleModel) -> ChatReply:
        """Return the answer that a whole body holds.

        Raises:
            ModelError: It holds none.
        """
        ...

    def reading(self, request: ChatRequest, role: RoleModel) -> Reading:
        """Return what reads an answer that comes in pieces."""
        ...

    def list_path(self, base: str) -> str:
        """Return where a server lists its models.

        Args:
            base: As of `path`.
        """
        ...

    def listed(self, data: bytes) -> tuple[str, ...]:
        """Return the models that such a list names.

        Raises:
            ModelError: It is no such list.
        """
        ...


def decoded(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """Return what a part of an answer holds.

    Args:
        decoder: Of the type that it must have.

    Raises:
        ModelError: It does not have that type.
    """
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
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
        "the model server failed while answering; see its log",
        outcome=Outcome.SERVER_ERROR,
    )


def messages_of(request: ChatRequest, *, is_schema_told: bool) -> list[dict[str, str]]:
    """Return the messages of a call as both protocols write them.

    Args:
        is_schema_told: Whether the schema is to stand in the first message.
    """
    messages = [{"role": each.author.value, "content": each.text} for each in request.messages]
    if request.output is not None and is_schema_told:
        schema = msgspec.json.encode(request.output.schema).decode()
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
