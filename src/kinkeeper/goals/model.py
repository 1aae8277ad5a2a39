"""Goals: frozen values, what may become of them, and which one is worked on next. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Final

from kinkeeper.core.errors import ConflictError, InputError, NotFoundError, UnclearError
from kinkeeper.language.name_match import meant_by, telling_stems
from kinkeeper.language.text import TokenKind, one_line, shorten, strip_controls, tokenise

MAX_AGE: Final = timedelta(days=14)
"""How long a goal is worked on; of one with a time, how long after it."""

MOST_ACTIVE: Final = 5
"""Goals that one person may have under way."""

SAME_GOAL: Final = 0.6
"""Two goals that share more of their words than this are the same."""

MOST_ITERATIONS: Final = 20
MOST_STEP_ITERATIONS: Final = 5
MOST_STEPS_A_CYCLE: Final = 3
LONGEST_WORK: Final = timedelta(minutes=30)
"""Most that is done for a goal, for a step, and in a cycle."""

CYCLE: Final = timedelta(minutes=30)
JITTER: Final = 0.3
"""How long after one cycle the next begins, give or take this share of it."""

WATCH_EVERY: Final = MAX_AGE / MOST_ITERATIONS
"""How often something is looked at that is watched: so that its looks last as long as it does."""

FIRST_TOLD_CYCLE: Final = 2
POINTS_WORTH_TELLING: Final = 15
"""A goal's person is told after this many cycles, and again when it came this much further."""

LONGEST_TEXT: Final = 300
_SHORTEST_ID = 8
_LONGEST_SHOWN = 60


class GoalKind(StrEnum):
    """What a goal is about."""

    FIND = "find"  # find something out, and tell it
    WATCH = "watch"  # look again and again, and tell what is new
    ASK = "ask"  # come back to a question at its time


class GoalStatus(StrEnum):
    """Where a goal stands."""

    PENDING = "pending"  # nothing was done for it yet, or since it was taken up again
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    FAILED = "failed"


_MAY_BECOME: Final = {
    GoalStatus.PENDING: {
        GoalStatus.RUNNING,
        GoalStatus.PAUSED,
        GoalStatus.CANCELLED,
        GoalStatus.EXPIRED,
    },
    GoalStatus.RUNNING: {
        GoalStatus.COMPLETED,
        GoalStatus.PAUSED,
        GoalStatus.CANCELLED,
        GoalStatus.EXPIRED,
        GoalStatus.FAILED,
    },
    GoalStatus.PAUSED: {GoalStatus.PENDING, GoalStatus.CANCELLED, GoalStatus.EXPIRED},
}
ACTIVE: Final = frozenset({GoalStatus.PENDING, GoalStatus.RUNNING})
UNFINISHED: Final = frozenset(_MAY_BECOME)
TOLD_AT_END: Final = frozenset({GoalStatus.COMPLETED, GoalStatus.EXPIRED, GoalStatus.FAILED})
"""Ends that its person has not brought about, and is told of."""


class GoalPriority(IntEnum):
    """Which goals come first."""

    LOW = 0
    NORMAL = 1
    HIGH = 2


