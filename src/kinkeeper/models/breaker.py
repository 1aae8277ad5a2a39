"""A circuit breaker: a server that keeps failing is left alone for a while, then tried with one call. Pure."""

from dataclasses import dataclass
from enum import StrEnum

FAILURES = 5
_FIRST_REST_SECONDS = 15.0
_LONGEST_REST_SECONDS = 240.0


class Admission(StrEnum):
    """As what a call was let through."""

    CALL = "call"
    PROBE = "probe"  # the only one, to see whether the server is well again


@dataclass(slots=True)
class Breaker:
    """The breaker of one server. Instants are seconds of any clock that never goes back.

    Every call that is let through is followed by exactly one of `succeeded`, `failed`, `abandoned`.

    Attributes:
        failures: In a row.
        rests: How often in a row it opened.
        open_until: From when on a probe is let through; None while closed.
        is_probing: Whether one is under way.
    """

    failures: int = 0
    rests: int = 0
    open_until: float | None = None
    is_probing: bool = False

    def admit(self, now: float) -> Admission | None:
        """Let a call through, or not."""
        if self.open_until is None:
            return Admission.CALL
        if self.is_probing or now < self.open_until:
            return None
        self.is_probing = True
        return Admission.PROBE

    def succeeded(self) -> None:
        """Close it: the server answered."""
        self.failures, self.rests, self.open_until, self.is_probing = 0, 0, None, False

    def failed(self, admission: Admission, now: float) -> None:
        """Count a failure of the server; enough in a row, or one of a probe, open it.

        A call that began before it opened says nothing new.
        """
        self.failures += 1
        is_too_many = self.open_until is None and self.failures >= FAILURES
        if admission is Admission.PROBE or is_too_many:
            self._open(now)

    def abandoned(self, admission: Admission) -> None:
        """Forget a call whose caller gave up: it says nothing about the server."""
        if admission is Admission.PROBE:
            self.is_probing = False

    def _open(self, now: float) -> None:
        rest = min(_FIRST_REST_SECONDS * 2**self.rests, _LONGEST_REST_SECONDS)
        self.open_until, self.rests, self.is_probing = now + rest, self.rests + 1, False
