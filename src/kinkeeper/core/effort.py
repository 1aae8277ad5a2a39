"""How long acting in rounds may go on: each round costs more than the one before, and going in circles ends it. Pure."""

from dataclasses import dataclass, field
from typing import Final

MOST_ROUNDS: Final = 5
"""Times that one looks at what came of it and decides what is next."""

MOST_FATIGUE: Final = 10.0
"""What all of it may cost."""

_GROWTH: Final = 0.3


@dataclass(slots=True, kw_only=True)
class Effort:
    """What acting has cost so far.

    Attributes:
        most: What it may cost.
        repeats: How often the same thing running ends it.
    """

    most: float = MOST_FATIGUE
    repeats: int
    spent: float = 0.0
    _done: list[str] = field(default_factory=list)

    @property
    def is_spent(self) -> bool:
        """Whether nothing more is to be done."""
        return self.spent >= self.most

    def why_not(self, what: str) -> str | None:
        """Return why something is not to be done any more; None where it may be, which is noted.

        Args:
            what: The thing with all that it is done with.
        """
        if self.is_spent:
            return "fatigue"
        self._done.append(what)
        last = self._done[-self.repeats :]
        return "repetition" if len(last) == self.repeats and len(set(last)) == 1 else None

    def add(self, cost: float, *, number: int) -> None:
        """Count what something cost.

        Args:
            number: Of the round, from 0.
        """
        self.spent += cost * (1 + _GROWTH * number)
