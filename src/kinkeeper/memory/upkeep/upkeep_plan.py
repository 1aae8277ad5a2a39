"""What a run has found and wants to do; made beside everybody else's work, applied later in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kinkeeper.memory.upkeep.pairs import Judged
from kinkeeper.memory.upkeep.questions import Answer, Question
from kinkeeper.memory.upkeep.report import Cost
from kinkeeper.memory.upkeep.themes import Theme
from kinkeeper.memory.upkeep.window import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done.

    Attributes:
        window: What was looked at.
        support: Ids of the episodes that bear out facts, by the facts' ids.
        findings: How facts relate, by the rules.
        verdicts: How facts relate, by a model.
        questions: That were not asked before.
        answers: A model's, by the questions' ids.
        moot: Ids of questions that need no answer any more.
        themes: What was told again and again.
        counts: Of whatever was looked at, found or left out, by name.
        seconds: Each step took, by its name.
        cost: Of models.
        remarks: What could not be done, and why.
    """

    window: Window
    support: Mapping[str, Sequence[str]] = field(default_factory=dict)
    findings: Sequence[Judged] = ()
    verdicts: Sequence[Judged] = ()
    questions: Sequence[Question] = ()
    answers: Mapping[str, Answer] = field(default_factory=dict)
    moot: Sequence[str] = ()
    themes: Sequence[Theme] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    remarks: Sequence[str] = ()
