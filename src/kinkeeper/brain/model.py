"""Questions to memory and their answers: frozen values and the protocol of whoever answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainQuery:
    """An abstract question; never holds message text, names of children or whereabouts.

    Attributes:
        text: Composed from templates and vocabulary: "soccer schedule Thursday".
        activity: Activity id it is about, if any.
        task: Task it is about, if any.
        day: Local day it is about, if any.
        child: Opaque id of the child, if any.
    """

    text: str
    activity: str | None = None
    task: str | None = None
    day: date | None = None
    child: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainAnswer:
    """What memory says.

    Attributes:
        relevance: In [0, 1].
        summary: One line for the trace.
        items: What it rests on, newest or nearest first.
    """

    relevance: float
    summary: str
    items: Sequence[Mapping[str, Any]] = ()


class Brain(Protocol):
    """Answers questions about one household."""

    async def ask(self, query: BrainQuery) -> BrainAnswer:
        """Return the answer; relevance 0 where nothing is known.

        Raises:
            UnavailableError: Memory cannot be reached.
        """
        ...
