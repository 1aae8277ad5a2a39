"""A stop ends what waits, as an error of its own, however often it is said."""

import asyncio

import pytest

from kinkeeper.conversation.stages import StoppedError, StopSignal


def test_a_second_stop_lets_what_is_broken_off_clear_up() -> None:
    async def run() -> bool:
        signal, is_clear = StopSignal(), asyncio.Event()

        async def work() -> None:
            with signal.breaking_off():
                try:
                    await asyncio.Event().wait()
                finally:
                    signal.set()
                    await asyncio.sleep(0)
                    is_clear.set()

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        signal.set()
        with pytest.raises(StoppedError):
            await task
        return is_clear.is_set()

    assert asyncio.run(run())