class StepState(StrEnum):
    """Where a step stands."""

    WAITING = "waiting"
    ASKING = "asking"  # its person was asked whether a page may be read for it
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Something that was found.

    Attributes:
        kind: "fact", "event", "note", "mail", ...
        text: Its own words, until its person was told; then it is kept without them.
    """

    kind: str
    id: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a plan.

    Attributes:
        id: Within its plan.
        depends_on: Ids of the steps that come before it.
        iterations: How often it was begun.
        answer: What it came to, in words, until its person was told.
        sources: What that rests on.
        asks: The address of the page that its person was asked about and has not answered yet; empty where there is none.
    """

    id: str
    description: str
    depends_on: tuple[str, ...] = ()
    state: StepState = StepState.WAITING
    iterations: int = 0
    answer: str = ""
    sources: tuple[Source, ...] = ()
    asks: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the work on a goal has come: written as a whole or not at all.

    Attributes:
        steps: The plan, in its order.
        cycles: How many cycles have worked on it.
        seen: Of something that is watched: digests of what was found before.
        told_coverage: The coverage that its person was last told; None before they were told anything.
        is_end_told: Whether they were told how it ended.
        asked_pages: Addresses of the pages that its person was asked about, in order.
        allowed_pages: Addresses of those that they allowed; none once the goal has ended.
    """

    steps: tuple[Step, ...]
    cycles: int = 0
    seen: tuple[str, ...] = ()
    told_coverage: int | None = None
    is_end_told: bool = False
    asked_pages: tuple[str, ...] = ()
    allowed_pages: tuple[str, ...] = ()

    @property
    def iterations(self) -> int:
        """How often any step was begun."""
        return sum(step.iterations for step in self.steps)

    @property
    def coverage(self) -> int:
        """The share of the steps that are done, in percent."""
        return 100 * sum(step.state is StepState.DONE for step in self.steps) // len(self.steps)

    @property
    def ready(self) -> Sequence[Step]:
        """The steps that can be worked on: what they depend on is done, and they were not tried too often."""
        done = {step.id for step in self.steps if step.state is StepState.DONE}
        if self.iterations >= MOST_ITERATIONS:
            return ()
        return [
            step
            for step in self.steps
            if step.state is StepState.WAITING
            and done.issuperset(step.depends_on)
            and step.iterations < MOST_STEP_ITERATIONS
        ]

    @property
    def asking(self) -> Sequence[Step]:
        """The steps for which their person was asked whether a page may be read; those of a watched goal go on meanwhile."""
        return [step for step in self.steps if step.asks]

    @property
    def only_asks(self) -> bool:
        """Whether nothing can be done until their person has said that."""
        return any(step.state is StepState.ASKING for step in self.steps) and not self.ready

    def with_step(self, changed: Step) -> "Progress":
        """Return it with another state of one step."""
        steps = tuple(changed if step.id == changed.id else step for step in self.steps)
        return replace(self, steps=steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Something that a person wants, worked on until it is reached, given up or told off.

    Attributes:
        id: Stable.
        member: Member id of who asked for it; nobody else sees it.
        text: What is wanted, in one line and their words; of `ASK` the question.
        next_at: When it is worked on at the earliest; aware. None for as soon as possible.
        thread_id: The conversation it was asked for in; None where it came from a page or a command.
        expires_at: When its work ends, whatever it has come to; aware.
    """

    id: str
    household: str
    member: str
    scope: str
    kind: GoalKind
    text: str
    created_at: datetime
    expires_at: datetime
    progress: Progress
    priority: GoalPriority = GoalPriority.NORMAL
    status: GoalStatus = GoalStatus.PENDING
    next_at: datetime | None = None
    thread_id: str | None = None

    def __post_init__(self) -> None:
        """Refuse a text that says nothing, or too much."""
        plain = one_line(strip_controls(self.text))
        if not word_set(plain) or plain != self.text or len(plain) > LONGEST_TEXT:
            raise InputError(f"say in one line of up to {LONGEST_TEXT} characters what you want")

    @property
    def is_active(self) -> bool:
        """Whether it is worked on."""
        return self.status in ACTIVE

    @property
    def can_go_on(self) -> bool:
        """Whether it is worked on, and does not only wait for what its person says to a question."""
        return self.is_active and not self.progress.only_asks


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, in lower case."""
    return frozenset(
        token.text.casefold() for token in tokenise(text) if token.kind is not TokenKind.PUNCTUATION
    )


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return how much two sets share, in [0, 1]."""
    both = first | second
    return len(first & second) / len(both) if both else 1.0


def moved(goal: Goal, status: GoalStatus) -> Goal:
    """Return a goal in another state; the one place that says what may become of what.

    Raises:
        ConflictError: That cannot become of it any more.
    """
    if status not in _MAY_BECOME.get(goal.status, set()):
        stands = "under way" if goal.is_active else goal.status.value
        raise ConflictError(f"“{shorten(goal.text, _LONGEST_SHOWN)}” is already {stands}")
    after = replace(goal, status=status)
    return after if status in UNFINISHED else replace(after, progress=_without_leave(goal.progress))


def _without_leave(progress: Progress) -> Progress:
    """Return progress with no page allowed any more: a permission ends with its goal."""
    return replace(progress, allowed_pages=())


def with_page(goal: Goal, address: str, *, is_allowed: bool) -> Goal:
    """Return a goal for which a page may be read, or no longer may.

    Raises:
        ConflictError: The goal is over.
    """
    if is_allowed and goal.status not in UNFINISHED:
        raise ConflictError(
            f"“{shorten(goal.text, _LONGEST_SHOWN)}” is already {goal.status.value}"
        )
    others = tuple(each for each in goal.progress.allowed_pages if each != address)
    allowed = (*others, address) if is_allowed else others
    return replace(goal, progress=replace(goal.progress, allowed_pages=allowed))


