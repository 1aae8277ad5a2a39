"""What a run of the upkeep did, or wants to do: counts, durations, cost, and each change in plain words. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Self


class RunState(StrEnum):
    """Where a run stands."""

    DONE = "done"
    ASKS = "asks"
    APPROVED = "approved"
    DECLINED = "declined"
    FAILED = "failed"


class ChangeKind(StrEnum):
    """What became of a fact."""

    LEARNED = "learned"
    SUPPORTED = "supported"
    DOUBTED = "doubted"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    FADED = "faded"
    ENDED = "ended"
    RESTORED = "restored"
    CHANGED = "changed"

    @property
    def is_loss(self) -> bool:
        """Whether a person is asked about many of them: facts that nobody expected to leave."""
        return self in {ChangeKind.MERGED, ChangeKind.SUPERSEDED, ChangeKind.FADED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One fact that a run changes.

    Attributes:
        kind: What became of it.
        fact: Its id.
        other: Id of the fact that took its place, if one did.
        before: Confidence before, faded to the run; None for a new fact.
        after: Confidence after, faded to the run, too.
    """

    kind: ChangeKind
    fact: str
    other: str | None = None
    before: float | None = None
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What models took.

    Attributes:
        calls: Made.
        input_tokens: Of the requests.
        output_tokens: Of the answers.
        micros: Estimated price in millionths of the currency that prices are set in.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    micros: int = 0

    def plus(self, other: "Cost") -> "Cost":
        """Return the sum of both."""
        return Cost(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            micros=self.micros + other.micros,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run did.

    Attributes:
        counts: Of whatever was looked at, found or left out, by name.
        seconds: Each step took, by its name.
        cost: Of models.
        active: Facts in retrieval before.
        leaving: Facts that left it, or would, and that a person is asked about when they are many.
        differences: All changes; no words of anybody, which only stand where they can be forgotten.
        remarks: What could not be done, and why.
        allowed: Facts that a person has agreed to let go.
        is_behind: Whether more was new than one run looks at; another one has to follow.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    active: int = 0
    leaving: int = 0
    differences: Sequence[Difference] = ()
    remarks: Sequence[str] = ()
    allowed: int = 0
    is_behind: bool = False

    def record(self) -> dict[str, Any]:
        """Return it JSON-ready."""
        return asdict(self)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the report of a record."""
        differences = tuple(
            Difference(**{**each, "kind": ChangeKind(each["kind"])})
            for each in record.get("differences", ())
        )
        return cls(
            **{
                **record, "differences": differences, "cost": Cost(**record.get("cost", {})),
                "remarks": tuple(record.get("remarks", ())),
            }
        )  # fmt: skip
