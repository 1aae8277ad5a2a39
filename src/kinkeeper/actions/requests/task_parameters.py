"""What requests about tasks take."""

from enum import StrEnum

from pydantic import Field

from kinkeeper.actions.requests.audience import ForWhom
from kinkeeper.actions.requests.model import Parameters
from kinkeeper.actions.requests.people import Who
from kinkeeper.tasks.model import Priority

_TIME = "ISO 8601 date-time with offset, or a date"
_WORDS = "the task's id, its title, or words from it"


class WhichTasks(StrEnum):
    """Tasks by where they stand."""

    OPEN = "open"
    DONE = "done"
    ALL = "all"


class CreateTask(ForWhom):
    """A new task, with or without a time."""

    title: str = Field(min_length=1, description="the task, in a few words")
    description: str = ""
    priority: Priority = Priority.NORMAL
    deadline: str | None = Field(default=None, description=f"when it is due: {_TIME}")
    remind_at: str | None = Field(
        default=None, description="when to remind; default is the deadline"
    )
    rrule: str | None = Field(
        default=None, description="RFC 5545 rule without prefix if it repeats"
    )
    who: Who | None = Field(
        default=None, description="member ids or names; default is the person asking"
    )


class TaskChanges(Parameters):
    """What is to be different; null takes something away."""

    title: str | None = Field(default=None, min_length=1)
    description: str | None = None
    priority: Priority | None = None
    deadline: str | None = Field(default=None, description=f"{_TIME}, or HH:MM of the same day")
    remind_at: str | None = None
    rrule: str | None = None
    who: Who | None = None
    shift_minutes: int | None = Field(
        default=None, description="by how many minutes to move it later"
    )


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
    query: str | None = Field(default=None, description="their topic, in words")
    who: Who | None = Field(
        default=None,
        description="whose tasks; default is the person asking's and unassigned ones, [] for all",
    )
    due_before: str | None = Field(default=None, description=_TIME)
