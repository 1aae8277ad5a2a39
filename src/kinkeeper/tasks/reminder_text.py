"""What is said when somebody is reminded. Pure."""

from datetime import datetime

from kinkeeper.household.model import Household
from kinkeeper.reading.times import time_text
from kinkeeper.tasks.model import Reminder


def reminder_text(
    reminder: Reminder, household: Household, *, to: str | None, now: datetime
) -> str:
    """Return what is said: what is to be done, for whom where that is not clear, and when where it is late.

    Args:
        reminder: What somebody is to be reminded of.
        household: Whose names and way of writing times count.
        to: Member id of the only one who reads it; None where several do.
        now: Aware.
    """
    task = reminder.task
    names = " and ".join(household.names.get(each, each) for each in task.who)
    whom = f" for {names}" if names and to not in task.who else ""
    late = ""
    if reminder.is_late:
        due = time_text.moment(reminder.due_at, now=now, locale=household.locale)
        more = f", and {reminder.missed} before" if reminder.missed else ""
        late = f" (late: it was due {due}{more})"
    deadline = _deadline(reminder, household, now)
    text = f"Reminder{whom}: {task.title}{deadline}{late}"
    return f"{text}\n{task.description}" if task.description else text


def _deadline(reminder: Reminder, household: Household, now: datetime) -> str:
    """Return until when there is time, where that is not at once."""
    task = reminder.task
    if task.deadline is None or task.is_all_day or task.rrule or task.deadline <= reminder.due_at:
        return ""
    return f", due {time_text.moment(task.deadline, now=now, locale=household.locale)}"
