"""Goals of any kind: what may become of them, which one is worked on, and which plans are taken."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from graphlib import CycleError, TopologicalSorter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.goals.model import (
    ACTIVE,
    LONGEST_TEXT,
    MOST_ACTIVE,
    MOST_ITERATIONS,
    MOST_STEP_ITERATIONS,
    TOLD_AT_END,
    UNFINISHED,
    Goal,
    GoalKind,
    GoalPriority,
    GoalStatus,
    Progress,
    Step,
    StepState,
    chosen,
    is_worth_telling,
    moved,
    require_room,
    told,
)
from kinkeeper.goals.plan import MOST_STEPS, flat, plan_of, problems
from kinkeeper.household.viewers import person_scope

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
WORDS = ("swimming", "camp", "guitar", "museum", "passport", "garden", "choir", "kennel", "bicycle")
STATUSES = st.sampled_from(GoalStatus)


def goal(text: str = "a swimming course for Mia", **changed: object) -> Goal:
    values = {
        "id": "g",
        "household": "h",
        "member": "ann",
        "scope": person_scope("ann"),
        "kind": GoalKind.FIND,
        "text": text,
        "created_at": NOW,
        "expires_at": NOW + timedelta(days=14),
        "progress": Progress(steps=flat(text)),
    }
    return Goal(**values | changed)  # type: ignore[arg-type]


def steps(*depends_on: tuple[str, ...]) -> list[Step]:
    """Return steps without a fault but what they wait for."""
    return [
        Step(id=str(at), depends_on=before, description=f"{WORDS[at]} {at}0 {at}1 {at}2 {at}3")
        for at, before in enumerate(depends_on)
    ]


@given(path=st.lists(STATUSES, max_size=8))
def test_what_is_over_stays_so(path: list[GoalStatus]) -> None:
    """Whatever is tried, only what the table allows happens, and nothing leads out of an end."""
    at = goal()
    for status in path:
        try:
            after = moved(at, status)
        except ConflictError:
            continue
        assert at.status in UNFINISHED
        assert after.status is status is not at.status
        assert status is not GoalStatus.COMPLETED or at.status is GoalStatus.RUNNING
        assert after == replace(at, status=status)
        at = after


@given(
    rows=st.lists(
        st.tuples(
            STATUSES,
            st.sampled_from(GoalPriority),
            st.integers(0, 9),
            st.integers(-3, 3) | st.none(),
        ),
        max_size=8,
    )
)
def test_the_oldest_of_the_highest_priority_that_is_due_comes_first(
    rows: list[tuple[GoalStatus, GoalPriority, int, int | None]],
) -> None:
    goals = [
        goal(
            id=f"g{at}",
            status=status,
            priority=priority,
            created_at=NOW - timedelta(days=age),
            next_at=None if wait is None else NOW + timedelta(hours=wait),
        )
        for at, (status, priority, age, wait) in enumerate(rows)
    ]
    first = chosen(goals, now=NOW)
    due = [each for each in goals if each.status in ACTIVE and (each.next_at or NOW) <= NOW]
    assert (first is None) is not bool(due)
    if first is not None:
        assert first in due
        assert all(each.priority <= first.priority for each in due)
        assert all(
            first.created_at <= each.created_at for each in due if each.priority == first.priority
        )


@given(
    graph=st.integers(2, MOST_STEPS).flatmap(
        lambda size: st.lists(
            st.sets(st.integers(0, size - 1).map(str), max_size=3), min_size=size, max_size=size
        )
    )
)
def test_a_plan_is_taken_where_its_steps_can_come_one_after_the_other(
    graph: list[set[str]],
) -> None:
    proposed = steps(*(tuple(sorted(each)) for each in graph))
    try:
        list(TopologicalSorter({str(at): each for at, each in enumerate(graph)}).static_order())
    except CycleError:
        assert any("circle" in each for each in problems(proposed, confidence=0.9))
        assert plan_of("the goal", proposed, confidence=0.9) == flat("the goal")
    else:
        assert plan_of("the goal", proposed, confidence=0.9) == tuple(proposed)
        walked(Progress(steps=tuple(proposed)))


def walked(progress: Progress) -> None:
    """Do what is ready until nothing is: all of it, each step after those it waits for."""
    before = -1
    while ready := progress.ready:
        assert progress.coverage > before
        before = progress.coverage
        done = {each.id for each in progress.steps if each.state is StepState.DONE}
        assert all(done.issuperset(each.depends_on) for each in ready)
        progress = progress.with_step(replace(ready[0], state=StepState.DONE))
    assert progress.coverage == 100


FAULTS = {
    "one step": steps(()),
    "too many": [*steps(*[()] * 8), Step(id="x", description="one more thing of all that")],
    "unknown": steps((), ("9",)),
    "itself": steps((), ("1",)),
    "circle": steps(("2",), ("0",), ("1",)),
    "short": [*steps((), ()), Step(id="x", description="only three words")],
    "long": [*steps((), ()), Step(id="x", description=" ".join(f"w{at}" for at in range(31)))],
    "alike": [*steps((), ()), Step(id="x", description="Museum? camp 10 11 12 13!")],
    "one id": [*steps((), ()), Step(id="0", description="something else that is done")],
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_plan_with_a_fault_is_not_taken(name: str) -> None:
    assert [*problems(FAULTS[name], confidence=1.0)]
    assert plan_of("the goal", FAULTS[name], confidence=1.0) == flat("the goal")


@pytest.mark.parametrize(
    ("confidence", "is_taken"), [(0.5, False), (0.51, True), (float("nan"), False)]
)
def test_a_plan_that_nobody_is_sure_of_is_not_taken(confidence: float, is_taken: bool) -> None:
    taken = plan_of("the goal", steps((), ("0",)), confidence=confidence)
    assert (taken == tuple(steps((), ("0",)))) is is_taken


@pytest.mark.parametrize("length", [4, 30])
def test_steps_of_allowed_lengths_are_taken(length: int) -> None:
    step = Step(id="x", description=" ".join(f"w{at}" for at in range(length)))
    assert not [*problems([*steps(()), step], confidence=0.6)]


@given(tries=st.lists(st.integers(0, 9), min_size=1, max_size=8))
def test_nothing_is_tried_too_often(tries: list[int]) -> None:
    progress = Progress(
        steps=tuple(Step(id=str(at), description="x", iterations=n) for at, n in enumerate(tries))
    )
    assert all(each.iterations < MOST_STEP_ITERATIONS for each in progress.ready)
    assert sum(tries) < MOST_ITERATIONS or not progress.ready


@given(
    status=STATUSES,
    cycles=st.integers(0, 4),
    done=st.integers(0, 8),
    told_at=st.integers(0, 100) | st.none(),
)
def test_what_was_told_is_not_told_again(
    status: GoalStatus, cycles: int, done: int, told_at: int | None
) -> None:
    plan = tuple(
        replace(each, state=StepState.DONE if at < done else StepState.WAITING, answer="Words.")
        for at, each in enumerate(steps(*[()] * 8))
    )
    at = goal(status=status, progress=Progress(steps=plan, cycles=cycles, told_coverage=told_at))
    rose = at.progress.coverage - (told_at or 0)
    running = status is GoalStatus.RUNNING and (rose > 15 or (told_at is None and cycles >= 2))
    assert is_worth_telling(at) is (running or status in TOLD_AT_END)
    after = told(at)
    assert not is_worth_telling(after)
    assert not any(each.answer for each in after.progress.steps)


@pytest.mark.parametrize(
    ("text", "has_room"),
    [
        ("a swimming course for Mia", False),
        ("Mia: a good course for swimming", False),
        ("a swimming course for Leo", True),
        ("a kennel for the dog in August", True),
    ],
)
def test_the_same_goal_is_not_taken_twice(text: str, has_room: bool) -> None:
    for status in GoalStatus:
        others = [goal(id="other", status=status)]
        if has_room or status not in UNFINISHED:
            require_room(goal(text), others)
        else:
            with pytest.raises(ConflictError):
                require_room(goal(text), others)


def test_there_is_room_for_five() -> None:
    others = [goal(word, id=word) for word in WORDS[:MOST_ACTIVE]]
    with pytest.raises(ConflictError):
        require_room(goal(WORDS[8]), others)
    require_room(goal(WORDS[8]), [*others[1:], replace(others[0], status=GoalStatus.PAUSED)])


@pytest.mark.parametrize("text", ["", " ", "?!", "two\nlines", "x" * (LONGEST_TEXT + 1), "a\x00b"])
def test_a_goal_says_something_in_one_line(text: str) -> None:
    with pytest.raises(InputError):
        goal(text)
