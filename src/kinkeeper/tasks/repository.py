"""Tasks in the database: reading and writing them, and when each is next to be said."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, literal_column, or_, select, update

from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.time import A_DAY, as_utc
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared
from kinkeeper.store.visibility import in_scope
from kinkeeper.tasks.model import Task, TaskStatus
from kinkeeper.tasks.tables import task_reminders, tasks
from kinkeeper.tasks.task_rows import columns_of, task_of, task_row
from kinkeeper.tasks.turns import next_reminder

TOPIC = "tasks"
"""Touched with every writing of a task."""

_tasks = tasks.c
_reminders = task_reminders.c
_SHORT = ("id", "title", "status", "deadline")
_OF_HOUSEHOLD = select(tasks).where(
    _tasks.household == bindparam("of_household"), in_scope(_tasks.scope)
)
_ALL = Prepared(_OF_HOUSEHOLD)
_OF_STATUS = Prepared(_OF_HOUSEHOLD.where(_tasks.status == bindparam("status")))
# By the wall time in words: zones apart, that is the order of deadlines.
_OPEN = Prepared(
    select(_tasks.id, _tasks.title, _tasks.status, _tasks.deadline, _tasks.scope, _tasks.who)
    .where(
        _tasks.household == bindparam("of_household"),
        in_scope(_tasks.scope),
        _tasks.status == literal_column(f"'{TaskStatus.OPEN.value}'"),
    )
    .order_by(_tasks.deadline.is_(None), _tasks.deadline, _tasks.created_at, _tasks.id)
)
_BY_ID = Prepared(_OF_HOUSEHOLD.where(_tasks.id == bindparam("of_task")))
_INSERT = Prepared(insert(tasks), _tasks.keys())
_CHANGE = Prepared(
    update(tasks)
    .where(_tasks.household == bindparam("of_household"), _tasks.id == bindparam("of_task"))
    .values({each.key: bindparam(f"{each.key}_", type_=each.type) for each in _tasks})
    .returning(_tasks.id)
)
_OF_TASK = (
    _reminders.household == bindparam("of_household"), _reminders.task_id == bindparam("of_task"),
)  # fmt: skip
_TOLD_AT = select(_reminders.told_at, _reminders.failures).where(*_OF_TASK)
_TOLD, _TOLD_FOR_UPDATE = Prepared(_TOLD_AT), Prepared(_TOLD_AT.with_for_update())
_INSERT_REMINDER = Prepared(insert(task_reminders), _reminders.keys())
_REMIND = Prepared(
    update(task_reminders)
    .where(*_OF_TASK)
    .values(
        next_at=bindparam("next_at_", type_=_reminders.next_at.type),
        told_at=bindparam("told_at_", type_=_reminders.told_at.type),
        failures=bindparam("failures_", type_=_reminders.failures.type),
    )
    .returning(_reminders.task_id)
)


def find_task(conn: Connection, viewer: Viewer, task_id: str) -> Task | None:
    """Return the task with that id, if there is one that may be seen."""
    found = _seen(_BY_ID.mappings(conn, _of(viewer) | {"of_task": task_id}), viewer)
    return task_of(found[0]) if found else None


def load_task(conn: Connection, viewer: Viewer, task_id: str) -> Task:
    """Return the task with that id.

    Raises:
        NotFoundError: There is none that may be seen.
    """
    task = find_task(conn, viewer, task_id)
    if task is None:
        raise NotFoundError(f"there is no task {task_id!r}", task_id=task_id)
    return task


def list_tasks(
    conn: Connection, viewer: Viewer, *, status: TaskStatus | None = None
) -> Sequence[Task]:
    """Return the tasks that may be seen: those with a time first, by it, then by age.

    Args:
        conn: Open connection.
        viewer: On whose behalf.
        status: Only these; all where None.
    """
    if status is None:
        rows = _ALL.mappings(conn, _of(viewer))
    else:
        rows = _OF_STATUS.mappings(conn, _of(viewer) | {"status": status.value})
    return sorted(map(task_of, _seen(rows, viewer)), key=_by_time)


def open_tasks(conn: Connection, viewer: Viewer) -> Sequence[dict[str, Any]]:
    """Return what is open by "id", "title", "status" and "deadline" alone, the first due first.

    Args:
        conn: Open connection.
        viewer: On whose behalf.
    """
    found = _seen(_OPEN.mappings(conn, _of(viewer)), viewer)
    return [{name: row[name] for name in _SHORT} for row in found]


def put_task(conn: Connection, task: Task, *, at: datetime) -> None:
    """Write a task, new or in the place of the one with its id, and when it is next to be said.

    Args:
        conn: Open connection, in a write transaction.
        task: As it shall be; checked.
        at: When, aware.
    """
    row = columns_of(task_row(task)) | {"changed_at": at}
    mine = {"of_household": task.household, "of_task": task.id}
    if not _CHANGE.execute(conn, mine | {f"{name}_": value for name, value in row.items()}):
        _INSERT.execute(conn, row)
    told_at = last_told(conn, task.household, task.id)
    set_reminder(
        conn, task.household, task.id, next_at=next_reminder(task, told_at=told_at), told_at=told_at
    )
    touch(conn, TOPIC, task.household)


def remove_task(conn: Connection, household: str, task_id: str) -> None:
    """Remove a task; what was said of it is kept, so that it is not said again should the task come back."""
    conn.execute(delete(tasks).where(_tasks.household == household, _tasks.id == task_id))
    told_at = last_told(conn, household, task_id)
    set_reminder(conn, household, task_id, next_at=None, told_at=told_at)
    touch(conn, TOPIC, household)


def last_told(
    conn: Connection, household: str, task_id: str, *, for_update: bool = False
) -> datetime | None:
    """Return when the last reminder of a task was due that was said.

    Args:
        conn: Open connection.
        household: Tenant key.
        task_id: Of the task.
        for_update: Whether others who say reminders must wait until this transaction ends.
    """
    query = _TOLD_FOR_UPDATE if for_update else _TOLD
    found = query.execute(conn, {"of_household": household, "of_task": task_id})
    return found[0][0] if found else None


def failures_of(conn: Connection, household: str, task_id: str) -> int:
    """Return how often the reminder of a task that is due could not be said."""
    found = _TOLD.execute(conn, {"of_household": household, "of_task": task_id})
    return (found[0][1] or 0) if found else 0


def next_due(conn: Connection, household: str) -> datetime | None:
    """Return when the household's next reminder is due, if there is one."""
    query = (
        select(_reminders.next_at)
        .where(_reminders.household == household, _reminders.next_at.is_not(None))
        .order_by(_reminders.next_at)
        .limit(1)
    )
    next_at: datetime | None = conn.execute(query).scalar()
    return next_at


