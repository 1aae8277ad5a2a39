"""What requests about tasks take."""

from enum import StrEnum

from pydantic import Field

from kinkeeper.actions.requests.audience import PRIVATE
from kinkeeper.actions.requests.model import Parameters
from kinkeeper.actions.requests.people import Who
from kinkeeper.tasks.model import Priority

_TIME = "ISO 8601 date-time with offset, or a date"
_WORDS = "the task's id, its title, or words of it"


class WhichTasks(StrEnum):
    """Tasks by where they stand."""

    OPEN = "open"
    DONE = "done"
    ALL = "all"


class CreateTask(Parameters):
    """A new task, with or without a time."""

    title: str = Field(min_length=1, description="what is to be done, in a few words")
    description: str = ""
    priority: Priority = Priority.NORMAL
    deadline: str | None = Field(default=None, description=f"when it is due: {_TIME}")
    remind_at: str | None = Field(
        default=None, description="when to remind; the deadline's time where left out"
    )
    rrule: str | None = Field(
        default=None, description="RFC 5545 rule without prefix if it repeats"
    )
    who: Who | None = Field(default=None, description="member ids or names; who asks if left out")
    private: bool | None = Field(default=None, description=PRIVATE)


class TaskChanges(Parameters):
    """What is to be different; null takes something away."""

    title: str | None = Field(default=None, min_length=1)
    description: str | None = None
    priority: Priority | None = None
    deadline: str | None = Field(default=None, description=f"{_TIME}, or HH:MM of the same day")
    remind_at: str | None = None
    rrule: str | None = None
    who: Who | None = None
    shift_minutes: int | None = Field(default=None, description="later by so many minutes")


class FindTask(Parameters):
    """One task."""

    find_by: str = Field(min_length=1, description=_WORDS)
    on: str | None = Field(default=None, description="the day it is due, as a date")


class UpdateTaskOf(FindTask):
    """One task, and what is to be different about it."""

    changes: TaskChanges


class ListTasks(Parameters):
    """Which tasks to list."""

    status: WhichTasks = WhichTasks.OPEN
    query: str | None = Field(default=None, description="words they are about")
    who: Who | None = Field(
        default=None, description="whose; who asks and nobody's if left out, [] for all"
    )
    due_before: str | None = Field(default=None, description=_TIME)
