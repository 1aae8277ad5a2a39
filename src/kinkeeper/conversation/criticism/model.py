"""What a second look at a step sees, and what comes of it: frozen values. Loads nothing that asks models."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from kinkeeper.actions.requests.model import ActionResult, Asked, Catalogue, RequestKind
from kinkeeper.conversation.model import PlanningContext, Source


class Effect(StrEnum):
    """What came of a second look."""

    NONE = "none"
    CORRECTED = "corrected"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of acting.

    Attributes:
        context: What its planner looked at.
        asked: Who asked for it, as which request of the turn.
        result: What it came to.
    """

    context: PlanningContext
    source: Source
    kind: RequestKind
    asked: Asked
    result: ActionResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a second look came to; no words of anybody.

    Attributes:
        number: Of the request in its turn.
        request: "domain.name".
        verdict: "fits", "wrong", or why there is none.
        ms: How long it took.
    """

    number: int
    request: str
    verdict: str
    effect: Effect
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """A step after the second look.

    Attributes:
        question: What to ask before anything else is done; None to go on.
        verdict: For the record; None where nobody looked.
    """

    result: ActionResult
    question: str | None = None
    verdict: Verdict | None = None


class Critic(Protocol):
    """Looks at what steps came to."""

    async def review(self, step: Step, catalogue: Catalogue) -> Reviewed:
        """Return a step as it stands after a second look.

        Raises:
            UnavailableError: The database cannot be reached.
        """
        ...
