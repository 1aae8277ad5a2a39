"""Changes of tasks that a person can take back: each is journaled with what was before."""

from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.row_changes import Journal, Row
from kinkeeper.tasks.model import Task, TaskStatus
from kinkeeper.tasks.repository import (
    KIND,
    find_task,
    last_told,
    put_task,
    remove_task,
    task_of,
    task_row,
)
from kinkeeper.tasks.turns import checked, completed


def add_task(conn: Connection, task: Task, *, change_id: str, at: datetime) -> None:
    """Write a new task.

    Raises:
        ConflictError: There is a task with that id.
    """

    def after(before: Row | None) -> Row:
        if before is not None:
            raise ConflictError(f"there is already a task {task.id!r}", task_id=task.id)
        return task_row(checked(task))

    _JOURNAL.change(conn, task.household, task.id, after, change_id=change_id, at=at)


def update_task(conn: Connection, task: Task, *, change_id: str, at: datetime) -> None:
    """Write a task in the place of the one with its id."""

    def after(before: Row | None) -> Row:
        _there(before, task.id)
        return task_row(checked(task))

    _JOURNAL.change(conn, task.household, task.id, after, change_id=change_id, at=at)


def complete_task(
    conn: Connection, household: str, task_id: str, *, by: str, change_id: str, at: datetime
) -> None:
    """Mark a task as done; one that repeats goes on to its next turn.

    Raises:
        ConflictError: It is already done.
    """

    def after(before: Row | None) -> Row:
        task = _there(before, task_id)
        if task.status is TaskStatus.DONE:
            raise ConflictError(f"{task.title!r} is already done", task_id=task_id)
        told_at = last_told(conn, household, task_id)
        return task_row(completed(task, told_at=told_at, at=at, by=by))

    _JOURNAL.change(conn, household, task_id, after, change_id=change_id, at=at)


def delete_task(
    conn: Connection, household: str, task_id: str, *, change_id: str, at: datetime
) -> None:
    """Remove a task."""

    def after(before: Row | None) -> None:
        _there(before, task_id)

    _JOURNAL.change(conn, household, task_id, after, change_id=change_id, at=at)


def _there(row: Row | None, task_id: str) -> Task:
    if row is None:
        raise NotFoundError(f"there is no task {task_id!r}", task_id=task_id)
    return task_of(row)


def _read(conn: Connection, household: str, task_id: str) -> Row | None:
    task = find_task(conn, Viewer.whole(household), task_id)
    return None if task is None else task_row(task)


def _write(
    conn: Connection, household: str, task_id: str, row: Row | None, *, at: datetime
) -> None:
    if row is None:
        remove_task(conn, household, task_id)
    else:
        put_task(conn, task_of(row), at=at)


_JOURNAL = Journal(kind=KIND, read=_read, write=_write)
undo_change = _JOURNAL.take_back
