"""How well something remembered bears on a question. Pure."""

import math

from kinkeeper.brain.question import Question
from kinkeeper.memory.finding.showing import Hit
from kinkeeper.memory.finding.terms import stems

# Fitted to evals/memory/brain (docs/evaluation.md): from one half on, a question's best source bears on it.
_RELEVANCE, _COVERED, _SOMEBODY_ELSE, _BASE = 1.0, 5.1, -5.5, -2.35


def bearing(question: Question, hit: Hit, *, speaker: str) -> float:
    """Return the chance, in [0, 1], that something remembered bears on a question.

    It counts how relevant the search found it, how many of the question's words it holds, and whether it
    speaks of none of the members whom the question names.

    Args:
        question: As read.
        hit: As found.
        speaker: All words for who said it; empty where nobody knows.
    """
    held = {*stems(hit.text), *stems(speaker)}
    content = question.weights.keys() - question.names
    covered = len(content & held) / len(content) if content else 0.0
    is_of_somebody_else = bool(question.names) and not question.names & held
    return 1 / (
        1
        + math.exp(
            -(
                _RELEVANCE * hit.relevance
                + _COVERED * covered
                + _SOMEBODY_ELSE * is_of_somebody_else
                + _BASE
            )
        )
    )
