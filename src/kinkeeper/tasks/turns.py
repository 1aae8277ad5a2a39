"""The turns of tasks that repeat, when each is to be said, and what a task must be like. Pure.

Local wall times are kept across clock changes: a wall time that a clock change skips comes later by the
length of the gap, one that comes twice is meant the first time.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

from kinkeeper.core.errors import InputError
from kinkeeper.core.time import as_utc, check_told
from kinkeeper.household.model import read_recurrence
from kinkeeper.language.text import one_line, strip_controls
from kinkeeper.tasks.model import Task, TaskStatus


def begun(task: Task) -> Task:
    """Return a task that repeats with its rule in order and its first turn on a day of that rule.

    Args:
        task: Any; one that does not repeat is returned as it is.

    Raises:
        InputError: It repeats from no time at all, or its rule cannot be used.
    """
    if task.rrule is None:
        return task
    if task.turn is None:
        raise InputError("a repeating task needs a start time")
    start = _wall(task.turn, task)
    try:
        rule = read_recurrence(task.rrule.removeprefix("RRULE:"), start, ZoneInfo(task.tz))
    except ValueError as error:
        raise InputError(
            "the task cannot repeat like that; it can by the day, week, month or year, at set times"
        ) from error
    return _at_turn(replace(task, rrule=rule.text), rule.first)


def next_reminder(task: Task, *, told_at: datetime | None) -> datetime | None:
    """Return when somebody is next to be reminded of a task, if ever.

    Args:
        told_at: When the last reminder was due that was said; aware. None before the first.
    """
    return next(_reminders(task, told_at), None)


def due_reminders(task: Task, *, told_at: datetime | None, now: datetime) -> tuple[datetime, ...]:
    """Return the reminders that were due by now and have not been said, oldest first.

    Args:
        told_at: When the last reminder was due that was said; aware.
    """
    return tuple(takewhile(lambda each: each <= now, _reminders(task, told_at)))


def completed(task: Task, *, told_at: datetime | None, at: datetime, by: str) -> Task:
    """Return a task after somebody did it: done, or at its next turn where it repeats.

    A turn that somebody was reminded of is the one that was done; otherwise the present one.

    Args:
        told_at: When the last reminder was due that was said; aware.
    """
    marked = replace(task, done_at=at.astimezone(ZoneInfo(task.tz)), done_by=by)
    following = _following(task, told_at)
    if following is None:
        return replace(marked, status=TaskStatus.DONE)
    turn, left = following
    return _at_turn(replace(marked, rrule=left), turn)


def _following(task: Task, told_at: datetime | None) -> tuple[datetime, str] | None:
    """Return the wall time of the turn after the one that was done, and the rule from there on."""
    if task.rrule is None or task.turn is None:
        return None
    done = _wall(task.turn, task)
    if told_at is not None:
        done = max(done, _wall(told_at, task) + _lead(task))
    for gone, turn in enumerate(_turns(task)):
        if turn > done:
            return turn, _less(task.rrule, gone)
    return None


def _less(rule: str, gone: int) -> str:
    """Return a rule that is counted from a later turn on."""
    parts = dict(part.split("=", 1) for part in rule.split(";"))
    if "COUNT" in parts:
        parts["COUNT"] = str(int(parts["COUNT"]) - gone)
    return ";".join(f"{name}={value}" for name, value in parts.items())


def _reminders(task: Task, told_at: datetime | None) -> Iterator[datetime]:
    if task.remind_at is None or task.status is TaskStatus.DONE:
        return
    after = None if told_at is None else as_utc(told_at)
    lead = _lead(task)
    zone = ZoneInfo(task.tz)
    for turn in _turns(task):
        reminder = (turn - lead).replace(tzinfo=zone) if task.rrule else task.remind_at
        if after is None or as_utc(reminder) > after:
            # A wall time that does not exist is shown as the one at which it is said.
            yield as_utc(reminder).astimezone(zone)


def _turns(task: Task) -> Iterator[datetime]:
    """Yield the wall times of a task's turns, beginning with the present one."""
    if task.turn is None:
        return
    start = _wall(task.turn, task)
    if task.rrule is None:
        yield start
        return
    yield from read_recurrence(task.rrule, start, ZoneInfo(task.tz)).rule


def _lead(task: Task) -> timedelta:
    """Return how long before its turn somebody is reminded, by the clock on the wall."""
    if task.remind_at is None or task.turn is None:
        return timedelta()
    return _wall(task.turn, task) - _wall(task.remind_at, task)


def _at_turn(task: Task, turn: datetime) -> Task:
    zone = ZoneInfo(task.tz)
    lead = _lead(task)
    remind_at = None if task.remind_at is None else (turn - lead).replace(tzinfo=zone)
    deadline = None if task.deadline is None else turn.replace(tzinfo=zone)
    return replace(task, deadline=deadline, remind_at=remind_at)


def _wall(instant: datetime, task: Task) -> datetime:
    return instant.astimezone(ZoneInfo(task.tz)).replace(tzinfo=None, fold=0)


# What a task must be like to be kept. Pure.

_LONGEST_TITLE = 500
_LONGEST_DESCRIPTION = 10_000


def checked(task: Task) -> Task:
    """Return a task as it is kept: its words without invisible characters, its times in its zone.

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
        task,
        title=title,
        description=description,
        deadline=_told(task.deadline, zone),
        remind_at=_told(task.remind_at, zone),
    )
    return begun(kept)


def _told(moment: datetime | None, zone: ZoneInfo) -> datetime | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise InputError("a task's time needs a UTC offset")
    return check_told(moment).astimezone(zone).replace(microsecond=0)
