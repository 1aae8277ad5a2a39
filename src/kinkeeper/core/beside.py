"""Work that takes processor time, done beside the event loop and not for longer than somebody waits for it."""

import asyncio
import ctypes
from collections.abc import Callable
from threading import Lock, get_ident
from typing import Final, Generic, TypeVar

T = TypeVar("T")

LONG_TEXT: Final = 500
"""Characters from which reading a text takes so long, 20 ms or more, that it belongs beside the event loop."""


class EndedError(BaseException):
    """Nobody waits for the work any more. No `Exception`, which the work may catch."""


async def beside(work: Callable[[], T]) -> T:
    """Return what work comes to that is done in another thread; who stops waiting for it ends it.

    It ends at its next step in Python: one search for a pattern is carried to its end, and holds up all threads
    until then.

    Args:
        work: Needs nothing that belongs to the event loop.
    """
    held = _Held(work)
    try:
        return await asyncio.to_thread(held.run)
    except asyncio.CancelledError:
        held.end()
        raise


async def read_beside(text: str, work: Callable[[], T]) -> T:
    """Return what reading a text comes to; a long one is read beside the event loop, as `beside` says."""
    return work() if len(text) <= LONG_TEXT else await beside(work)


class _Held(Generic[T]):
    """Work in a thread that can be ended."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._lock = Lock()
        self._thread: int | None = None
        self._is_ended = False

    def run(self) -> T:
        """Do it, in this thread."""
        with self._lock:
            if self._is_ended:
                raise EndedError
            self._thread = get_ident()
        try:
            return self._work()
        finally:
            with self._lock:
                self._thread = None

    def end(self) -> None:
        """Let the thread raise `EndedError` at its next step, if it has not ended by then."""
        with self._lock:
            self._is_ended = True
            if self._thread is not None:
                ended = ctypes.py_object(EndedError)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ended)
