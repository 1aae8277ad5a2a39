"""POST /v1/chat/completions and GET /v1/models: the conversation for programs that speak OpenAI's protocol.

A request is a turn like any other: stored before it is answered, and worked on whether or not somebody reads. Whatever
it would change waits for a yes, since nobody here sees who types on the other side.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel
from pydantic_core import to_json

from kinkeeper.conversation.conversation import Said
from kinkeeper.core.errors import UnavailableError
from kinkeeper.messaging.message_json import storable
from kinkeeper.web.access.door import Reader, door_of
from kinkeeper.web.access.model import Person
from kinkeeper.web.context import context_of
from kinkeeper.web.live import ALIVE, HEADERS, alive
from kinkeeper.web.openai_protocol import Completion, Telling, error_body, require_model, shown_by
from kinkeeper.web.speakers import conversation_of

router = APIRouter(prefix="/v1", tags=["programs"])

_MAKER = "kinkeeper"
_DONE = "data: [DONE]\n\n"
_TOO_LATE = "this is taking too long for one request; ask again later"
_UNAVAILABLE = 503

Named = Annotated[str | None, Header(max_length=200)]
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; with `stream`, its pieces as server-sent events.",
        "content": {"application/json": {}, "text/event-stream": {}},
    }
}


class Model(BaseModel):
    """The model that a program can choose: the household's assistant."""

    id: str
    object: str = "model"
    created: int = 0
    owned_by: str = _MAKER


class Models(BaseModel):
    """All models."""

    object: str = "list"
    data: list[Model]


@router.get("/models")
async def list_models(person: Reader) -> Models:
    """List the assistant as a model."""
    return Models(data=[Model(id=person.household.bot_name)])


@router.get("/models/{model}")
async def tell_model(person: Reader, model: str) -> Model:
    """Return the model if the assistant has this name."""
    require_model(model, person.household.bot_name)
    return Model(id=person.household.bot_name)


@router.post("/chat/completions", responses=_ANSWERS, response_class=Response)
async def complete(
    request: Request,
    person: Reader,
    wanted: Completion,
    *,
    x_conversation_id: Named = None,
    x_openwebui_chat_id: Named = None,
    idempotency_key: Named = None,
) -> Response:
    """Send the last message to the assistant and return the answer, in pieces with `stream`.

    Earlier messages only identify the conversation; system messages are ignored. If the last message did or
    asked something, the same request within two minutes (or at any time with an `Idempotency-Key`) gets the same answer.
    """
    talk = conversation_of(request, person)
    require_model(wanted.model, person.household.bot_name)
    named = x_conversation_id or x_openwebui_chat_id
    shown = shown_by(
        wanted,
        person.key.id,
        named=named and storable(named),
        message_id=idempotency_key and storable(idempotency_key),
    )
    said = await talk.pass_on(person.member, shown)
    answering = _Answering(request, person, said)
    if wanted.stream:
        lines = door_of(request).while_known(request, person, answering.lines())
        return StreamingResponse(lines, media_type="text/event-stream", headers=HEADERS)
    return Response(to_json(await answering.whole()), media_type="application/json")


class _Answering:
    """Answers one request out of the events of its turn."""

    def __init__(self, request: Request, person: Person, said: Said) -> None:
        self._context = context_of(request)
        self._events = conversation_of(request, person).events(
            person.member, said.thread_id, after=said.after, turn_id=said.turn_id
        )
        self._telling = Telling(is_adult=person.member.is_adult)
        self._head: dict[str, Any] = {
            "id": f"chatcmpl-{said.turn_id}",
            "model": person.household.bot_name,
            "created": _seconds(self._context.clock.now()),
        }

    async def whole(self) -> dict[str, Any]:
        """Return the answer once it is there.

        Raises:
            UnavailableError: There is none, or not in time; the same request again finds it.
        """
        text = [piece async for piece in self._pieces()]
        message = {"role": "assistant", "content": "".join(each for each in text if each)}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return self._head | {"object": "chat.completion", "choices": [choice]}

    async def lines(self) -> AsyncGenerator[str]:
        """Yield the answer as server-sent events, and a sign of life where there is nothing for a while."""
        yield self._chunk({"role": "assistant", "content": ""})
        try:
            async with aclosing(self._pieces()) as pieces:
                async for piece in pieces:
                    yield self._chunk({"content": piece}) if piece else ALIVE
        except UnavailableError as error:
            yield _data(error_body(_UNAVAILABLE, str(error)))
            return
        yield self._chunk({}, finish_reason="stop")
        yield _DONE

    async def _pieces(self) -> AsyncGenerator[str | None]:
        """Yield the pieces of the text, None where there is nothing for a while."""
        async with (
            aclosing(self._telling.pieces(self._events)) as told,
            aclosing(alive(told, self._context.stopping)) as pieces,
        ):
            async for piece in pieces:
                yield piece
        if not self._telling.is_over:
            raise UnavailableError(_TOO_LATE)

    def _chunk(self, delta: dict[str, str], *, finish_reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return _data(self._head | {"object": "chat.completion.chunk", "choices": [choice]})


def _data(value: dict[str, Any]) -> str:
    return f"data: {to_json(value).decode()}\n\n"


def _seconds(instant: datetime) -> int:
    return int(instant.timestamp())
