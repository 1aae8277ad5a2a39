"""Tasks: frozen values, and which task a few words mean. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kinkeeper.core.errors import NotFoundError, UnclearError
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.language.name_match import meant_by
from kinkeeper.language.text import shorten


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


# Which task a few words mean. Pure.

_MOST_SHOWN = 5
_LONGEST_SHOWN = 60
_SHORTEST_ID = 8


def find_by(words: str, tasks: Sequence[Task]) -> Task:
    """Return the task that is meant by its id or the beginning of it, its title, or words of it.

    Args:
        tasks: Those that can be meant, the likelier ones first.

    Raises:
        NotFoundError: None is meant; the message says what there is.
        UnclearError: Several can be meant; the question names them.
    """
    named = words.strip().lower()
    by_id = [task for task in tasks if len(named) >= _SHORTEST_ID and task.id.startswith(named)]
    found = by_id or matching(words, tasks)
    if not found:
        raise NotFoundError(f"I can't find an open task like {words!r}. {_what_there_is(tasks)}")
    if len(found) > 1:
        options = [shorten(task.title, _LONGEST_SHOWN) for task in found[:_MOST_SHOWN]]
        raise UnclearError(f"Which task do you mean: {', '.join(options)}?", options=options)
    return found[0]


def matching(words: str, tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks that words can mean: by their titles, else by what is said about them.

    Args:
        tasks: In the order in which they are wanted.
    """
    titles = [task.title for task in tasks]
    places = meant_by(words, titles)
    if not places:
        places = meant_by(words, [f"{task.title} {task.description}" for task in tasks])
    return [tasks[place] for place in places]


def _what_there_is(tasks: Sequence[Task]) -> str:
    if not tasks:
        return "There are no open tasks."
    shown = ", ".join(shorten(task.title, _LONGEST_SHOWN) for task in tasks[:_MOST_SHOWN])
    more = len(tasks) - _MOST_SHOWN
    return f"Open tasks: {shown}{f' and {more} more' if more > 0 else ''}."
