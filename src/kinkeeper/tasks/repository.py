"""Tasks in the database: reading and writing them, and when each is next to be said."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Index,
    Integer,
    String,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.time import A_DAY, as_utc, from_text, to_text
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared, in_scope
from kinkeeper.store.row_changes import changes_of
from kinkeeper.store.schema import Instant, metadata
from kinkeeper.tasks.model import Place, Priority, Task, TaskStatus
from kinkeeper.tasks.turns import next_reminder

# Tables of tasks. What people change of a task stands apart from when it is next to be said.

tasks = Table(
    "tasks",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("scope", String, nullable=False),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("priority", String(8), nullable=False),
    # Local wall times with their offset, so that what repeats keeps its wall time.
    Column("deadline", String(40)),
    Column("is_all_day", Boolean, nullable=False),
    Column("remind_at", String(40)),
    Column("rrule", Text),
    Column("tz", String(64), nullable=False),
    Column("who", JSON, nullable=False),
    Column("status", String(8), nullable=False),
    Column("done_at", Instant),
    Column("done_by", String(64)),
    Column("asked_by", String(64)),
    Column("channel", String(32), nullable=False),
    Column("thread_id", String(128)),
    Column("created_at", Instant, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Index("ix_tasks_status", "household", "status"),
)

task_reminders = Table(
    "task_reminders",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("task_id", String(64), primary_key=True),
    Column("next_at", Instant),
    Column("told_at", Instant),
    # How often what is due now could not be said; nothing where it never failed.
    Column("failures", Integer),
    Index("ix_task_reminders_next", "household", "next_at"),
)


# How tasks lie in their rows. Pure.

_INSTANTS = ("done_at", "created_at")
_WALLS = ("deadline", "remind_at")


def task_row(task: Task) -> dict[str, Any]:
    """Return what people change of a task: JSON-ready, and equal for equal tasks."""
    return {
        "household": task.household,
        "id": task.id,
        "scope": task.scope,
        "title": task.title,
        "description": task.description,
        "priority": task.priority.value,
        "is_all_day": task.is_all_day,
        "rrule": task.rrule,
        "tz": task.tz,
        "who": list(task.who),
        "status": task.status.value,
        "done_by": task.done_by,
        "asked_by": task.asked_by,
        "channel": task.place.channel,
        "thread_id": task.place.thread_id,
        **{name: _text(getattr(task, name)) for name in _INSTANTS},
        **{name: _wall_text(getattr(task, name)) for name in _WALLS},
    }


def columns_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row made by `task_row` as the database takes it."""
    instants = {name: from_text(row[name]) if row[name] else None for name in _INSTANTS}
    return {**row, **instants}


def task_of(row: Mapping[str, Any]) -> Task:
    """Return the task of a row, as `task_row` made it or as it was stored."""
    zone = ZoneInfo(row["tz"])
    return Task(
        id=row["id"],
        household=row["household"],
        scope=row["scope"],
        title=row["title"],
        description=row["description"],
        priority=Priority(row["priority"]),
        is_all_day=row["is_all_day"],
        rrule=row["rrule"],
        tz=row["tz"],
        who=tuple(row["who"]),
        status=TaskStatus(row["status"]),
        done_by=row["done_by"],
        asked_by=row["asked_by"],
        place=Place(channel=row["channel"], thread_id=row["thread_id"]),
        created_at=_local(row["created_at"], zone),
        done_at=None if row["done_at"] is None else _local(row["done_at"], zone),
        deadline=_wall_in(zone, row["deadline"]),
        remind_at=_wall_in(zone, row["remind_at"]),
    )


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else to_text(instant)


def _wall_text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _wall_in(zone: ZoneInfo, text: str | None) -> datetime | None:
    """Return a wall time as it was written, also one that a clock change skips; of two equal ones the right."""
    if text is None:
        return None
    written = datetime.fromisoformat(text)
    first = written.replace(tzinfo=zone)
    second = first.replace(fold=1)
    is_second = first.utcoffset() != written.utcoffset() == second.utcoffset()
    return second if is_second else first


def _local(value: str | datetime, zone: ZoneInfo) -> datetime:
    instant = from_text(value) if isinstance(value, str) else value
    return instant.astimezone(zone)


KIND = "task"
"""What tasks are called in the journal of changes."""

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
_LATELY = Prepared(
    _OF_HOUSEHOLD.where(
        or_(
            _tasks.status == bindparam("status"),
            _tasks.created_at >= bindparam("since", type_=Instant),
        )
    )
)
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
    _reminders.household == bindparam("of_household"),
    _reminders.task_id == bindparam("of_task"),
)
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
    """Return the task with that id."""
    task = find_task(conn, viewer, task_id)
    if task is None:
        raise NotFoundError(f"there is no task {task_id!r}", task_id=task_id)
    return task


def list_tasks(
    conn: Connection, viewer: Viewer, *, status: TaskStatus | None = None
) -> Sequence[Task]:
    """Return the tasks that may be seen: those with a time first, by it, then by age.

    Args:
        status: Only these; all where None.
    """
    if status is None:
        rows = _ALL.mappings(conn, _of(viewer))
    else:
        rows = _OF_STATUS.mappings(conn, _of(viewer) | {"status": status.value})
    return sorted(map(task_of, _seen(rows, viewer)), key=_by_time)


def tasks_lately(conn: Connection, viewer: Viewer, *, since: datetime) -> Sequence[Task]:
    """Return the tasks that may be seen and are open or were made since then, as `list_tasks` orders them."""
    rows = _LATELY.mappings(conn, _of(viewer) | {"since": since, "status": TaskStatus.OPEN.value})
    return sorted(map(task_of, _seen(rows, viewer)), key=_by_time)


def open_tasks(conn: Connection, viewer: Viewer) -> Sequence[dict[str, Any]]:
    """Return what is open by "id", "title", "status" and "deadline" alone, the first due first."""
    found = _seen(_OPEN.mappings(conn, _of(viewer)), viewer)
    return [{name: row[name] for name in _SHORT} for row in found]


def times_put_off(conn: Connection, found: Sequence[Task]) -> Mapping[str, int]:
    """Return how often the deadlines of tasks were moved to a later time, by task id; those never moved are left out.

    Args:
        found: Of one household, read for whoever is to know.
    """
    if not found:
        return {}
    ids = [each.id for each in found]
    moved = Counter[str]()
    for task_id, before, after in changes_of(conn, found[0].household, KIND, ids):
        was, is_ = task_of(before).deadline, task_of(after).deadline
        moved[task_id] += was is not None and is_ is not None and is_ > was
    return +moved


def put_task(conn: Connection, task: Task, *, at: datetime) -> None:
    """Write a task, new or in the place of the one with its id, and when it is next to be said.

    Args:
        task: As it shall be; checked.
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
    """Return the ids of tasks with a reminder due by now, or said by a wrong clock; the longest due first."""
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
