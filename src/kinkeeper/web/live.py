"""Tells open pages that something changed: server-sent events that resume where a page left off.

An event carries no content, only where the household stands now; the page then asks for itself again. So
nothing is lost by a lost connection: whoever comes back with an older place is told at once.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import datetime
from http import HTTPStatus
from typing import TypeVar

from sqlalchemy import Connection, func, select
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from kinkeeper.actions.journal import TOPIC as ACTIONS
from kinkeeper.actions.tables import action_transitions
from kinkeeper.core.time import to_text
from kinkeeper.memory.memory_rows import TOPIC as MEMORY
from kinkeeper.memory.memory_rows import last_seq
from kinkeeper.messaging.inbox import TOPIC as MESSAGES
from kinkeeper.messaging.tables import messages
from kinkeeper.observer.tables import observer_messages
from kinkeeper.store.commits import CommitWatch
from kinkeeper.web.access.door import Allowed, door_of, house_of
from kinkeeper.web.access.model import VIEWERS, Person
from kinkeeper.web.context import WebContext, context_of
from kinkeeper.web.route_parts import plain_route

ALIVE = ": alive\n\n"
RECONNECT = "retry: 500\n\n"
"""Tells a reader to ask again, of another server, after so many milliseconds."""

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_ALIVE_EVERY_SECONDS = 5.0  # also how long the stream of an ended key stays open
_LONGEST_SECONDS = 600.0

Piece = TypeVar("Piece")


async def alive(
    pieces: AsyncGenerator[Piece], stopping: asyncio.Event
) -> AsyncGenerator[Piece | None]:
    """Yield pieces as they come, and None where there are none for a while.

    Ends with them, when the server is told to stop, and after ten minutes.

    Args:
        pieces: What is streamed; closed by whoever made it.
        stopping: Set when the server is told to stop.
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + _LONGEST_SECONDS
    coming = asyncio.ensure_future(anext(pieces))
    told_to_stop = asyncio.ensure_future(stopping.wait())
    try:
        while loop.time() < ends_at and not stopping.is_set():
            await asyncio.wait(
                {coming, told_to_stop},
                timeout=_ALIVE_EVERY_SECONDS,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not coming.done():
                yield None
                continue
            try:
                piece = coming.result()
            except StopAsyncIteration:
                return
            yield piece
            coming = asyncio.ensure_future(anext(pieces))
    finally:
        told_to_stop.cancel()
        coming.cancel()
        await asyncio.gather(coming, told_to_stop, return_exceptions=True)


_LOOK_EVERY_SECONDS = 5.0  # other processes commit without a signal
_LONGEST_CURSOR = 120
_MOST_STREAMS = 20  # of one person; each costs a connection and a look into the database
_ALIVE = ": alive\n\n"


def cursor(conn: Connection, household: str) -> str:
    """Return where a household stands: it changes with every message, decision, step of an action and memory."""
    heard = conn.execute(
        select(func.coalesce(func.max(messages.c.id), 0)).where(messages.c.household == household)
    ).scalar_one()
    understood: datetime | None = conn.execute(
        select(func.max(observer_messages.c.processed_at)).where(
            observer_messages.c.household == household
        )
    ).scalar_one()
    steps = conn.execute(
        select(func.count())
        .select_from(action_transitions)
        .where(action_transitions.c.household == household)
    ).scalar_one()
    memory = last_seq(conn, household)
    return f"m{heard}.g{to_text(understood) if understood else '-'}.a{steps}.k{memory}"


class Listeners:
    """How many event streams each person has open on this server."""

    def __init__(self) -> None:
        self._open: Counter[tuple[str, str]] = Counter()

    def count(self, household: str, member: str) -> int:
        """Return how many streams a member of a household has open."""
        return self._open[household, member]

    def require_room(self, person: Person) -> None:
        """Refuse one more stream to somebody who has too many open.

        Raises:
            HTTPException: Too many requests.
        """
        if self.count(*_who(person)) >= _MOST_STREAMS:
            raise HTTPException(
                HTTPStatus.TOO_MANY_REQUESTS, "too many pages or streams are open; close some"
            )

    async def counted(self, person: Person, events: AsyncIterator[str]) -> AsyncIterator[str]:
        """Pass events on, and count the stream for as long as somebody listens; one too many ends at once.

        Streams that are asked for at the same time all find room before any of them is counted.
        """
        if self.count(*_who(person)) >= _MOST_STREAMS:
            return
        self._open[_who(person)] += 1
        try:
            async for event in events:
                yield event
        finally:
            self._open[_who(person)] -= 1


def _who(person: Person) -> tuple[str, str]:
    return person.household.id, person.member.id


async def _events(
    context: WebContext, person: Person, request: Request, seen: str
) -> AsyncGenerator[str]:
    """Yield an event whenever the household stands elsewhere than the page knows."""
    house = house_of(request, person)
    household = house.household.id
    topics = ((MESSAGES, household), (ACTIONS, household), (MEMORY, household))
    with house.store.watch(*topics) as commits:
        while not context.stopping.is_set() and not await request.is_disconnected():
            now = await house.store.read(lambda conn: cursor(conn, household))
            if now != seen:
                seen = now
                yield f"id: {now}\nevent: change\ndata: {now}\n\n"
            elif not await _heard(commits, context.stopping):
                yield _ALIVE
        if context.stopping.is_set():
            yield RECONNECT


async def _heard(commits: CommitWatch, stopping: asyncio.Event) -> bool:
    """Wait for a commit, the end of the server, or until it is time to look; returns False for the latter."""

    async def hear_the_end() -> None:
        await stopping.wait()
        commits.wake()

    async with asyncio.TaskGroup() as group:
        listening = group.create_task(hear_the_end())
        heard = await commits.wait(_LOOK_EVERY_SECONDS)
        listening.cancel()
    return heard


async def events(request: Request) -> Response:
    """Stream what happens in the household of whoever asks."""
    person: Person = request.state.person
    listeners: Listeners = request.app.state.listeners
    listeners.require_room(person)
    seen = request.headers.get("last-event-id") or request.query_params.get("since", "")
    changes = _events(context_of(request), person, request, seen[:_LONGEST_CURSOR])
    stream = listeners.counted(person, door_of(request).while_known(request, person, changes))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


routes: list[Route] = [plain_route("/live", events, rule=Allowed(VIEWERS))]
