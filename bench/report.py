"""What a benchmark returns: measured figures beside a limit or peer of the same run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """One hot path against its limit or peer.

    Attributes:
        name: What was timed.
        microseconds: Median CPU or wall time of one operation.
        p99_microseconds: 99th percentile of one operation.
        peer: What it is compared with.
        peer_microseconds: Median of the peer, interleaved in the same run.
        target: Largest ratio (or, where `peer` is "-", microseconds at p99) aimed at; None without target.
    """

    name: str
    microseconds: float
    p99_microseconds: float
    peer: str
    peer_microseconds: float | None
    target: float | None

    @property
    def ratio(self) -> float | None:
        """Median over the peer's median, where there is a peer."""
        return self.microseconds / self.peer_microseconds if self.peer_microseconds else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Something counted or measured that is no time of an operation.

    Attributes:
        name: What.
        value: How much.
        unit: Of the value.
        target: Largest value aimed at; None without target.
    """

    name: str
    value: float
    unit: str
    target: float | None = None
