"""What a model's answer to a question means for the facts it is about. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

from kinkeeper.memory.model import Fact
from kinkeeper.memory.rulings import Ruling
from kinkeeper.memory.upkeep.batch import Case
from kinkeeper.memory.upkeep.pairs import Judged, in_time, into_one
from kinkeeper.memory.upkeep.questions import Answer, QuestionKind


def verdicts_of(case: Case, answer: Answer, *, now: datetime) -> Sequence[Judged]:
    """Return how the facts of a question relate, by an answer to it.

    Facts of different kinds or people are never joined, and two that a person wrote neither, whatever
    the answer.

    Args:
        case: The question, with its facts.
        answer: To it.
        now: Aware.
    """
    if answer is Answer.KEEP_BOTH:
        return [_pair(one, other, Ruling.OTHER) for one, other in combinations(case.facts, 2)]
    if answer is Answer.NEWER:
        return [_pair(case.facts[0], case.facts[1], Ruling.UPDATE)]
    if answer is Answer.MERGE:
        return into_one(case.facts, now=now) if _may_be_one(case.facts) else []
    if case.question.kind is QuestionKind.CONTRADICTION:
        return []  # as it stands already
    joined = into_one(case.facts, now=now)
    return [replace(each, ruling=Ruling.CONTRADICTION) for each in joined]


def _may_be_one(facts: Sequence[Fact]) -> bool:
    is_alike = len({(each.scope, each.category, each.subject) for each in facts}) == 1
    return is_alike and sum(each.is_edited for each in facts) <= 1


def _pair(one: Fact, other: Fact, ruling: Ruling) -> Judged:
    older, newer = sorted((one, other), key=in_time)
    return Judged(older=older, newer=newer, ruling=ruling)
