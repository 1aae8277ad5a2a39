"""How people are told how a goal stands. Pure."""

from collections.abc import Sequence
from typing import Final

from kinkeeper.background.model import Outcome
from kinkeeper.background.web_query import shown_host
from kinkeeper.goals.model import MAX_AGE, Goal, GoalKind, GoalStatus, StepState
from kinkeeper.language.text import enumerated, shorten

_LONGEST_GOAL: Final = 80
_LONGEST_LINE: Final = 240
_MOST_LINES: Final = 8


def answer_of(outcome: Outcome) -> str:
    """Return what a step came to, in words: what was found, or where there was nothing to be found."""
    if not outcome.lines:
        return f"I found nothing about it in {enumerated([*outcome.places], last='or')}."
    return "\n".join(f"• {shorten(each, _LONGEST_LINE)}" for each in outcome.lines[:_MOST_LINES])


def unread_text(address: str) -> str:
    """Return what a step came to of which people know all that was found, and that may not read on."""
    return f"I have nothing new, as I didn't read {shown_host(address)}."


def message_of(goal: Goal, *, limits: str) -> str:
    """Return what a goal's person is told: how it stands, and what it came to since they were told last.

    Args:
        limits: What could not be done for it, in a sentence.
    """
    what = f"“{shorten(goal.text, _LONGEST_GOAL)}”"
    if goal.kind is GoalKind.ASK and goal.status is GoalStatus.COMPLETED:
        return f"You wanted me to come back to this: {goal.text}"
    steps = goal.progress.steps
    answers = [
        step.answer if len(steps) == 1 else f"{step.description}:\n{step.answer}"
        for step in steps
        if step.answer
    ]
    return "\n".join([_head(goal, what), *answers, *_tail(goal, limits)])


def _head(goal: Goal, what: str) -> str:
    steps = goal.progress.steps
    done = sum(step.state is StepState.DONE for step in steps)
    if goal.status is GoalStatus.COMPLETED:
        return f"About {what}, this is what I came to:"
    if goal.status is GoalStatus.EXPIRED:
        return (
            f"I've been on {what} for {MAX_AGE.days} days and stop now. Tell me if I should go on."
        )
    if goal.status is GoalStatus.FAILED:
        return f"I can't get any further with {what}: {done} of {len(steps)} steps could be done."
    if goal.kind is GoalKind.WATCH:
        is_first = goal.progress.told_coverage is None
        return f"{'I keep an eye on' if is_first else 'Something new about'} {what}:"
    return f"I'm on {what}: {done} of {len(steps)} steps are done."


def _tail(goal: Goal, limits: str) -> Sequence[str]:
    questions = [
        f"May I read {shown_host(step.asks)} for this? It waits for your OK."
        for step in goal.progress.asking
    ]
    if questions:
        return questions
    is_over = goal.status in {GoalStatus.COMPLETED, GoalStatus.FAILED}
    is_first_look = goal.kind is GoalKind.WATCH and goal.progress.told_coverage is None
    return [limits] if limits and (is_over or is_first_look) else []
