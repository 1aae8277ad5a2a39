"""What goes wrong beside every request and row: survived and counted; and work that goes on despite it.

The counts are of this process since its start. What fails in a request or on a row is recorded there instead.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from types import MappingProxyType, TracebackType
from typing import Any, Self

import structlog

from kinkeeper.core.errors import UnavailableError
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.observability.log import without_message_text

log = structlog.get_logger()

Kinds = type[Exception] | tuple[type[Exception], ...]
"""One or several kinds of errors."""

_UNFORESEEN = "unforeseen"
_CHECK = "background work"
_REMEDY = "see the log for details (work.failed); it is retried automatically, but please report it"
_failures: Counter[str] = Counter()
_postponed: Counter[str] = Counter()

FAILURES: Mapping[str, int] = MappingProxyType(_failures)
"""How often work of this process failed otherwise than because something is away for now, by its name."""

POSTPONED: Mapping[str, int] = MappingProxyType(_postponed)
"""How often work of this process was put off because something is away for now, by its name."""


class Round:
    """One round of work, as a block that may fail; made by `surviving`.

    Attributes:
        error: What it failed with; None while nothing has gone wrong.
    """

    def __init__(self, name: str, foreseen: Kinds) -> None:
        self._name = name
        self._foreseen = foreseen
        self.error: Exception | None = None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        """Take in what went wrong; what ends a task is handed on."""
        if not isinstance(error, Exception):
            return False
        self.error = error
        if isinstance(error, self._foreseen):
            _postponed[self._name] += 1
            log.warning("work.postponed", work=self._name, reason=without_message_text(error))
        else:
            count_failure(self._name, error)
        return True


def surviving(name: str, *, foreseen: Kinds = UnavailableError) -> Round:
    """Return a block that may fail without ending what goes on around it; what ends a task still does.

    Args:
        name: Of the work, in the log and the figures: "memory.embedding".
        foreseen: Errors that say that something is away for now: it is put off, and no mistake.
    """
    return Round(name, foreseen)


def count_failure(name: str, error: BaseException, **about: object) -> None:
    """Count what went wrong unforeseen, and tell it.

    Args:
        error: What it failed with; of others' errors only the kind and the place are told.
        about: Further keys for the log; no text of anybody.
    """
    _failures[name] += 1
    log.error("work.failed", work=name, reason=without_message_text(error), **about)


def count_unforeseen(loop: asyncio.AbstractEventLoop) -> None:
    """Count what goes wrong on an event loop where nobody awaits it, and tell it without text.

    Args:
        loop: The loop of this process.
    """

    def handle(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        # The message that comes with it may show a coroutine with all that it was given.
        count_failure(_UNFORESEEN, context.get("exception") or RuntimeError())

    loop.set_exception_handler(handle)


def failure_finding() -> Finding:
    """Tell what went wrong in this process since its start."""
    put_off = _listed(POSTPONED)
    if not FAILURES:
        found = (
            f"postponed while something was unavailable: {put_off}"
            if put_off
            else "nothing went wrong"
        )
        return ok(_CHECK, f"{found} since startup")
    return warning(_CHECK, f"failed since startup: {_listed(FAILURES)}", _REMEDY)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count} times)" for name, count in sorted(counts.items()))


# Work that goes on until the program ends: again and again, with a rest, whatever goes wrong in
# between.


async def repeat(
    work: Callable[[], Awaitable[object]],
    rest: Callable[[], Awaitable[object]] | timedelta,
    *,
    name: str,
    foreseen: Kinds = UnavailableError,
) -> None:
    """Do work again and again until cancelled; what goes wrong is counted and told.

    Args:
        work: Done at once, and after each rest.
        rest: Waits until there may be something to do again; or how long to wait, > 0.
        name: Of the work, in the log and the figures: "memory.embedding".
        foreseen: Errors that say that something is away for now.
    """
    while True:
        with surviving(name, foreseen=foreseen):
            await work()
        await (asyncio.sleep(rest.total_seconds()) if isinstance(rest, timedelta) else rest())
