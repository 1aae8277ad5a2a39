"""A person's goals as JSON: what is looked for, watched or asked again later, and how far that has come."""

from http import HTTPStatus
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, Field

from kinkeeper.actions.requests.goals import CreateGoal
from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.goals.model import GoalKind, GoalStatus, StepState
from kinkeeper.goals.repository import load_goal
from kinkeeper.web.access.door import Reader, house_of, viewer_of
from kinkeeper.web.context import context_of
from kinkeeper.web.speakers import done_by_hand

router = APIRouter(tags=["goals"])

GoalId = Annotated[str, Field(min_length=1, max_length=64)]
Deed = Annotated[str | None, Header(max_length=160, pattern="^[!-~]+$")]


class StepRecord(BaseModel):
    """A step; its sources as "kind:id"."""

    id: str
    description: str
    depends_on: list[str]
    state: StepState
    iterations: int
    sources: list[str]


class GoalRecord(BaseModel):
    """A goal, in the household's time; `coverage` is the share of its steps that are done, in percent."""

    id: str
    title: str
    kind: GoalKind
    status: GoalStatus
    is_urgent: bool
    next_at: str | None
    created_at: str
    expires_at: str
    coverage: int
    cycles: int
    steps: list[StepRecord]


class GoalList(BaseModel):
    """One's own goals: those that are not over first, then the newest first."""

    goals: list[GoalRecord]


class GoalTold(BaseModel):
    """The result. The action can be undone."""

    status: ResultStatus
    summary: str
    goal: GoalRecord
    action_id: str | None

    @classmethod
    def of(cls, result: ActionResult) -> Self:
        """Return the record of a result."""
        return cls(
            status=result.status,
            summary=result.summary,
            action_id=result.action_id,
            goal=GoalRecord.model_validate(result.result),
        )


@router.get("/api/goals")
async def list_goals(
    request: Request,
    person: Reader,
    *,
    is_over_too: Annotated[
        bool, Query(alias="all", description="Also those that are over.")
    ] = False,
    query: Annotated[str | None, Query(max_length=300)] = None,
) -> GoalList:
    """List your own goals."""
    wanted = {"is_over_too": is_over_too, "query": query}
    found = await done_by_hand(request, person, "goal.list", wanted)
    return GoalList.model_validate(found.result)


@router.post("/api/goals", status_code=HTTPStatus.CREATED)
async def create(
    request: Request,
    response: Response,
    person: Reader,
    *,
    wish: CreateGoal,
    idempotency_key: Deed = None,
) -> GoalTold:
    """Take on a goal. With an `Idempotency-Key`, the same request sent again adds nothing."""
    params = wish.model_dump(mode="json", exclude_none=True)
    result = await done_by_hand(
        request, person, "goal.create", params, idempotency_key=idempotency_key
    )
    return _told(result, response)


@router.get("/api/goals/{goal_id}")
async def show(request: Request, person: Reader, goal_id: GoalId) -> GoalRecord:
    """Return one of your goals, with its steps."""
    found = await done_by_hand(request, person, "goal.show", await _that(request, person, goal_id))
    return GoalList.model_validate(found.result).goals[0]


@router.post("/api/goals/{goal_id}/{change}")
async def change(
    request: Request,
    response: Response,
    person: Reader,
    goal_id: GoalId,
    *,
    change: Literal["pause", "resume", "cancel"],
) -> GoalTold:
    """Pause a goal, go on with it, or stop it."""
    params = await _that(request, person, goal_id)
    return _told(await done_by_hand(request, person, f"goal.{change}", params), response)


async def _that(request: Request, person: Reader, goal_id: str) -> dict[str, str]:
    """Return what names one goal, which is never found by words here."""
    viewer = viewer_of(person, now=context_of(request).clock.now())
    goal = await house_of(request, person).store.read(lambda conn: load_goal(conn, viewer, goal_id))
    return {"find_by": goal.id}


def _told(result: ActionResult, response: Response) -> GoalTold:
    if result.status is ResultStatus.AWAITING:
        response.status_code = HTTPStatus.ACCEPTED
    return GoalTold.of(result)
