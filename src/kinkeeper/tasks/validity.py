"""What a task must be like to be kept. Pure."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from kinkeeper.core.errors import InputError
from kinkeeper.core.time import check_told
from kinkeeper.language.text import one_line, strip_controls
from kinkeeper.tasks.model import Task
from kinkeeper.tasks.turns import begun

_LONGEST_TITLE = 500
_LONGEST_DESCRIPTION = 10_000


def checked(task: Task) -> Task:
    """Return a task as it is kept: its words without invisible characters, its times in its zone.

    Args:
        task: As somebody wants it.

    Raises:
        InputError: It cannot be kept; the message says why.
    """
    title = one_line(task.title)
    description = strip_controls(task.description).strip()
    if not title:
        raise InputError("a task needs a title")
    if len(title) > _LONGEST_TITLE:
        raise InputError(f"a task's title may have at most {_LONGEST_TITLE} characters")
    if len(description) > _LONGEST_DESCRIPTION:
        raise InputError(f"a task's description may have at most {_LONGEST_DESCRIPTION} characters")
    zone = ZoneInfo(task.tz)
    kept = replace(
        task, title=title, description=description, deadline=_told(task.deadline, zone),
        remind_at=_told(task.remind_at, zone),
    )  # fmt: skip
    return begun(kept)


def _told(moment: datetime | None, zone: ZoneInfo) -> datetime | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise InputError("a task's time needs a UTC offset")
    return check_told(moment).astimezone(zone).replace(microsecond=0)
