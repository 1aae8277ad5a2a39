"""Requests about tasks: what is to be done, by when, and who is reminded of it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Any

from pydantic import Field

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.effects.tasks import AddTask, CompleteTask, DeleteTask, UpdateTask, for_fewer
from kinkeeper.actions.model import ActionType
from kinkeeper.actions.requests.model import Asked, Card, Found, Parameters, Prepared, RequestKind
from kinkeeper.actions.requests.parameters import (
    ForWhom,
    Moment,
    SetAudience,
    Who,
    becomes_seen,
    changed_scope,
    for_asker,
    names,
    put_off,
    read_day,
    read_moment,
    read_who,
    require_ahead,
    said,
    scope_for,
    seen_by,
    shifted,
    to_the_minute,
)
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.viewers import audience_json
from kinkeeper.store.store import Store
from kinkeeper.tasks.model import Place, Priority, Task, TaskStatus, find_by, matching
from kinkeeper.tasks.repository import last_told, list_tasks
from kinkeeper.tasks.turns import checked, completed

# What requests about tasks take.

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


def task_requests(store: Store) -> tuple[RequestKind, ...]:
    """Return the rows of the table of requests that are about tasks."""
    requests = _TaskRequests(store)
    return (
        RequestKind(
            domain="task",
            name="create",
            parameters=CreateTask,
            stakes=Stakes.LOW,
            description="Add a task to the list, with a reminder when it is due.",
            progress="Noting that down…",
            prepare=requests.create,
        ),
        RequestKind(
            domain="task",
            name="update",
            parameters=UpdateTaskOf,
            stakes=Stakes.LOW,
            description="Change a task's title, time, priority or person.",
            progress="Changing the task…",
            prepare=requests.update,
        ),
        RequestKind(
            domain="task",
            name="set_audience",
            parameters=SetAudience,
            stakes=Stakes.LOW,
            description="Share a task with the household, or make it private.",
            progress="Changing the task…",
            prepare=requests.set_audience,
        ),
        RequestKind(
            domain="task",
            name="complete",
            parameters=FindTask,
            stakes=Stakes.LOW,
            description="Mark a task as done.",
            progress="Ticking that off…",
            prepare=requests.complete,
        ),
        RequestKind(
            domain="task",
            name="list",
            parameters=ListTasks,
            stakes=Stakes.LOW,
            description="List open and finished tasks.",
            progress="Looking at the list…",
            read=requests.list,
        ),
        RequestKind(
            domain="task",
            name="delete",
            parameters=FindTask,
            stakes=Stakes.HIGH,
            description="Remove a task without doing it.",
            progress="Looking for the task…",
            prepare=requests.delete,
        ),
    )


def task_json(task: Task) -> dict[str, Any]:
    """Return a task as requests tell it; times are ISO 8601 in its zone, a day is a date."""
    deadline = task.deadline
    due = None if deadline is None else deadline.date() if task.is_all_day else deadline
    return {
        "id": task.id,
        "title": task.title,
        **audience_json(task.scope),
        "description": task.description,
        "priority": task.priority.value,
        "deadline": None if due is None else due.isoformat(),
        "remind_at": None if task.remind_at is None else task.remind_at.isoformat(),
        "rrule": task.rrule,
        "who": list(task.who),
        "status": task.status.value,
        "done_at": None if task.done_at is None else task.done_at.isoformat(),
    }


def when_due(task: Task, asked: Asked) -> str:
    """Return when a task is due in few words; empty where it has no time."""
    if task.turn is None:
        return ""
    is_day = task.is_all_day and task.deadline is not None
    return said(Moment(at=task.turn, is_day=is_day), asked)


class _TaskRequests:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def create(self, wanted: CreateTask, asked: Asked) -> Prepared:
        deadline = _ahead(wanted.deadline, asked, "When should it be?")
        reminder = _ahead(wanted.remind_at, asked, "When should I remind you?")
        who = (asked.member.id,) if wanted.who is None else read_who(wanted.who, asked)
        own = for_asker(wanted, asked) if who == (asked.member.id,) else wanted
        scope = scope_for(own, asked, text=f"{wanted.title}\n{wanted.description}", whose=who)
        task = Task(
            id=stable_id(asked.household.id, "task", asked.turn_id, asked.number),
            household=asked.household.id,
            title=wanted.title,
            description=wanted.description,
            priority=wanted.priority,
            rrule=wanted.rrule,
            tz=asked.household.zone.key,
            who=who,
            asked_by=asked.member.id,
            created_at=asked.now,
            place=Place(channel=asked.channel, thread_id=asked.thread_id),
        )
        task = checked(_timed(for_fewer(task, scope), deadline, reminder, asked))
        effect = AddTask(task=task)
        return _prepared(task, f"New task: {_line(task, asked)}", effect.frozen(), asked)

    async def update(self, wanted: UpdateTaskOf, asked: Asked) -> Prepared:
        task = await self._open(wanted, asked)
        after = checked(_changed(task, wanted.changes, asked))
        if after == task:
            raise InputError(f"{task.title!r} is already like that")
        effect = UpdateTask(task=after, based_on=task)
        prepared = _prepared(after, f"Change task: {_line(after, asked)}", effect.frozen(), asked)
        shown = {"before": _line(task, asked), "after": _line(after, asked)}
        return replace(prepared, shown=shown)

    async def set_audience(self, wanted: SetAudience, asked: Asked) -> Prepared:
        task = await self._open(FindTask(find_by=wanted.find_by), asked)
        scope = changed_scope(task.scope, wanted, asked, task.who)
        after = replace(task, scope=scope)
        effect = UpdateTask(task=after, based_on=task)
        return _prepared(
            after, f"{becomes_seen(scope, asked)}: {task.title}", effect.frozen(), asked
        )

    async def complete(self, wanted: FindTask, asked: Asked) -> Prepared:
        task = await self._open(wanted, asked)
        told_at = await self._store.read(lambda conn: last_told(conn, asked.household.id, task.id))
        after = completed(task, told_at=told_at, at=asked.now, by=asked.member.id)
        effect = CompleteTask(task=task)
        return _prepared(after, f"Done: {task.title}", effect.frozen(), asked)

    async def delete(self, wanted: FindTask, asked: Asked) -> Prepared:
        done = await self._all(asked, TaskStatus.DONE)
        try:
            task = await self._open(wanted, asked)
        except NotFoundError:
            if not matching(wanted.find_by, done):
                raise
            task = find_by(wanted.find_by, done)
        effect = DeleteTask(task=task)
        return _prepared(task, f"Delete task: {_line(task, asked)}", effect.frozen(), asked)

    async def list(self, wanted: ListTasks, asked: Asked) -> Found:
        status = None if wanted.status is WhichTasks.ALL else TaskStatus(wanted.status.value)
        tasks = await self._all(asked, status)
        if wanted.due_before is not None:
            end = read_moment(wanted.due_before, asked).at
            tasks = [task for task in tasks if task.turn is not None and task.turn < end]
        if wanted.query is not None:
            tasks = matching(wanted.query, tasks)
        of = (asked.member.id,) if wanted.who is None else read_who(wanted.who, asked)
        shown = [task for task in tasks if not of or _is_of(task, of, or_nobody=wanted.who is None)]
        card = Card(
            kind="tasks",
            title="Done" if status is TaskStatus.DONE else "To do",
            items=tuple(_item(task, asked) for task in shown),
        )
        result = {"tasks": [task_json(task) for task in shown], "others": len(tasks) - len(shown)}
        return Found(result=result, card=card if shown or wanted.query is None else None)

    async def _open(self, wanted: FindTask, asked: Asked) -> Task:
        """Return the open task that is meant: one's own before others'."""
        tasks = await self._all(asked, TaskStatus.OPEN)
        if wanted.on is not None:
            day = read_day(wanted.on, asked)
            that_day = [task for task in tasks if task.turn is not None and task.turn.date() == day]
            tasks = that_day if matching(wanted.find_by, that_day) else tasks
        own = [task for task in tasks if _is_of(task, (asked.member.id,), or_nobody=True)]
        return find_by(wanted.find_by, own if matching(wanted.find_by, own) else tasks)

    async def _all(self, asked: Asked, status: TaskStatus | None) -> Sequence[Task]:
        return await self._store.read(lambda conn: list_tasks(conn, asked.viewer, status=status))


def _ahead(text: str | None, asked: Asked, question: str) -> Moment | None:
    if text is None:
        return None
    moment = read_moment(text, asked)
    require_ahead(moment, asked, question)
    return moment


def _timed(task: Task, deadline: Moment | None, reminder: Moment | None, asked: Asked) -> Task:
    """Return a task with its times; where no reminder is asked for, its deadline gives one."""
    if deadline is not None:
        task = replace(task, deadline=deadline.at, is_all_day=deadline.is_day)
    moment = reminder or deadline
    remind_at = None if moment is None else to_the_minute(moment, asked)
    return replace(task, remind_at=remind_at)


def _changed(task: Task, changes: TaskChanges, asked: Asked) -> Task:
    given = changes.model_fields_set
    plain: dict[str, Any] = {
        name: getattr(changes, name)
        for name in ("title", "description", "priority", "rrule")
        if name in given and (getattr(changes, name) is not None or name == "rrule")
    }
    if "description" in given:
        plain["description"] = changes.description or ""
    if "who" in given:
        plain["who"] = read_who(changes.who, asked)
    return _rescheduled(replace(task, **plain), changes, asked)


def _rescheduled(task: Task, changes: TaskChanges, asked: Asked) -> Task:
    given, around = changes.model_fields_set, task.turn
    if changes.shift_minutes is not None:
        task = _moved(task, timedelta(minutes=changes.shift_minutes))
        require_ahead(Moment(at=task.turn or asked.now), asked, "When should it be?")
    if "deadline" in given:
        deadline = _again(changes.deadline, around, asked)
        if deadline is None:
            task = replace(task, deadline=None, is_all_day=False)
        else:
            task = _with_deadline(task, deadline, asked)
    if "remind_at" in given:
        reminder = _again(changes.remind_at, task.remind_at or around, asked)
        remind_at = None if reminder is None else to_the_minute(reminder, asked)
        task = replace(task, remind_at=remind_at)
    return task


def _again(text: str | None, around: datetime | None, asked: Asked) -> Moment | None:
    """Return another time for something: a bare date keeps the time of day, a bare time the day."""
    if text is None:
        return None
    has_time = around is not None and around.time() != time()
    known = (around or asked.now) if has_time or ":" in text else None
    moment = read_moment(text, asked, around=known)
    require_ahead(moment, asked, "When should it be?")
    return moment


def _with_deadline(task: Task, deadline: Moment, asked: Asked) -> Task:
    """Return a task with another deadline; a reminder that stood before the old one keeps its distance."""
    old = task.deadline
    moved = replace(task, deadline=deadline.at, is_all_day=deadline.is_day)
    if old is not None and task.remind_at is not None and not (task.is_all_day or deadline.is_day):
        return replace(moved, remind_at=shifted(deadline.at, task.remind_at - old))
    return replace(moved, remind_at=to_the_minute(deadline, asked))


def _moved(task: Task, by: timedelta) -> Task:
    if task.turn is None:
        raise InputError(f"{task.title!r} has no time to move; say when it is due")
    deadline = None if task.deadline is None else put_off(task.deadline, by)
    remind_at = None if task.remind_at is None else put_off(task.remind_at, by)
    return replace(task, deadline=deadline, remind_at=remind_at)


def _is_of(task: Task, members: Sequence[str], *, or_nobody: bool) -> bool:
    return bool(set(task.who) & set(members)) or (or_nobody and not task.who)


def _line(task: Task, asked: Asked) -> str:
    others = [each for each in task.who if each != asked.member.id]
    parts = [task.title, when_due(task, asked), f"for {names(others, asked)}" if others else ""]
    return ", ".join(part for part in parts if part)


def _item(task: Task, asked: Asked) -> dict[str, Any]:
    when = when_due(task, asked)
    detail = ", ".join(part for part in (names(task.who, asked), task.description) if part)
    return {"id": task.id, "text": task.title, "when": when, "detail": detail}


def _prepared(task: Task, summary: str, effect: dict[str, Any], asked: Asked) -> Prepared:
    lines = {
        "task": task.title,
        "when": when_due(task, asked),
        "for": names(task.who, asked),
        "about": task.description,
        "seen by": seen_by(task.scope, asked),
    }
    return Prepared(
        type=ActionType.TASK,
        summary=summary,
        effects=(effect,),
        result=task_json(task),
        shown={name: line for name, line in lines.items() if line},
    )
