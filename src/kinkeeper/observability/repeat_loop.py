"""Work that goes on until the program ends: again and again, with a rest, whatever goes wrong in between."""

from collections.abc import Awaitable, Callable

from kinkeeper.core.errors import UnavailableError
from kinkeeper.observability.failures import Kinds, surviving


async def repeat(
    work: Callable[[], Awaitable[object]],
    rest: Callable[[], Awaitable[object]],
    *,
    name: str,
    foreseen: Kinds = UnavailableError,
) -> None:
    """Do work again and again until cancelled; what goes wrong is counted and told.

    Args:
        work: Done at once, and after each rest.
        rest: Waits until there may be something to do again.
        name: Of the work, in the log and the figures: "memory.embedding".
        foreseen: Errors that say that something is away for now.
    """
    while True:
        with surviving(name, foreseen=foreseen):
            await work()
        await rest()
