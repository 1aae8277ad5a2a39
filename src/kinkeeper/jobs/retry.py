"""How often work is tried again, and when a person must look at it. Pure."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryLadder:
    """Waiting times between the tries of one row of work.

    Attributes:
        delays: Wait after the first, second, ... failure; a failure beyond the last is final.
        attempts: Most times the work is begun, whether it failed or its process died, > 0.
    """

    delays: tuple[timedelta, ...] = (
        timedelta(seconds=30),
        timedelta(seconds=120),
        timedelta(seconds=300),
    )
    attempts: int = 5

    def delay_after(self, *, failures: int, begun: int) -> timedelta | None:
        """Return how long to wait before the next try, or None when a person must look.

        Args:
            failures: How often the work has failed by now, >= 1.
            begun: How often it was begun, >= `failures`.
        """
        if failures > len(self.delays) or begun >= self.attempts:
            return None
        return self.delays[failures - 1]
