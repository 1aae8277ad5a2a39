"""OpenAI's protocol: what a program asks in it, a turn's events as its text, and its errors."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Any

from pydantic import BaseModel, Field

from kinkeeper.conversation.model import EventName, TurnEvent
from kinkeeper.conversation.passing_on import Shown
from kinkeeper.conversation.turn import card_in_words, question_in_words
from kinkeeper.core.errors import InputError, NotFoundError, UnavailableError
from kinkeeper.core.ids import stable_id
from kinkeeper.messaging.message_json import storable

# What a program asks in OpenAI's protocol, and what of it is a person's message. Pure.
#
# Only the last message is taken as said, and only where it is the user's. What stands before it is
# the program's: it tells which conversation goes on, and nothing else. Instructions of system
# messages steer nothing.

_MOST_MESSAGES = 2000
_LONGEST_NAME = 500
_PERSON, _ASSISTANT = "user", "assistant"
_INSTRUCTING = frozenset({"system", "developer"})

Name = Annotated[str, Field(max_length=_LONGEST_NAME)]


class Part(BaseModel):
    """A part of a message; only text is understood."""

    type: str
    text: str | None = None


class Message(BaseModel):
    """One message as the program shows it."""

    role: str
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """Return its words."""
        if isinstance(self.content, list):
            return storable("\n".join(part.text for part in self.content if part.text is not None))
        return storable(self.content or "")

    @property
    def is_text(self) -> bool:
        """Whether it holds nothing but words."""
        return not isinstance(self.content, list) or all(
            part.type == "text" for part in self.content
        )


class Format(BaseModel):
    """The requested format of an answer."""

    type: str


class Completion(BaseModel):
    """A request for an answer. Its settings for sampling, lengths and tools are ignored.

    Attributes:
        model: The assistant's name, as /v1/models lists it.
        messages: The conversation as the program shows it; the last one is the person's.
        stream: Whether the answer is wanted in pieces.
        n: How many answers; there is one.
        user: Tells the program's users or conversations apart.
        tool_choice: What must be called; nothing is.
        response_format: Must be text.
        modalities: Must be text.
        audio: Must not be there.
        logprobs: Must not be wanted.
    """

    model: Name
    messages: Annotated[list[Message], Field(min_length=1, max_length=_MOST_MESSAGES)]
    stream: bool | None = None
    n: int | None = None
    user: Name | None = None
    tool_choice: Any = None
    response_format: Format | None = None
    modalities: list[str] | None = None
    audio: Any = None
    logprobs: bool | None = None


def require_model(name: str, bot_name: str) -> None:
    """Refuse a model that is not the household's assistant."""
    if name.strip().casefold() != bot_name.casefold():
        raise NotFoundError(
            f"there is no model {name!r} here; the household's assistant is {bot_name!r}"
        )


def shown_by(wanted: Completion, login: str, *, named: str | None, message_id: str | None) -> Shown:
    """Return the person's message, and what tells which conversation it belongs to.

    Args:
        login: Id of the key that the program came in with.
        named: The program's name of the conversation, where it has one.
        message_id: The program's id of the request, where it has one.

    Raises:
        InputError: It asks for what there is not, or the last message is not a person's words.
    """
    _require_possible(wanted)
    talk = [each for each in wanted.messages if each.role not in _INSTRUCTING]
    if not talk or talk[-1].role != _PERSON:
        raise InputError("the last message must be the user's")
    if not talk[-1].is_text:
        raise InputError("only text is supported: no images, audio or files")
    said = [each.text for each in talk if each.role == _PERSON]
    conversation = ["named", named] if named else ["begun", said[0]]
    return Shown(
        place=stable_id(login, wanted.user or "", *conversation),
        said=said,
        answered=_last_answer(talk),
        is_named=bool(named),
        message_id=f"key:{message_id}" if message_id else None,
    )


def _last_answer(talk: Sequence[Message]) -> str:
    """Return what the assistant said right before the person's message, as far as it is shown."""
    before = talk[-2:-1]
    return before[0].text if before and before[0].role == _ASSISTANT else ""


