"""What can be asked about goals: what is too much for one turn, and is worked on until it is reached or called off."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import Field

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.effects.goals import AddGoal, CancelGoal, PauseGoal, ReadPage, ResumeGoal
from kinkeeper.actions.model import ActionType
from kinkeeper.actions.requests.model import Asked, Card, Found, Parameters, Prepared, RequestKind
from kinkeeper.actions.requests.parameters import (
    Moment,
    read_moment,
    require_ahead,
    said,
    to_the_minute,
)
from kinkeeper.core.errors import InputError, UnclearError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import as_utc
from kinkeeper.goals.model import (
    MAX_AGE,
    UNFINISHED,
    Goal,
    GoalKind,
    GoalPriority,
    GoalStatus,
    Progress,
    Step,
    find_by,
    moved,
    require_room,
)
from kinkeeper.goals.plan import MOST_STEPS, flat, plan_of
from kinkeeper.goals.repository import list_goals
from kinkeeper.household.viewers import person_scope
from kinkeeper.language.name_match import meant_by
from kinkeeper.language.text import one_line
from kinkeeper.store.store import Store

_WHEN = "When shall I ask you again?"
_MOST_STEPS_READ = 4 * MOST_STEPS
_DOING = {
    GoalKind.FIND: "looking for",
    GoalKind.WATCH: "keeping an eye on",
    GoalKind.ASK: "coming back to",
}


class PlannedStep(Parameters):
    """One step of a goal."""

    id: str = Field(min_length=1, max_length=16)
    description: str = Field(min_length=1, max_length=300, description="4 to 30 words")
    depends_on: tuple[str, ...] = Field(
        default=(), max_length=MOST_STEPS, description="ids of steps before it"
    )


class CreateGoal(Parameters):
    """A new goal."""

    text: str = Field(
        min_length=1,
        description="what is wanted, in one line, without the verb; of `ask` the question",
    )
    kind: GoalKind = Field(
        default=GoalKind.FIND,
        description="find: look for something; watch: tell what is new of it; ask: come back to a question",
    )
    at: str | None = Field(default=None, description="of `ask`, when: ISO 8601 date or date-time")
    is_urgent: bool = False
    steps: tuple[PlannedStep, ...] = Field(
        default=(),
        max_length=_MOST_STEPS_READ,
        description="2 to 8 steps, if it is easily taken apart",
    )
    confidence: float = Field(default=0.0, ge=0, le=1, description="how sure you are of the steps")


class FindGoal(Parameters):
    """One goal."""

    find_by: str = Field(min_length=1, description="the goal's id, or words from it")


class ListGoals(Parameters):
    """Which goals to list."""

    query: str | None = Field(default=None, description="their topic, in words")
    is_over_too: bool = Field(default=False, description="also those that are over")


class PageOfGoal(Parameters):
    """A page that may be read for a goal."""

    find_by: str = Field(min_length=1, description="the goal's id")
    address: str = Field(min_length=1, description="of the page")


async def _prepare_nothing(_wanted: PageOfGoal, _asked: Asked) -> Prepared:
    raise InputError("only the work on a goal asks whether a page may be read")


READ_PAGE = RequestKind(
    domain="goal",
    name="read_page",
    parameters=PageOfGoal,
    stakes=Stakes.LOW,
    description="Let a page of the web be read for a goal.",
    progress="Noting that down…",
    prepare=_prepare_nothing,
)
"""What the work on goals asks for. It stands in no table: neither people nor models ask for it in words."""


def prepare_page(goal: Goal, address: str, host: str) -> Prepared:
    """Return the question whether a page may be read for a goal.

    Args:
        host: Of the address, as it is asked for: one that imitates another looks different.
    """
    return Prepared(
        type=ActionType.GOAL,
        summary=f"Read {host} to look for: {goal.text}",
        effects=(ReadPage(goal_id=goal.id, member=goal.member, address=address).frozen(),),
        shown={"goal": goal.text, "site": host, "address": address},
        result={"title": goal.text, "site": host},
    )


def goal_requests(store: Store) -> tuple[RequestKind, ...]:
    """Return the rows of the table of requests that are about goals."""
    requests = _GoalRequests(store)
    return (
        RequestKind(
            domain="goal",
            name="create",
            parameters=CreateGoal,
            stakes=Stakes.LOW,
            description="Take on something that takes more than one answer: look for it, watch it, or ask again later.",
            progress="Noting that down…",
            prepare=requests.create,
        ),
        RequestKind(
            domain="goal",
            name="list",
            parameters=ListGoals,
            stakes=Stakes.LOW,
            description="List what is being looked for or watched, and how far that has come.",
            progress="Checking what I'm working on…",
            read=requests.list,
        ),
        RequestKind(
            domain="goal",
            name="show",
            parameters=FindGoal,
            stakes=Stakes.LOW,
            description="Tell how one goal stands, with its steps.",
            progress="Checking how that stands…",
            read=requests.show,
        ),
        RequestKind(
            domain="goal",
            name="pause",
            parameters=FindGoal,
            stakes=Stakes.LOW,
            description="Let a goal rest.",
            progress="Pausing that…",
            prepare=requests.changes("Pause", PauseGoal, GoalStatus.PAUSED),
        ),
        RequestKind(
            domain="goal",
            name="resume",
            parameters=FindGoal,
            stakes=Stakes.LOW,
            description="Go on with a goal that rests.",
            progress="Taking that up again…",
            prepare=requests.changes("Go on with", ResumeGoal, GoalStatus.PENDING),
        ),
        RequestKind(
            domain="goal",
            name="cancel",
            parameters=FindGoal,
            stakes=Stakes.LOW,
            description="Stop looking for something or watching it.",
            progress="Stopping that…",
            prepare=requests.changes("Stop", CancelGoal, GoalStatus.CANCELLED),
        ),
    )


def goal_json(goal: Goal, zone: ZoneInfo) -> dict[str, Any]:
    """Return a goal as requests tell it; times are ISO 8601 in a zone."""
    progress = goal.progress
    return {
        "id": goal.id,
        "title": goal.text,
        "kind": goal.kind.value,
        "status": goal.status.value,
        "is_urgent": goal.priority is GoalPriority.HIGH,
        "next_at": None if goal.next_at is None else goal.next_at.astimezone(zone).isoformat(),
        "created_at": goal.created_at.astimezone(zone).isoformat(),
        "expires_at": goal.expires_at.astimezone(zone).isoformat(),
        "coverage": progress.coverage,
        "cycles": progress.cycles,
        "steps": [
            {
                "id": step.id,
                "description": step.description,
                "depends_on": [*step.depends_on],
                "state": step.state.value,
                "iterations": step.iterations,
                "sources": [f"{each.kind}:{each.id}" for each in step.sources],
            }
            for step in progress.steps
        ],
    }


def prepare_goal(
    wanted: CreateGoal, asked: Asked, own: Sequence[Goal], *, why: str = ""
) -> Prepared:
    """Return a new goal, checked and not yet written.

    Args:
        own: Goals of the same person.
        why: What made it, where nobody asked for it.
    """
    text = one_line(wanted.text).strip()
    at = None if wanted.kind is not GoalKind.ASK else _time_of(wanted.at, asked)
    # What is to be asked at a time does not wait for what is looked for meanwhile.
    is_first = wanted.is_urgent or wanted.kind is GoalKind.ASK
    steps = tuple(
        Step(id=each.id, description=one_line(each.description), depends_on=each.depends_on)
        for each in wanted.steps
    )
    is_taken_apart = wanted.kind is GoalKind.FIND
    plan = plan_of(text, steps, confidence=wanted.confidence) if is_taken_apart else flat(text)
    created_at = as_utc(asked.now)
    next_at = None if at is None else as_utc(at.at)
    goal = Goal(
        id=stable_id(asked.household.id, "goal", asked.turn_id, asked.number),
        household=asked.household.id,
        member=asked.member.id,
        scope=person_scope(asked.member.id),
        kind=wanted.kind,
        text=text,
        created_at=created_at,
        expires_at=(next_at or created_at) + MAX_AGE,
        progress=Progress(steps=plan),
        next_at=next_at,
        priority=GoalPriority.HIGH if is_first else GoalPriority.NORMAL,
        thread_id=asked.thread_id or None,
    )
    require_room(goal, own)
    when = "" if at is None else f", {said(at, asked)}"
    return _prepared(
        f"{_DOING[goal.kind].capitalize()}: {text}{when}", AddGoal(goal=goal), goal, asked, why=why
    )


class _GoalRequests:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def create(self, wanted: CreateGoal, asked: Asked) -> Prepared:
        return prepare_goal(wanted, asked, await self._all(asked))

    async def list(self, wanted: ListGoals, asked: Asked) -> Found:
        found = [
            each
            for each in await self._all(asked)
            if wanted.is_over_too or each.status in UNFINISHED
        ]
        if wanted.query is not None:
            found = [found[at] for at in meant_by(wanted.query, [each.text for each in found])]
        items = tuple(
            {
                "id": each.id,
                "text": each.text,
                "when": "" if each.next_at is None else said(Moment(at=each.next_at), asked),
                "detail": f"{each.status.value}, {each.progress.coverage}%",
            }
            for each in found
        )
        card = Card(kind="result", title="What I'm working on", items=items) if items else None
        return Found(
            result={"goals": [goal_json(each, asked.household.zone) for each in found]}, card=card
        )

    async def show(self, wanted: FindGoal, asked: Asked) -> Found:
        goal = find_by(wanted.find_by, await self._all(asked))
        return Found(result={"goals": [goal_json(goal, asked.household.zone)]})

    def changes(
        self, verb: str, effect: Callable[..., Effect], status: GoalStatus
    ) -> Callable[[FindGoal, Asked], Any]:
        """Return what brings a goal that is meant into another state."""

        async def prepare(wanted: FindGoal, asked: Asked) -> Prepared:
            goals = [each for each in await self._all(asked) if each.status in UNFINISHED]
            goal = find_by(wanted.find_by, goals)
            after = moved(goal, status)
            return _prepared(f"{verb}: {goal.text}", effect(goal=goal), after, asked)

        return prepare

    async def _all(self, asked: Asked) -> Sequence[Goal]:
        return await self._store.read(lambda conn: list_goals(conn, asked.viewer))


def _time_of(text: str | None, asked: Asked) -> Moment:
    """Return the moment at which something is to be asked."""
    if text is None:
        raise UnclearError(_WHEN)
    moment = read_moment(text, asked)
    require_ahead(moment, asked, _WHEN)
    at = to_the_minute(moment, asked)
    if at is None:
        raise UnclearError(f"Today is nearly over. {_WHEN}")
    return Moment(at=at)


def _prepared(summary: str, effect: Effect, goal: Goal, asked: Asked, *, why: str = "") -> Prepared:
    result: Mapping[str, Any] = goal_json(goal, asked.household.zone)
    return Prepared(
        type=ActionType.GOAL,
        summary=summary,
        effects=(effect.frozen(),),
        result=result,
        shown={
            "goal": goal.text,
            "steps": [step.description for step in goal.progress.steps],
            **({"why": why} if why else {}),
        },
    )
