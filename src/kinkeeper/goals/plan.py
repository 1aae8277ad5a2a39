"""Plans of goals: when steps that somebody or a model proposes are taken, and what a goal does without them. Pure."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from kinkeeper.goals.model import Step, jaccard, word_set
from kinkeeper.language.text import TokenKind, tokenise

FEWEST_STEPS: Final = 2
MOST_STEPS: Final = 8
SHORTEST_STEP: Final = 4
LONGEST_STEP: Final = 30
"""Words of a step."""

TOO_ALIKE: Final = 0.7
"""Two steps that share this much of their words are one."""

TOO_UNSURE: Final = 0.5
"""A plan that whoever made it is no surer of than this is not taken."""


def flat(text: str) -> tuple[Step, ...]:
    """Return the plan of a goal that nobody has taken apart: itself."""
    return (Step(id="1", description=text),)


def plan_of(text: str, proposed: Sequence[Step], *, confidence: float) -> tuple[Step, ...]:
    """Return the steps of a goal: those proposed, or none but itself where something is wrong with them."""
    if next(problems(proposed, confidence=confidence), None) is not None:
        return flat(text)
    return tuple(proposed)


def problems(steps: Sequence[Step], *, confidence: float) -> Iterator[str]:
    """Yield why proposed steps are not taken, for whoever made them.

    Args:
        confidence: How sure that one is of them, in [0, 1].
    """
    if not FEWEST_STEPS <= len(steps) <= MOST_STEPS:
        yield f"there are {len(steps)} steps, not {FEWEST_STEPS} to {MOST_STEPS}"
    if not confidence > TOO_UNSURE:
        yield f"its maker is not sure of it ({confidence:.2f})"
    ids = [step.id for step in steps]
    if len({*ids}) < len(ids):
        yield "two steps have the same id"
    for step in steps:
        unknown = {*step.depends_on} - {*ids}
        if unknown:
            yield f"step {step.id!r} depends on unknown steps: {', '.join(sorted(unknown))}"
        length = sum(each.kind is not TokenKind.PUNCTUATION for each in tokenise(step.description))
        if not SHORTEST_STEP <= length <= LONGEST_STEP:
            yield f"step {step.id!r} has {length} words, not {SHORTEST_STEP} to {LONGEST_STEP}"
    for first, second in combinations(steps, 2):
        if jaccard(word_set(first.description), word_set(second.description)) >= TOO_ALIKE:
            yield f"steps {first.id!r} and {second.id!r} say the same"
    if _has_cycle(steps):
        yield "the steps wait for each other in a circle"


def _has_cycle(steps: Sequence[Step]) -> bool:
    """Whether some steps can never begin (Kahn): taking away what waits for nothing leaves them."""
    ids = {step.id for step in steps}
    left = {step.id: {*step.depends_on} & ids for step in steps}
    while free := {each for each, before in left.items() if not before}:
        left = {each: before - free for each, before in left.items() if each not in free}
    return bool(left)
