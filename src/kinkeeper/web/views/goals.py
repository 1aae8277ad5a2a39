"""A person's goals in words, as their page shows them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kinkeeper.goals.model import MAX_AGE, UNFINISHED, Goal, GoalKind, GoalStatus, Step, StepState
from kinkeeper.web.views.day_text import Wording

_KINDS: Final = {
    GoalKind.FIND: "Looking for",
    GoalKind.WATCH: "Keeping an eye on",
    GoalKind.ASK: "Coming back to",
}
_STANDS: Final = {
    GoalStatus.PENDING: "Not started yet",
    GoalStatus.RUNNING: "In progress",
    GoalStatus.PAUSED: "Paused",
    GoalStatus.COMPLETED: "Done",
    GoalStatus.CANCELLED: "Cancelled",
    GoalStatus.EXPIRED: f"Stopped after {MAX_AGE.days} days",
    GoalStatus.FAILED: "Couldn't be finished",
}
_STEPS: Final = {
    StepState.WAITING: "not done yet",
    StepState.ASKING: "waiting for your OK to read a page",
    StepState.DONE: "done",
    StepState.FAILED: "couldn't be done",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSource:
    """Something that was found for a goal, and that its person may still see.

    Attributes:
        text: What it is, in a line.
        href: Where it is shown; empty where no page shows it.
        is_outside: Whether that is a page of somebody else's.
    """

    text: str
    href: str = ""
    is_outside: bool = False


KnownSources = Mapping[tuple[str, str], KnownSource]
"""By kind and id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalStep:
    """One step of a plan, with how it stands in words."""

    description: str
    stands: str
    is_done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalCard:
    """One goal.

    Attributes:
        kind: What is done about it, in words.
        coverage: The share of its steps that are done, in percent; None where nothing is counted.
        progress: How far it has come, in words.
        terms: When something is done about it next, and until when; empty where nothing is any more.
        steps: Of its plan; none where it has a single step.
        found: What it came to, as far as that is still known; each once.
        is_gone: Whether something that was found is known no more.
    """

    id: str
    text: str
    kind: str
    stands: str
    coverage: int | None
    progress: str
    terms: str
    steps: tuple[GoalStep, ...]
    found: tuple[KnownSource, ...]
    is_gone: bool
    is_over: bool
    is_paused: bool


def goal_card(goal: Goal, known: KnownSources, wording: Wording) -> GoalCard:
    """Return a goal as it is shown.

    Args:
        known: Of what was found for it: what its person may see now.
    """
    steps = goal.progress.steps
    sources = dict.fromkeys((each.kind, each.id) for step in steps for each in step.sources)
    found = [known[each] for each in sources if each in known]
    return GoalCard(
        id=goal.id,
        text=goal.text,
        kind=_KINDS[goal.kind],
        stands=_stands(goal),
        coverage=goal.progress.coverage if goal.kind is GoalKind.FIND else None,
        progress=_progress(goal),
        terms=_terms(goal, wording) if goal.is_active else "",
        steps=tuple(map(_step, steps)) if len(steps) > 1 else (),
        found=tuple(dict.fromkeys(found)),
        is_gone=len(found) < len(sources),
        is_over=goal.status not in UNFINISHED,
        is_paused=goal.status is GoalStatus.PAUSED,
    )


def _stands(goal: Goal) -> str:
    is_to_come = goal.kind is GoalKind.ASK and goal.is_active
    return "Waiting" if is_to_come else _STANDS[goal.status]


def _step(step: Step) -> GoalStep:
    return GoalStep(
        description=step.description,
        stands=_STEPS[step.state],
        is_done=step.state is StepState.DONE,
    )


def _progress(goal: Goal) -> str:
    if goal.kind is GoalKind.ASK:
        return ""
    if goal.kind is GoalKind.WATCH:
        looks = goal.progress.cycles
        return f"Checked {looks} {'time' if looks == 1 else 'times'}" if looks else ""
    steps = goal.progress.steps
    done = sum(step.state is StepState.DONE for step in steps)
    return f"{done} of {len(steps)} {'step' if len(steps) == 1 else 'steps'} done"


def _terms(goal: Goal, wording: Wording) -> str:
    if goal.kind is GoalKind.ASK:
        return "" if goal.next_at is None else f"I'll ask you {wording.moment(goal.next_at)}."
    until = f"until {wording.day(wording.local(goal.expires_at).date())}"
    if goal.next_at is None:
        return f"I'm on it {until} at most."
    return f"Next check {wording.moment(goal.next_at)}, {until}."
