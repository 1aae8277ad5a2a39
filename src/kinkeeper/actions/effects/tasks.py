"""Effects on tasks; every one is journaled there and can be taken back."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import PlainSerializer, PlainValidator
from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect, Execution
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.household.viewing import Viewer
from kinkeeper.tasks import changes
from kinkeeper.tasks.model import Task
from kinkeeper.tasks.repository import find_task, load_task
from kinkeeper.tasks.rows import task_of, task_row
from kinkeeper.tasks.validity import checked


def _task(value: Any) -> Task:
    if isinstance(value, Task):
        return value
    if not isinstance(value, Mapping):
        raise ValueError("a task is an object")  # noqa: TRY004 - pydantic collects ValueErrors
    try:
        return task_of(value)
    except (KeyError, TypeError) as error:
        raise ValueError(f"no task: {error}") from error


TaskField = Annotated[Task, PlainValidator(_task), PlainSerializer(task_row)]
"""A task as JSON, and back."""


class _TaskEffect(Effect):
    """Something done to a task.

    Attributes:
        task: The task as it shall be, or as it is where it is done or removed.
    """

    task: TaskField

    def check(self, household: str) -> None:
        """Refuse a task of another household, or one that cannot be kept."""
        if self.task.household != household:
            raise InputError(f"task {self.task.id!r} belongs to another household")
        checked(self.task)

    def scopes(self, conn: Connection, household: str) -> Collection[str]:
        """Return who may see the task."""
        stored = find_task(conn, Viewer.whole(household), self.task.id)
        return {self.task.scope, *([] if stored is None else [stored.scope])}

    @property
    def touched(self) -> Collection[str]:
        """Id of the task."""
        return (self.task.id,)

    def concerns_only(self, member_id: str) -> bool:
        """Whether it is that member's task and nobody else's."""
        return self.task.who == (member_id,)


class AddTask(_TaskEffect):
    """Put a new task on the list."""

    effect: Literal["task.add"] = "task.add"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        changes.add_task(conn, self.task, change_id=execution.change_id, at=execution.at)


class UpdateTask(_TaskEffect):
    """Put a task in the place of the one with its id.

    Attributes:
        based_on: As it was when this was asked for; if it has changed since, nothing is written.
    """

    effect: Literal["task.update"] = "task.update"
    based_on: TaskField

    def check(self, household: str) -> None:
        """Refuse a task of another household, or one that cannot be kept."""
        super().check(household)
        if self.based_on.id != self.task.id:
            raise InputError(f"based_on is another task than {self.task.id!r}")

    def concerns_only(self, member_id: str) -> bool:
        """Whether it was and stays that member's task and nobody else's."""
        return self.task.who == self.based_on.who == (member_id,)

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        _require_unchanged(conn, self.based_on)
        changes.update_task(conn, self.task, change_id=execution.change_id, at=execution.at)


class CompleteTask(_TaskEffect):
    """Mark a task as done; one that repeats goes on to its next turn."""

    effect: Literal["task.complete"] = "task.complete"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        _require_unchanged(conn, self.task)
        changes.complete_task(
            conn, execution.household, self.task.id, by=execution.decided_by,
            change_id=execution.change_id, at=execution.at,
        )  # fmt: skip


class DeleteTask(_TaskEffect):
    """Remove a task."""

    effect: Literal["task.delete"] = "task.delete"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        _require_unchanged(conn, self.task)
        changes.delete_task(
            conn, execution.household, self.task.id, change_id=execution.change_id, at=execution.at
        )


def undo(conn: Connection, execution: Execution) -> None:
    """Restore exactly what was before the change that `execution` names.

    Raises:
        ConflictError: The task was changed again since.
        NotFoundError: There was no such change.
    """
    changes.undo_change(conn, execution.household, execution.change_id, at=execution.at)


def _require_unchanged(conn: Connection, task: Task) -> None:
    if load_task(conn, Viewer.whole(task.household), task.id) != task:
        raise ConflictError(f"{task.title!r} has changed since this was asked for")
