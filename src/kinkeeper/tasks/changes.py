"""Changes of tasks that a person can take back: each is journaled with what was before."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from kinkeeper.core.errors import ConflictError
from kinkeeper.store import row_changes
from kinkeeper.store.row_changes import RowChange
from kinkeeper.tasks.model import Task, TaskStatus
from kinkeeper.tasks.repository import find_task, last_told, load_task, put_task, remove_task
from kinkeeper.tasks.rows import task_of, task_row
from kinkeeper.tasks.turns import completed
from kinkeeper.tasks.validity import checked

_KIND = "task"


def add_task(conn: Connection, task: Task, *, change_id: str, at: datetime) -> None:
    """Write a new task.

    Args:
        conn: Open connection, in a write transaction.
        task: The task.
        change_id: Identifies this change; making it again does nothing.
        at: When, aware.

    Raises:
        ConflictError: There is a task with that id.
        InputError: It cannot be kept.
    """
    if row_changes.is_recorded(conn, _change(task.household, task.id, change_id, at)):
        return
    if find_task(conn, task.household, task.id) is not None:
        raise ConflictError(f"there is a task {task.id!r} already", task_id=task.id)
    _write(conn, None, checked(task), change_id=change_id, at=at)


def update_task(conn: Connection, task: Task, *, change_id: str, at: datetime) -> None:
    """Write a task in the place of the one with its id.

    Args:
        conn: Open connection, in a write transaction.
        task: As it shall be.
        change_id: Identifies this change; making it again does nothing.
        at: When, aware.

    Raises:
        NotFoundError: There is no task with that id.
        InputError: It cannot be kept.
    """
    if not row_changes.is_recorded(conn, _change(task.household, task.id, change_id, at)):
        before = load_task(conn, task.household, task.id)
        _write(conn, before, checked(task), change_id=change_id, at=at)


def complete_task(
    conn: Connection, household: str, task_id: str, *, by: str, change_id: str, at: datetime
) -> None:
    """Mark a task as done; one that repeats goes on to its next turn.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        task_id: Of the task.
        by: Member id of who says so.
        change_id: Identifies this change; making it again does nothing.
        at: When, aware.

    Raises:
        NotFoundError: There is no task with that id.
        ConflictError: It is done already.
    """
    if row_changes.is_recorded(conn, _change(household, task_id, change_id, at)):
        return
    before = load_task(conn, household, task_id)
    if before.status is TaskStatus.DONE:
        raise ConflictError(f"{before.title!r} is done already", task_id=task_id)
    told_at = last_told(conn, household, task_id)
    after = completed(before, told_at=told_at, at=at, by=by)
    _write(conn, before, after, change_id=change_id, at=at)


def delete_task(
    conn: Connection, household: str, task_id: str, *, change_id: str, at: datetime
) -> None:
    """Remove a task.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        task_id: Of the task.
        change_id: Identifies this change; making it again does nothing.
        at: When, aware.

    Raises:
        NotFoundError: There is no task with that id.
    """
    change = _change(household, task_id, change_id, at)
    if not row_changes.is_recorded(conn, change):
        before = load_task(conn, household, task_id)
        remove_task(conn, household, task_id)
        row_changes.record(conn, change, task_row(before), None)


def undo_change(conn: Connection, household: str, change_id: str, *, at: datetime) -> None:
    """Restore exactly what was before a change; taking it back again does nothing.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        change_id: The change.
        at: When, aware.

    Raises:
        NotFoundError: There is no such change.
        ConflictError: The task has changed since.
    """

    def read(task_id: str) -> Mapping[str, Any] | None:
        task = find_task(conn, household, task_id)
        return None if task is None else task_row(task)

    def write(task_id: str, row: Mapping[str, Any] | None) -> None:
        if row is None:
            remove_task(conn, household, task_id)
        else:
            put_task(conn, task_of(row), at=at)

    row_changes.take_back(conn, household, change_id, at=at, read=read, write=write)


def _write(
    conn: Connection, before: Task | None, after: Task, *, change_id: str, at: datetime
) -> None:
    put_task(conn, after, at=at)
    change = _change(after.household, after.id, change_id, at)
    earlier = None if before is None else task_row(before)
    row_changes.record(conn, change, earlier, task_row(after))


def _change(household: str, task_id: str, change_id: str, at: datetime) -> RowChange:
    return RowChange(household=household, change_id=change_id, kind=_KIND, row_id=task_id, at=at)
