"""What goes on until the program ends goes on whatever goes wrong in between, and what goes wrong is counted."""

import asyncio

import pytest

from kinkeeper.core.errors import UnavailableError
from kinkeeper.observability.failures import FAILURES, repeat


def test_work_goes_on_after_any_failure_and_only_mistakes_are_counted() -> None:
    outcomes: list[Exception | None] = [
        None,
        UnavailableError("away"),
        ValueError("a mistake"),
        None,
    ]
    done: list[int] = []

    async def work() -> None:
        if (failure := outcomes[len(done)]) is not None:
            done.append(0)
            raise failure
        done.append(1)

    async def rest() -> None:
        if len(done) == len(outcomes):
            raise asyncio.CancelledError

    before = FAILURES.get("test.work", 0)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(repeat(work, rest, name="test.work"))
    assert done == [1, 0, 0, 1]
    assert FAILURES["test.work"] == before + 1
