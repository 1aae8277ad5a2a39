"""How tasks lie in their rows. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from kinkeeper.core.time import from_text, to_text
from kinkeeper.tasks.model import Place, Priority, Task, TaskStatus

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
        id=row["id"], household=row["household"], scope=row["scope"], title=row["title"],
        description=row["description"], priority=Priority(row["priority"]),
        is_all_day=row["is_all_day"], rrule=row["rrule"], tz=row["tz"], who=tuple(row["who"]),
        status=TaskStatus(row["status"]), done_by=row["done_by"], asked_by=row["asked_by"],
        place=Place(channel=row["channel"], thread_id=row["thread_id"]),
        created_at=_local(row["created_at"], zone),
        done_at=None if row["done_at"] is None else _local(row["done_at"], zone),
        deadline=_wall_in(zone, row["deadline"]), remind_at=_wall_in(zone, row["remind_at"]),
    )  # fmt: skip


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
