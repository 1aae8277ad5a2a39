"""What is streamed piece by piece, with a sign of life in between, for as long as a stream may last."""

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

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
                {coming, told_to_stop}, timeout=_ALIVE_EVERY_SECONDS,
                return_when=asyncio.FIRST_COMPLETED,
            )  # fmt: skip
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
