"""Gates: one score, one threshold, one verdict. Scores are never multiplied, averaged or blended."""

from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """The stage whose gate it is."""

    TRIPWIRE = "tripwire"
    EXTRACTION = "extraction"
    ATTRIBUTION = "attribution"
    BRAIN = "brain"


class ConfidenceType(StrEnum):
    """What kind of number a score is."""

    REGEX_SCORE = "regex_score"
    LLM_SCORE = "llm_score"
    RULE_SCORE = "rule_score"
    ATTRIBUTION_SCORE = "attribution_score"
    RELEVANCE = "relevance"


class GateDecision(StrEnum):
    """What the pipeline does after the gate."""

    PROCEED = "proceed"
    DROP = "drop"
    PROCEED_NO_CONTEXT = "proceed_no_context"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """The outcome of one gate, as it is logged.

    Attributes:
        score: In [0, 1]; None where none was produced (a timeout).
        threshold: In [0, 1]; at or above it the gate passes.
    """

    stage: Stage
    confidence_type: ConfidenceType
    score: float | None
    threshold: float
    decision: GateDecision

    @property
    def passed(self) -> bool:
        """Whether a score was produced and reaches the threshold."""
        return self.score is not None and self.score >= self.threshold
