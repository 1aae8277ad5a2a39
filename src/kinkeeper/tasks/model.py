"""Tasks: frozen values, no I/O."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kinkeeper.household.viewers import HOUSEHOLD_SCOPE


class TaskStatus(StrEnum):
    """Where a task stands."""

    OPEN = "open"
    DONE = "done"


class Priority(StrEnum):
    """How urgent a task is."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a task was asked for, and so where its reminders go.

    Attributes:
        channel: "web", "cli", "telegram", ...
        thread_id: The conversation; None where it came from a page, a command or a program.
    """

    channel: str
    thread_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Something to be done; possibly again and again.

    Attributes:
        id: Stable; also the UID by which calendar servers know it.
        household: Tenant key.
        scope: Who may see it: HOUSEHOLD_SCOPE or "person:<member id>".
        title: One line.
        description: More about it, if anything.
        priority: How urgent it is.
        deadline: When it is to be done by, aware, in the zone of `tz`; of a task that repeats, its present turn.
        is_all_day: Whether the deadline is a day; it stands at the beginning of it then.
        remind_at: When somebody is to be reminded, aware, in the zone of `tz`; of a task that repeats, of its
            present turn.
        rrule: RFC 5545 rule without prefix by which it comes again, beginning with the present turn.
        tz: IANA zone in which it repeats.
        who: Member ids whose task it is; nobody's in particular where empty.
        status: Where it stands; a task that repeats is done once its last turn is.
        done_at: When it, or its turn before the present one, was done; aware.
        done_by: Member id of who said so.
        asked_by: Member id of who wanted it; None where it came from elsewhere.
        place: Where it was asked for.
        created_at: Aware.
    """

    id: str
    household: str
    title: str
    tz: str
    place: Place
    created_at: datetime
    scope: str = HOUSEHOLD_SCOPE
    description: str = ""
    priority: Priority = Priority.NORMAL
    deadline: datetime | None = None
    is_all_day: bool = False
    remind_at: datetime | None = None
    rrule: str | None = None
    who: tuple[str, ...] = ()
    status: TaskStatus = TaskStatus.OPEN
    done_at: datetime | None = None
    done_by: str | None = None
    asked_by: str | None = None

    @property
    def turn(self) -> datetime | None:
        """When its present turn is: by its deadline, else by its reminder."""
        return self.deadline or self.remind_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """What somebody is to be reminded of now.

    Attributes:
        task: As it stands.
        due_at: When it was to be said, aware, in the task's zone.
        is_late: Whether it comes noticeably later than that.
        missed: How many earlier ones of the same task were never said.
        after: When the one before it was due, aware; None where it is the first.
    """

    task: Task
    due_at: datetime
    is_late: bool
    missed: int = 0
    after: datetime | None = None

    @property
    def key(self) -> str:
        """Names it: said twice under the same key it is said once."""
        since = "" if self.after is None else f"{self.after.timestamp():.0f}"
        return f"reminder:{self.task.id}:{since}:{self.due_at.timestamp():.0f}"
