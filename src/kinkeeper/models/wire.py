"""What a protocol of model servers must tell the client that speaks it."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import msgspec

from kinkeeper.models.endpoints import RoleModel
from kinkeeper.models.errors import ModelError
from kinkeeper.models.manners import Manners
from kinkeeper.models.model import ChatReply, ChatRequest, Outcome

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
        data: As it came.

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
        request: The call.
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