def _require_possible(wanted: Completion) -> None:
    if wanted.n not in {None, 1}:
        raise InputError("n must be 1, because each request is carried out once")
    if wanted.response_format is not None and wanted.response_format.type != "text":
        raise InputError("response_format must be text")
    if wanted.audio is not None or (wanted.modalities or ["text"]) != ["text"]:
        raise InputError("answers are text only: no audio")
    if wanted.logprobs:
        raise InputError("logprobs are not available, because not every answer comes from a model")
    if wanted.tool_choice not in (None, "auto", "none"):
        raise InputError("your own tools cannot be called here; leave out tool_choice")


# A turn's events as one text: the answer as it comes, then what was found, then what waits for a
# yes and how to say it.

_NOTHING_TO_SAY = "Okay."
_BETWEEN = "\n\n"
_HOW = "Answer “yes” to have this done, or “no” to leave it."
_HOW_SEVERAL = "Each of these waits for your answer: say which, with “yes” or “no”."
_ADULTS_ONLY = "An adult in the household has to approve that."


@dataclass(slots=True)
class Telling:
    """Puts one turn into words.

    Args:
        is_adult: Whether who speaks may say yes.
    """

    is_adult: bool
    told: str = ""
    cards: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    is_over: bool = False

    async def pieces(self, events: AsyncIterator[TurnEvent]) -> AsyncGenerator[str]:
        """Yield the text in pieces; "" where the turn is under way and there is nothing to say yet.

        Args:
            events: Of the turn, to its end.

        Raises:
            UnavailableError: The turn broke down; the same request again takes it up again.
        """
        async for event in events:
            for piece in self._of(event):
                self.told += piece
                yield piece

    def _of(self, event: TurnEvent) -> Iterator[str]:
        data = event.data
        match event.name:
            case EventName.TOKEN:
                yield data["text"]
            case EventName.STATUS:
                yield _BETWEEN if data.get("restart") and self.told else ""
            case EventName.CARD:
                if data["items"]:
                    self.cards.append(card_in_words(data["title"], data["items"]))
            case EventName.CONFIRM:
                action = data["action"]
                self.questions.append(question_in_words(action["summary"], action.get("shown")))
            case EventName.ERROR:
                raise UnavailableError(data["message"])
            case EventName.DONE:
                self.is_over = True
                yield from self._rest(data.get("text") or "")

    def _rest(self, answer: str) -> Iterator[str]:
        """Yield what is left to say once the answer is whole."""
        if answer.startswith(self.told):
            yield answer.removeprefix(self.told)
        elif not self.told.endswith(answer):
            yield f"{_BETWEEN}{answer}"
        more = [*self.cards, *self.questions, *self._how()]
        if more:
            yield (_BETWEEN if answer else "") + _BETWEEN.join(more)
        elif not answer and not self.told:
            yield _NOTHING_TO_SAY

    def _how(self) -> Iterator[str]:
        if self.questions:
            yield (
                _ADULTS_ONLY
                if not self.is_adult
                else (_HOW if len(self.questions) == 1 else _HOW_SEVERAL)
            )


# Errors as OpenAI's protocol has them. Pure.

PATHS = "/v1/"
"""What the addresses of this protocol begin with."""

# What is wrong with a value is 400 there, whatever it is.
_STATUS = {HTTPStatus.UNPROCESSABLE_ENTITY: HTTPStatus.BAD_REQUEST}
_KINDS: dict[int, tuple[str, str | None]] = {
    HTTPStatus.UNAUTHORIZED: ("authentication_error", "invalid_api_key"),
    HTTPStatus.FORBIDDEN: ("permission_error", None),
    HTTPStatus.NOT_FOUND: ("invalid_request_error", "not_found"),
    HTTPStatus.TOO_MANY_REQUESTS: ("rate_limit_error", "rate_limit_exceeded"),
}


def status_there(status: int) -> int:
    """Return the status that an error has in that protocol."""
    return _STATUS.get(HTTPStatus(status), status)


def error_body(status: int, message: str, *, param: str | None = None) -> dict[str, Any]:
    """Return an error.

    Args:
        message: What is wrong and what to do.
        param: The value that is wrong, where it is one.
    """
    usual = ("invalid_request_error", None) if status < 500 else ("server_error", None)  # noqa: PLR2004 - HTTP's own line
    kind, code = _KINDS.get(status, usual)
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
