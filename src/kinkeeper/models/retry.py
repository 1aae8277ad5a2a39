"""Whether and when a call is tried again."""

import asyncio
import secrets

from kinkeeper.models.errors import ModelError

_TRIES = 3
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 8.0
_CHANCES = 1000


def pause_before_retry(
    error: ModelError, *, tried: int, seconds_left: float, chance: float
) -> float | None:
    """Return how many seconds to wait before the next try; None where there is to be none.

    Args:
        error: How the last try ended.
        tried: How many tries there were, >= 1.
        seconds_left: Until the time for the whole call is over.
        chance: In [0, 1): spreads callers who failed together over half of the pause.
    """
    if not error.may_retry or tried >= _TRIES:
        return None
    usual = min(_FIRST_PAUSE_SECONDS * 2 ** (tried - 1), _LONGEST_PAUSE_SECONDS)
    asked = error.retry_after.total_seconds() if error.retry_after is not None else 0.0
    pause = max(usual * (1 - chance / 2), asked)
    return pause if pause < seconds_left else None


async def pause_or_raise(error: ModelError, *, tried: int, deadline: float) -> None:
    """Wait until a call that failed is to be tried again.

    Args:
        error: How the last try ended.
        tried: How many tries there were, >= 1.
        deadline: Of the whole call, on the event loop's clock.

    Raises:
        ModelError: The same, where there is to be no other try.
    """
    pause = pause_before_retry(
        error, tried=tried, seconds_left=deadline - asyncio.get_running_loop().time(),
        chance=secrets.randbelow(_CHANCES) / _CHANCES,
    )  # fmt: skip
    if pause is None:
        raise error
    await asyncio.sleep(pause)
