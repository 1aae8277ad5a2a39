"""Work beside the event loop: it holds up nobody, and ends with whoever waited for it."""

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from kinkeeper.core.beside import LONG_TEXT, beside, read_beside


def endless(ended: threading.Event) -> None:
    """Work until ended, and catch whatever can be caught."""
    number = 0
    try:
        while True:
            try:
                number = (number + 1) % 1000
                int("x" if number else "y")
            except Exception:  # noqa: BLE001, S110 - what is tried
                pass
    finally:
        ended.set()


def test_work_without_end_ends_with_whoever_waits_for_it() -> None:
    async def run() -> None:
        for _ in range(40):  # more than there are threads to keep busy
            ended = threading.Event()
            waiting = asyncio.get_running_loop().create_task(beside(partial(endless, ended)))
            for _ in range(20):
                await asyncio.sleep(0.001)
            assert not waiting.done()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert await asyncio.to_thread(ended.wait, 10)
        assert await beside(lambda: "well") == "well"

    asyncio.run(run())


def test_work_that_ends_just_then_harms_nothing_after_it() -> None:
    def short() -> int:
        until = time.perf_counter() + 0.002
        while time.perf_counter() < until:
            pass
        return 1

    async def run() -> None:
        for number in range(200):
            try:
                async with asyncio.timeout(0.0015 + number / 200_000):
                    await beside(short)
            except TimeoutError:
                pass
            assert await asyncio.to_thread(short) == 1

    asyncio.run(run())


def test_errors_of_the_work_are_raised_and_only_long_texts_are_read_elsewhere() -> None:
    def fails() -> None:
        raise ValueError("no")

    async def where(text: str) -> int:
        read: Callable[[], int] = threading.get_ident
        return await read_beside(text, read)

    async def run() -> None:
        with pytest.raises(ValueError, match="no"):
            await beside(fails)
        assert await where("x" * LONG_TEXT) == threading.get_ident()
        assert await where("x" * (LONG_TEXT + 1)) != threading.get_ident()

    asyncio.run(run())