def reopened(goal: Goal, status: GoalStatus) -> Goal:
    """Return a goal that its person stopped as it was before: what undo alone may do.

    Args:
        status: Where it stood when it was stopped.

    Raises:
        ConflictError: It is not a stopped goal.
    """
    return (
        replace(goal, status=status) if goal.status is GoalStatus.CANCELLED else moved(goal, status)
    )


def require_room(goal: Goal, others: Iterable[Goal]) -> None:
    """Refuse a goal that its person has already, or has no room for.

    Args:
        others: Goals of the same person.

    Raises:
        ConflictError: The message says which one it is, or how many there are.
    """
    unfinished = [each for each in others if each.status in UNFINISHED and each.id != goal.id]
    if (same := same_goal(goal.text, goal.kind, unfinished)) is not None:
        raise ConflictError(f"I'm already on that: “{shorten(same.text, _LONGEST_SHOWN)}”")
    if sum(each.is_active for each in unfinished) >= MOST_ACTIVE:
        raise ConflictError(
            f"I'm already working on {MOST_ACTIVE} things for you; stop or pause one first"
        )


def same_goal(text: str, kind: GoalKind, others: Iterable[Goal]) -> Goal | None:
    """Return the goal that wants the same.

    It is told by the words that tell things apart: the same for two children is not the same.
    """
    words = telling_stems(text)
    return next(
        (
            each
            for each in others
            if each.kind is kind and jaccard(telling_stems(each.text), words) > SAME_GOAL
        ),
        None,
    )


def chosen(goals: Iterable[Goal], *, now: datetime) -> Goal | None:
    """Return the goal to be worked on: the oldest of the highest priority that is due."""
    due = [each for each in goals if each.can_go_on and is_due(each, now)]
    return min(due, key=lambda each: (-each.priority, each.created_at, each.id), default=None)


def is_due(goal: Goal, now: datetime) -> bool:
    """Whether a goal may be worked on: also where a clock that was set back makes it wait for longer than it ever does."""
    at = goal.next_at
    is_watched = goal.kind is GoalKind.WATCH
    return at is None or at <= now or (is_watched and at > now + WATCH_EVERY)


def is_worth_telling(goal: Goal) -> bool:
    """Whether its person is to be told how a goal stands: it has ended, or got on far enough since they were told."""
    progress = goal.progress
    if goal.status in TOLD_AT_END:
        return not progress.is_end_told
    if goal.status is not GoalStatus.RUNNING:
        return False
    if goal.kind is GoalKind.WATCH:
        return any(step.answer for step in progress.steps)
    if any(step.answer for step in progress.asking):
        return True  # what is found so far, with the question
    rose = progress.coverage - (progress.told_coverage or 0)
    is_first = progress.told_coverage is None and progress.cycles >= FIRST_TOLD_CYCLE
    return is_first or rose > POINTS_WORTH_TELLING


def told(goal: Goal) -> Goal:
    """Return a goal after its person was told how it stands: the words that it came to are let go."""
    progress = goal.progress
    steps = tuple(
        replace(step, answer="", sources=tuple(replace(each, text="") for each in step.sources))
        for step in progress.steps
    )
    after = replace(
        progress,
        steps=steps,
        told_coverage=progress.coverage,
        is_end_told=goal.status in TOLD_AT_END,
    )
    return replace(goal, progress=after)


def find_by(words: str, goals: Sequence[Goal]) -> Goal:
    """Return the goal that is meant by its id or the beginning of it, or by words of it.

    Args:
        goals: Those that can be meant, the likelier ones first.

    Raises:
        NotFoundError: None is meant; the message says what there is.
        UnclearError: Several can be meant; the question names them.
    """
    named = words.strip().lower()
    found = [each for each in goals if len(named) >= _SHORTEST_ID and each.id.startswith(named)]
    found = found or [goals[at] for at in meant_by(words, [each.text for each in goals])]
    shown = [shorten(each.text, _LONGEST_SHOWN) for each in (found or goals)]
    if not found:
        there = f"I'm on: {', '.join(shown)}." if shown else "There is nothing I'm working on."
        raise NotFoundError(f"I'm not working on anything like {words!r}. {there}")
    if len(found) > 1:
        raise UnclearError(f"Which do you mean: {', '.join(shown)}?", options=shown)
    return found[0]
