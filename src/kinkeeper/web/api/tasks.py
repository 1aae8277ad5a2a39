"""The household's tasks as JSON: what is to be done, and who is reminded of it when."""

from http import HTTPStatus
from typing import Annotated, Any, Self

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, Field

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.actions.requests.tasks import CreateTask, TaskChanges, WhichTasks
from kinkeeper.tasks.model import Priority, TaskStatus
from kinkeeper.tasks.repository import load_task
from kinkeeper.web.access.door import Reader, house_of, viewer_of
from kinkeeper.web.access.model import Person
from kinkeeper.web.context import context_of
from kinkeeper.web.speakers import done_by_hand

router = APIRouter(tags=["tasks"])

_VISIBLE = "^[!-~]+$"

TaskId = Annotated[str, Field(min_length=1, max_length=64)]
Deed = Annotated[str | None, Header(max_length=160, pattern=_VISIBLE)]


class TaskRecord(BaseModel):
    """A task, in the household's time; a deadline without a time of day is a date."""

    id: str
    title: str
    private: bool
    description: str
    priority: Priority
    deadline: str | None
    remind_at: str | None
    rrule: str | None
    who: list[str]
    status: TaskStatus
    done_at: str | None


class TaskList(BaseModel):
    """Tasks, those with a time first; `others` counts other people's tasks that are not listed."""

    tasks: list[TaskRecord]
    others: int


class TaskTold(BaseModel):
    """The result: done, or waiting for an adult's approval. The action can be undone."""

    status: ResultStatus
    summary: str
    task: TaskRecord
    action_id: str | None

    @classmethod
    def of(cls, result: ActionResult) -> Self:
        """Return the record of a result."""
        return cls(
            status=result.status,
            summary=result.summary,
            action_id=result.action_id,
            task=TaskRecord.model_validate(result.result),
        )


@router.get("/api/tasks")
async def list_tasks(
    request: Request,
    person: Reader,
    *,
    status: WhichTasks = WhichTasks.OPEN,
    who: Annotated[
        list[str] | None, Query(max_length=50, description="Whose tasks; default is everybody's.")
    ] = None,
    query: Annotated[str | None, Query(max_length=300)] = None,
) -> TaskList:
    """List tasks."""
    wanted = {"status": status.value, "who": who or [], "query": query}
    found = await done_by_hand(request, person, "task.list", wanted)
    return TaskList.model_validate(found.result)


@router.post("/api/tasks", status_code=HTTPStatus.CREATED)
async def create(
    request: Request,
    response: Response,
    person: Reader,
    *,
    wish: CreateTask,
    idempotency_key: Deed = None,
) -> TaskTold:
    """Add a task. With an `Idempotency-Key`, the same request sent again adds nothing."""
    params = wish.model_dump(mode="json", exclude_none=True)
    result = await done_by_hand(
        request, person, "task.create", params, idempotency_key=idempotency_key
    )
    return _told(result, response)


@router.patch("/api/tasks/{task_id}")
async def update(
    request: Request, response: Response, person: Reader, task_id: TaskId, *, changes: TaskChanges
) -> TaskTold:
    """Change a task; omitted fields are kept, null removes a value."""
    params = await _that(request, person, task_id)
    params["changes"] = changes.model_dump(mode="json", exclude_unset=True)
    return _told(await done_by_hand(request, person, "task.update", params), response)


@router.post("/api/tasks/{task_id}/complete")
async def complete(
    request: Request, response: Response, person: Reader, task_id: TaskId
) -> TaskTold:
    """Mark a task as done; a repeating task moves to its next occurrence."""
    params = await _that(request, person, task_id)
    return _told(await done_by_hand(request, person, "task.complete", params), response)


@router.delete("/api/tasks/{task_id}")
async def delete(request: Request, response: Response, person: Reader, task_id: TaskId) -> TaskTold:
    """Remove a task."""
    params = await _that(request, person, task_id)
    return _told(await done_by_hand(request, person, "task.delete", params), response)


async def _that(request: Request, person: Person, task_id: str) -> dict[str, Any]:
    """Return what names one task, which is never found by words here."""
    viewer = viewer_of(person, now=context_of(request).clock.now())
    task = await house_of(request, person).store.read(lambda conn: load_task(conn, viewer, task_id))
    return {"find_by": task.id}


def _told(result: ActionResult, response: Response) -> TaskTold:
    if result.status is ResultStatus.AWAITING:
        response.status_code = HTTPStatus.ACCEPTED
    return TaskTold.of(result)
