"""A call to a language model, its answer, and what can go wrong: values, and the protocol of who answers."""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Protocol

from kinkeeper.core.errors import UnavailableError


class ModelRole(StrEnum):
    """What a call is for; the settings say which model does it."""

    LIGHT = "light"
    PRIMARY = "primary"
    STRONG = "strong"
    EXTRACTION = "extraction"


class Author(StrEnum):
    """Whose turn a message of a call is."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Finish(StrEnum):
    """Why a model stopped."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"


class Outcome(StrEnum):
    """How a call ended, as it is recorded and counted."""

    OK = "ok"
    REPAIRED = "repaired"
    INVALID_OUTPUT = "invalid_output"
    TRUNCATED = "truncated"
    REFUSED_BY_MODEL = "refused_by_model"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    REJECTED = "rejected"  # the server wants another key, model or path; trying again is no use
    CIRCUIT_OPEN = "circuit_open"
    OVER_BUDGET = "over_budget"
    PUBLIC_HOST = "public_host"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a call.

    Attributes:
        author: Whose turn it is.
    """

    author: Author
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRef:
    """Which prompt a call was made from.

    Attributes:
        id: "observer.extract_coordination".
        version: Counts up with every change.
        hash: SHA-256 of the prompt's file, hex.
    """

    id: str
    version: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSchema:
    """The shape that an answer must have.

    Attributes:
        name: Letters, digits and underscores.
        schema: JSON Schema of the object.
        fits: Tells whether a text is such an object; None where only the caller can tell.
    """

    name: str
    schema: Mapping[str, Any]
    fits: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One call.

    Attributes:
        prompt: What it was made from.
        messages: Static instructions first, so that a server's prefix cache takes them; never empty.
        household: Tenant key: whose budget it is.
        is_ambient: Whether it holds text that nobody addressed to the assistant; such text does not
            leave for a public host unless the settings allow it.
        output: Shape of the answer; None for free text.
        max_output_tokens: Longest answer that the job needs, > 0; where the role says another, that counts.
        temperature: That the job needs, >= 0; where the role says another, that counts.
        is_repair: Whether it asks to correct an answer that did not fit.
    """

    role: ModelRole
    prompt: PromptRef
    messages: tuple[ChatMessage, ...]
    household: str
    is_ambient: bool
    output: OutputSchema | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    is_repair: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a call took.

    Attributes:
        is_estimated: Whether the server did not say and they are counted from the texts' lengths.
        is_input_cut: Whether the server read fewer tokens than the request has words: it silently
            left out a part.
    """

    input_tokens: int
    output_tokens: int
    is_estimated: bool = False
    is_input_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """A whole answer.

    Attributes:
        text: As it came; nothing in it is to be believed unchecked.
        model: The model that answered, as its server names it.
        finish: Why it ended.
    """

    text: str
    model: str
    usage: Usage
    finish: Finish


class ChatModel(Protocol):
    """Answers calls; wrappers of it are one subject each."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the whole answer.

        Raises:
            ModelError: There is none; its `outcome` says why.
        """
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        """Yield the answer piece by piece, and the whole of it last.

        Closing the generator cancels the call on the server's side, too.
        """
        ...


class ModelGateway(ChatModel, Protocol):
    """The way to all models, which also counts where a stage did without one."""

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        """Record that a stage went on without a model.

        Args:
            stage: "observer.extraction".
            outcome: Why there was no usable answer.
        """
        ...


# What can go wrong with a call to a model; the caller has a fallback for each.


class ModelError(UnavailableError):
    """There is no usable answer; the message says why, and never holds text of the call.

    Attributes:
        outcome: How the call ended.
        may_retry: Whether the server said that the same call may succeed soon.
        retry_after: How long it asked to wait, >= 0; None where it did not say.
    """

    def __init__(
        self,
        message: str,
        *,
        outcome: Outcome,
        may_retry: bool = False,
        retry_after: timedelta | None = None,
        **context: object,
    ) -> None:
        super().__init__(message, **context)
        self.outcome = outcome
        self.may_retry = may_retry
        self.retry_after = retry_after


class StatusError(ModelError):
    """The server answered with an error's status.

    Attributes:
        status: Of HTTP.
        parameter: What of the request it does not take, where it says so.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        outcome: Outcome,
        may_retry: bool,
        retry_after: timedelta | None = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(message, outcome=outcome, may_retry=may_retry, retry_after=retry_after)
        self.status = status
        self.parameter = parameter