def due_ids(conn: Connection, household: str, *, now: datetime, most: int) -> Sequence[str]:
    """Return the ids of tasks with a reminder due by now, or said by a wrong clock; the longest due first.

    Args:
        conn: Open connection.
        household: Tenant key.
        now: Aware.
        most: How many at most.
    """
    query = (
        select(_reminders.task_id)
        .where(
            _reminders.household == household,
            or_(_reminders.next_at <= as_utc(now), _reminders.told_at > as_utc(now) + A_DAY),
        )
        .order_by(_reminders.next_at, _reminders.task_id)
        .limit(most)
    )
    return conn.execute(query).scalars().all()


def set_reminder(
    conn: Connection,
    household: str,
    task_id: str,
    *,
    next_at: datetime | None,
    told_at: datetime | None,
    failures: int | None = None,
) -> None:
    """Write when a task is next to be said, and when the last reminder was due that was said.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        task_id: Of the task.
        next_at: Aware; None where never.
        told_at: Aware; None where none was.
        failures: How often the next one could not be said, > 0; None where that was not tried.
    """
    values = {"next_at": next_at, "told_at": told_at, "failures": failures}
    key = {"of_household": household, "of_task": task_id}
    is_known = _REMIND.execute(conn, key | {f"{name}_": value for name, value in values.items()})
    if not is_known and next_at is not None:
        _INSERT_REMINDER.execute(conn, {"household": household, "task_id": task_id, **values})


def _of(viewer: Viewer) -> dict[str, Any]:
    return viewer.wider_parameters | {"of_household": viewer.household}


def _seen(rows: Sequence[dict[str, Any]], viewer: Viewer) -> list[dict[str, Any]]:
    return [row for row in rows if viewer.sees(row["scope"], row["who"])]


def _by_time(task: Task) -> tuple[bool, float, datetime, str]:
    turn = task.turn
    return turn is None, 0.0 if turn is None else turn.timestamp(), task.created_at, task.id
