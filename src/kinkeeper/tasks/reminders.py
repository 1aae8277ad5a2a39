"""Saying what is due: each reminder once, in the transaction that notes that it was said.

What fell due while nothing ran is said at the next start, marked as late; of several missed turns of one
task only the last is said. What a clock that was wrong by more than a day has said is said again when it is due. Quiet hours do not hold a reminder back: somebody asked for that very time.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

import structlog
from sqlalchemy import Connection

from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock, is_of_wrong_clock
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs.leases import RetryLadder
from kinkeeper.observability.failures import count_failure, surviving
from kinkeeper.reading.times import time_text
from kinkeeper.store.commits import AFTERWARDS
from kinkeeper.store.store import Store
from kinkeeper.tasks.model import Reminder
from kinkeeper.tasks.repository import (
    TOPIC,
    due_ids,
    failures_of,
    find_task,
    last_told,
    next_due,
    set_reminder,
)
from kinkeeper.tasks.turns import due_reminders, next_reminder

# What is said when somebody is reminded. Pure.


def reminder_text(
    reminder: Reminder, household: Household, *, to: str | None, now: datetime
) -> str:
    """Return what is said: what is to be done, for whom where that is not clear, and when where it is late.

    Args:
        reminder: What somebody is to be reminded of.
        household: Whose names and way of writing times count.
        to: Member id of the only one who reads it; None where several do.
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


log = structlog.get_logger()

Deliver = Callable[[Connection, Reminder], Sequence[Exception]]
"""Puts a reminder where each of its people sees it, in the transaction it is given; the same key puts nothing twice.

It returns what went wrong with one of them and did not keep the others from hearing it.
"""

LATE = timedelta(minutes=2)
"""What comes later than this is said to be late."""

_NAME = "tasks.reminders"
_UNSAID = "tasks.reminders.unsaid"
_LADDER = RetryLadder(
    delays=tuple(timedelta(minutes=each) for each in (1, 2, 5, 15, 60, 240)), attempts=100
)
_MOST_AT_ONCE = 50
_SHORTEST_WAIT = timedelta(milliseconds=100)


class Reminding:
    """Says what is due to one household, on the wall clock."""

    def __init__(self, store: Store, household: str, *, deliver: Deliver, clock: Clock) -> None:
        self._store = store
        self._household = household
        self._deliver = deliver
        self._clock = clock

    async def run(self, every: timedelta) -> None:
        """Say what is due when it is, until cancelled.

        Args:
            every: Longest wait before looking again, > 0; what other processes write is seen then.
        """
        with self._store.watch((TOPIC, self._household), after=AFTERWARDS) as written:
            while True:
                wait = every
                with surviving(_NAME):
                    await self.run_once()
                    wait = await self._until_next(every)
                await written.wait(wait.total_seconds())

    async def run_once(self) -> int:
        """Say what is due by now; returns how many reminders that were."""
        now, said = self._clock.now(), 0
        due = await self._store.read(
            lambda conn: due_ids(conn, self._household, now=now, most=_MOST_AT_ONCE)
        )
        for task_id in due:
            said += await self._said(task_id)
        return said

    async def _said(self, task_id: str) -> bool:
        try:
            return await self._store.write(partial(self._say, task_id))
        except UnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - one bad task must not keep all others waiting
            await self._store.write(partial(self._put_off, task_id, [error]))
            return False

    def _put_off(self, task_id: str, errors: Sequence[Exception], conn: Connection) -> None:
        """Let a reminder that could not be said to somebody wait, longer each time; in the end it is given up."""
        for error in errors:
            count_failure(_NAME, error, task=task_id)
        household, now = self._household, self._clock.now()
        told_at, failures = (
            last_told(conn, household, task_id),
            failures_of(conn, household, task_id) + 1,
        )
        wait = _LADDER.delay_after(failures=failures, begun=failures)
        if wait is not None:
            set_reminder(
                conn, household, task_id, next_at=now + wait, told_at=told_at, failures=failures
            )
            return
        count_failure(_UNSAID, errors[0], task=task_id)
        task = find_task(conn, Viewer.whole(household), task_id)
        next_at = None if task is None else next_reminder(task, told_at=now)
        set_reminder(conn, household, task_id, next_at=next_at, told_at=now)

    def _say(self, task_id: str, conn: Connection) -> bool:
        now = self._clock.now()
        told_at = last_told(conn, self._household, task_id, for_update=True)
        if told_at is not None and is_of_wrong_clock(told_at, now):
            told_at = now - LATE
        task = find_task(conn, Viewer.whole(self._household), task_id)
        due = () if task is None else due_reminders(task, told_at=told_at, now=now)
        if task is None or not due:
            next_at = None if task is None else next_reminder(task, told_at=told_at)
            set_reminder(conn, self._household, task_id, next_at=next_at, told_at=told_at)
            return False
        reminder = Reminder(
            task=task,
            due_at=due[-1],
            after=told_at,
            is_late=now - due[-1] > LATE,
            missed=len(due) - 1,
        )
        if errors := self._deliver(conn, reminder):
            self._put_off(task_id, errors, conn)
            return False
        following = next_reminder(task, told_at=reminder.due_at)
        set_reminder(conn, self._household, task_id, next_at=following, told_at=reminder.due_at)
        return True

    async def _until_next(self, every: timedelta) -> timedelta:
        next_at: datetime | None = await self._store.read(
            lambda conn: next_due(conn, self._household)
        )
        if next_at is None:
            return every
        # What is still due was too much for one go.
        return min(every, max(next_at - self._clock.now(), _SHORTEST_WAIT))
