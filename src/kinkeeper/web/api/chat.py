"""POST /chat and what belongs to it: what a person says to the assistant, and the stream of what it answers."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from kinkeeper.conversation.model import TurnEvent
from kinkeeper.conversation.threads import Thread
from kinkeeper.conversation.turn import Turn, result_record
from kinkeeper.conversation.turns import LONGEST_TEXT
from kinkeeper.messaging.message_json import storable
from kinkeeper.web.access.door import Reader, door_of
from kinkeeper.web.access.model import Person
from kinkeeper.web.context import context_of
from kinkeeper.web.live import ALIVE, HEADERS, RECONNECT, Listeners, alive
from kinkeeper.web.route_parts import LARGEST_NUMBER
from kinkeeper.web.speakers import CHANNEL, conversation_of

router = APIRouter(tags=["conversation"])

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: status, token, card, confirm, error, done; the id is the number to resume after.",
        "content": {"text/event-stream": {}},
    }
}

Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"\S")]


class Message(BaseModel):
    """A message from a person.

    `thread` is your own name for a conversation, or its id. The same `message_id` in the same thread is answered
    once; sending the message again returns the first stream.
    """

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT, pattern=r"\S")]
    thread: Name | None = None
    message_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class ThreadRecord(BaseModel):
    """A conversation; `title` is its beginning."""

    id: str
    channel: str
    title: str
    created_at: datetime
    last_at: datetime

    @classmethod
    def of(cls, thread: Thread) -> "ThreadRecord":
        """Return the record of a thread."""
        return cls(
            id=thread.called,
            channel=thread.channel,
            title=thread.title,
            created_at=thread.created_at,
            last_at=thread.last_at,
        )


class TurnRecord(BaseModel):
    """What was said and what was answered; `outcome` is missing while the answer is in progress."""

    id: str
    text: str
    received_at: datetime
    outcome: str | None
    mode: str | None
    answer: str | None
    results: list[dict[str, Any]]

    @classmethod
    def of(cls, turn: Turn) -> "TurnRecord":
        """Return the record of a turn."""
        return cls(
            id=turn.id,
            text=turn.text,
            received_at=turn.received_at,
            outcome=turn.outcome,
            mode=turn.mode,
            answer=turn.answer,
            results=[result_record(each) for each in turn.results],
        )


class Threads(BaseModel):
    """A person's conversations, the most recent first."""

    threads: list[ThreadRecord]


class History(BaseModel):
    """The last turns of a conversation, oldest first; `after` is the current position of its stream."""

    thread: str
    turns: list[TurnRecord]


class Stopped(BaseModel):
    """How many turns were stopped."""

    stopped: int


class Why(BaseModel):
    """How a turn was decided, and what its answer is based on."""

    turn: TurnRecord
    used: list[dict[str, Any]]
    stages_ms: dict[str, float]
    routing: dict[str, Any] | None
    triage: dict[str, Any] | None
    steps: list[dict[str, Any]]
    failures: list[dict[str, Any]]
    cycle: dict[str, Any] | None
    verdicts: list[dict[str, Any]]


@router.post("/chat", responses=_STREAM, response_class=StreamingResponse)
async def say(request: Request, person: Reader, message: Message) -> StreamingResponse:
    """Send a message to the assistant; the answer is streamed, and completed even if nobody reads the stream."""
    talk = conversation_of(request, person)
    said = await talk.say(
        person.member,
        storable(message.text),
        channel=CHANNEL,
        thread_id=None if message.thread is None else storable(message.thread),
        client_message_id=None if message.message_id is None else storable(message.message_id),
    )
    events = talk.events(person.member, said.thread_id, after=said.after, turn_id=said.turn_id)
    # A header holds no letters but Latin ones; a thread may be called anything.
    names = {
        "X-Thread": quote(storable(message.thread or said.thread_id)),
        "X-Turn": quote(said.turn_id),
    }
    return _streamed(request, person, events, names)


