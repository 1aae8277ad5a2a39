"""Work that goes on until the program ends: again and again, with a rest, whatever goes wrong in between."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

import structlog

from kinkeeper.core.errors import UnavailableError
from kinkeeper.observability.log import without_message_text

log = structlog.get_logger()

_failures: Counter[str] = Counter()

FAILURES: Mapping[str, int] = MappingProxyType(_failures)
"""How often work of this process failed otherwise than because something is away for now, by its name."""


async def repeat(
    work: Callable[[], Awaitable[object]], rest: Callable[[], Awaitable[object]], *, name: str
) -> None:
    """Do work again and again until cancelled.

    What is away for now is only noted; any other error is counted and told, and must not end the
    server for all others.

    Args:
        work: Done at once, and after each rest.
        rest: Waits until there may be something to do again.
        name: Of the work, in the log and the figures: "memory.embedding".
    """
    while True:
        try:
            await work()
        except UnavailableError as error:
            log.warning("work.postponed", work=name, reason=type(error).__name__)
        except Exception as error:  # noqa: BLE001 - one household's trouble must not end the server
            _failures[name] += 1
            log.error("work.failed", work=name, reason=without_message_text(error))  # noqa: TRY400 - a traceback may quote a message
        await rest()
