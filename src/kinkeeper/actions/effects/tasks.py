"""Effects on tasks; every one is journaled there and can be taken back."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import PlainSerializer, PlainValidator
from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect, Execution, Told, Touched
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.core.time import day_over
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer, kept_from, kept_to, person_of
from kinkeeper.tasks import task_changes
from kinkeeper.tasks.model import Task
from kinkeeper.tasks.repository import find_task, load_task, task_of, task_row
from kinkeeper.tasks.turns import checked


def _task(value: Any) -> Task:
    if isinstance(value, Task):
        return value
    if not isinstance(value, Mapping):
        raise ValueError("a task must be an object")  # noqa: TRY004 - pydantic collects ValueErrors
    try:
        return task_of(value)
    except (KeyError, TypeError) as error:
        raise ValueError(f"invalid task: {error}") from error


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

    def narrowed(self, conn: Connection, household: str, scope: str) -> Self:
        """Return it with the task for fewer people."""
        task = for_fewer(self.task, kept_to(self.task.scope, scope))
        return self.model_copy(update={"task": task})

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return the task."""
        stored = find_task(conn, Viewer.whole(household), self.task.id)
        before = None if stored is None else stored.scope
        touched = Touched(
            id=self.task.id, before=before, after=self.task.scope, whose=self._whose(stored)
        )
        return (touched,)

    def over_at(
        self, conn: Connection, household: Household, *, after: datetime
    ) -> datetime | None:
        """Return when the day of its present turn is over."""
        task, zone = self.task, household.zone
        days = [each.astimezone(zone).date() for each in (task.deadline, task.remind_at) if each]
        if task.deadline is not None and task.is_all_day:
            days.append(task.deadline.astimezone(ZoneInfo(task.tz)).date())
        return day_over(max(days), zone) if days else None

    def _whose(self, stored: Task | None) -> str | None:
        """Return who asked for it, where they have to do it, and alone."""
        known = stored or self.task
        maker = known.asked_by or person_of(known.scope)
        people = {*self.task.who, *known.who}
        return maker if people == {maker} else None


class AddTask(_TaskEffect):
    """Put a new task on the list."""

    effect: Literal["task.add"] = "task.add"

    @property
    def told(self) -> Told:
        """Its title and description."""
        return Told(_words(self.task))

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        scope = kept_to(self.task.scope, execution.scope)
        task = replace(self.task, scope=scope)
        task_changes.add_task(conn, task, change_id=execution.change_id, at=execution.at)


class UpdateTask(_TaskEffect):
    """Put a task in the place of the one with its id.

    Attributes:
        based_on: As it was when this was asked for; if it has changed since, nothing is written.
    """

    effect: Literal["task.update"] = "task.update"
    based_on: TaskField

    @property
    def told(self) -> Told:
        """Its title and description, where they change."""
        return Told(_words(self.task), _words(self.based_on), self.task.who)

    def check(self, household: str) -> None:
        """Refuse a task of another household, or one that cannot be kept."""
        super().check(household)
        if self.based_on.id != self.task.id:
            raise InputError(f"based_on is not task {self.task.id!r}")

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        _require_unchanged(conn, self.based_on)
        task_changes.update_task(conn, self.task, change_id=execution.change_id, at=execution.at)


class CompleteTask(_TaskEffect):
    """Mark a task as done; one that repeats goes on to its next turn."""

    effect: Literal["task.complete"] = "task.complete"

    def _whose(self, stored: Task | None) -> str | None:
        """Return who has to do it alone, whoever asked for it."""
        who = (stored or self.task).who
        return who[0] if len(who) == 1 else None

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        _require_unchanged(conn, self.task)
        task_changes.complete_task(
            conn,
            execution.household,
            self.task.id,
            by=execution.decided_by,
            change_id=execution.change_id,
            at=execution.at,
        )


class DeleteTask(_TaskEffect):
    """Remove a task."""

    effect: Literal["task.delete"] = "task.delete"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        _require_unchanged(conn, self.task)
        task_changes.delete_task(
            conn, execution.household, self.task.id, change_id=execution.change_id, at=execution.at
        )


def undo(conn: Connection, execution: Execution) -> None:
    """Restore exactly what was before the change that `execution` names.

    Raises:
        ConflictError: The task was changed again since.
        NotFoundError: There was no such change.
    """
    task_changes.undo_change(conn, execution.household, execution.change_id, at=execution.at)


def for_fewer(task: Task, scope: str) -> Task:
    """Return a task that only those see who may see a scope: whoever may not does not have to do it.

    Raises:
        InputError: It is to be one member's, and for others to do.
    """
    owner = person_of(scope)
    if owner is not None and not {*task.who} <= {owner}:
        raise InputError(
            "a private task can only be for you: leave out the other people, or share it with everyone"
        )
    who = tuple(each for each in task.who if each not in kept_from(scope))
    left = owner or (task.asked_by if task.who else None)
    return replace(task, scope=scope, who=who or tuple(filter(None, [left])))


def _words(task: Task) -> str:
    return f"{task.title}\n{task.description}"


def _require_unchanged(conn: Connection, task: Task) -> None:
    if load_task(conn, Viewer.whole(task.household), task.id) != task:
        raise ConflictError(f"{task.title!r} has changed since this was asked for")