@router.get("/chat/{thread}/events", responses=_STREAM, response_class=StreamingResponse)
async def listen(
    request: Request,
    person: Reader,
    thread: str,
    *,
    after: Annotated[int, Query(ge=0, le=LARGEST_NUMBER)] = 0,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> StreamingResponse:
    """Stream the events of a conversation, from where a reader left off: `Last-Event-ID`, or `after`."""
    talk = conversation_of(request, person)
    listeners: Listeners = request.app.state.listeners
    listeners.require_room(person)
    own = await talk.thread(person.member, thread)
    is_number = last_event_id is not None and last_event_id.isdecimal()
    since = min(int(last_event_id or 0), LARGEST_NUMBER) if is_number else after
    events = talk.events(person.member, own.id, after=since)
    return _streamed(
        request, person, events, {}, counted=lambda lines: listeners.counted(person, lines)
    )


@router.post("/chat/{thread}/stop")
async def stop(request: Request, person: Reader, thread: str) -> Stopped:
    """Stop what is in progress in a conversation; finished steps are kept."""
    stopped = await conversation_of(request, person).stop(person.member, thread)
    return Stopped(stopped=stopped)


@router.get("/api/threads")
async def list_threads(request: Request, person: Reader) -> Threads:
    """List your conversations."""
    found = await conversation_of(request, person).threads(person.member)
    return Threads(threads=[ThreadRecord.of(thread) for thread in found])


@router.get("/api/threads/{thread}")
async def tell_thread(
    request: Request, person: Reader, thread: str, *, last: Annotated[int, Query(ge=1, le=200)] = 50
) -> History:
    """Return what was said in a conversation."""
    found = await conversation_of(request, person).history(person.member, thread, last=last)
    return History(thread=thread, turns=[TurnRecord.of(turn) for turn in found])


@router.get("/api/turns/{turn}")
async def why(request: Request, person: Reader, turn: str) -> Why:
    """Explain an answer: what was used, how it was routed, and how long each step took."""
    trace = await conversation_of(request, person).why(person.member, turn)
    return Why(
        turn=TurnRecord.of(trace.turn),
        used=[dict(each) for each in trace.turn.used],
        stages_ms=dict(trace.turn.stages),
        routing=None if trace.routing is None else dict(trace.routing),
        triage=None if trace.triage is None else dict(trace.triage),
        steps=[dict(each) for each in trace.steps],
        failures=[dict(each) for each in trace.failures],
        cycle=None if trace.cycle is None else dict(trace.cycle),
        verdicts=[dict(each) for each in trace.verdicts],
    )


def _streamed(
    request: Request,
    person: Person,
    events: AsyncIterator[TurnEvent],
    headers: dict[str, str],
    *,
    counted: Callable[[AsyncIterator[str]], AsyncIterator[str]] = lambda lines: lines,
) -> StreamingResponse:
    stopping = context_of(request).stopping
    lines = door_of(request).while_known(request, person, _lines(events, stopping))
    return StreamingResponse(
        counted(lines),
        media_type="text/event-stream",
        status_code=HTTPStatus.OK,
        headers={**HEADERS, **headers},
    )


async def _lines(events: AsyncIterator[TurnEvent], stopping: asyncio.Event) -> AsyncGenerator[str]:
    """Yield events as a browser reads them, a sign of life where there are none for a while."""
    async with aclosing(_numbered(events)) as lines, aclosing(alive(lines, stopping)) as living:
        async for line in living:
            yield ALIVE if line is None else line
    if stopping.is_set():
        yield RECONNECT


async def _numbered(events: AsyncIterator[TurnEvent]) -> AsyncGenerator[str]:
    async for event in events:
        data = json.dumps({"turn": event.turn_id, **event.data}, ensure_ascii=False)
        yield f"id: {event.number}\nevent: {event.name.value}\ndata: {data}\n\n"
