"""The first page somebody new sees: the sample family's days, played through the real observer."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, StreamingResponse

from kinkeeper.core.errors import NotFoundError
from kinkeeper.web.access.door import anyone
from kinkeeper.web.context import WebContext, context_of
from kinkeeper.web.pages.responses import page
from kinkeeper.web.views.welcome import Scene, scenes

router = APIRouter(include_in_schema=False)

_SECONDS_A_SCENE = 0.9


class Stage:
    """The play of one server: performed once, then told from memory."""

    def __init__(self, context: WebContext) -> None:
        self._context = context
        self._lock = asyncio.Lock()
        self._scenes: tuple[Scene, ...] = ()

    async def scenes(self) -> tuple[Scene, ...]:
        """Return the play.

        Raises:
            NotFoundError: This server has no sample.
        """
        if self._context.sample is None:
            raise NotFoundError("this server does not have the sample")
        async with self._lock:
            if not self._scenes:
                self._scenes = scenes([row async for row in self._context.sample()])
        return self._scenes


@router.get("/welcome", dependencies=[Depends(anyone)])
async def welcome(request: Request) -> HTMLResponse:
    """Show the play; without scripts it is there at once."""
    return page("welcome.html", None, scenes=await _stage(request).scenes())


@router.get("/welcome/live", dependencies=[Depends(anyone)])
async def play(
    request: Request, *, pace: Annotated[float, Query(ge=0, le=5)] = _SECONDS_A_SCENE
) -> StreamingResponse:
    """Stream the play, scene by scene; goes on where a lost connection left it."""
    last = request.headers.get("last-event-id", "")
    begin = int(last) + 1 if last.isdecimal() and len(last) <= len("9999") else 0
    played = await _stage(request).scenes()
    return StreamingResponse(
        _events(context_of(request), played[begin:], begin, pace), media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )  # fmt: skip


async def _events(
    context: WebContext, played: tuple[Scene, ...], begin: int, pace: float
) -> AsyncIterator[str]:
    for number, scene in enumerate(played, begin):
        if context.stopping.is_set():
            return
        data = json.dumps({"scene": number, "ledger": scene.ledger})
        yield f"id: {number}\nevent: scene\ndata: {data}\n\n"
        await asyncio.sleep(pace)
    yield "event: end\ndata: {}\n\n"


def _stage(request: Request) -> Stage:
    state = request.app.state
    if not hasattr(state, "stage"):
        state.stage = Stage(context_of(request))
    stage: Stage = state.stage
    return stage
