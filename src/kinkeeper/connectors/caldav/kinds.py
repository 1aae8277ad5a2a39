"""What is kept in step with a calendar server, events and tasks, and what is to be done by how both sides stand."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from enum import StrEnum
from typing import Any, Protocol, Self
from zoneinfo import ZoneInfo

from icalendar import Calendar, Component, Todo, vDDDTypes, vRecur
from sqlalchemy import Connection

from kinkeeper.actions.effects.calendar import (
    AddEvent,
    CancelEvent,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
    event_to_json,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.effects.tasks import AddTask, CompleteTask, DeleteTask, UpdateTask
from kinkeeper.actions.model import ActionType
from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.calendar.ics_class import privacy_of, set_class
from kinkeeper.calendar.model import Event, EventState, Override
from kinkeeper.calendar.recurrence import check_rule, parse_rule, produces
from kinkeeper.calendar.repository import list_all_overrides, list_events
from kinkeeper.connectors.caldav import objects
from kinkeeper.connectors.caldav.objects import Entry, keep_theirs, parsed, scope_there
from kinkeeper.connectors.caldav.sync_records import ObjectRow, ObjectState, ids_from_there
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import payload_hash, stable_id
from kinkeeper.core.time import as_utc, to_text
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_of
from kinkeeper.reading.times import time_text
from kinkeeper.tasks.model import Place, Priority, Task, TaskStatus
from kinkeeper.tasks.repository import list_tasks, task_row
from kinkeeper.tasks.turns import checked


class Thing(Protocol):
    """One of ours, or what an object of the server stands for."""

    @property
    def id(self) -> str:
        """Of ours; of one from the server, the id it would have here."""
        ...

    @property
    def foreign_id(self) -> str:
        """Id that it would have if it came from the server now: where it came in a file, not its own."""
        ...

    @property
    def title(self) -> str:
        """For people."""
        ...

    @property
    def scope(self) -> str:
        """Who may see it here."""
        ...

    @property
    def is_cancelled(self) -> bool:
        """Whether it takes place no more."""
        ...

    def fingerprint(self) -> str:
        """Return a digest of all that is stored of it, except why it is there."""
        ...

    def shared(self) -> str:
        """Return a digest of what both sides have words for; equal where they agree."""
        ...

    def is_over(self, now: datetime) -> bool:
        """Whether it has been over for so long that it is no longer taken to the other side."""
        ...

    def completed(self, ours: Any) -> Self:
        """Return this, as read from the server, with what only we know of it."""
        ...


class Things(Protocol):
    """One kind of thing; its methods are only given things of that kind."""

    @property
    def component(self) -> str:
        """Name of its objects: "VEVENT"."""
        ...

    @property
    def noun(self) -> str:
        """What one is called."""
        ...

    @property
    def adding(self) -> ActionType:
        """What it is to take in new ones."""
        ...

    @property
    def changing(self) -> ActionType:
        """What it is to change one."""
        ...

    def load(self, conn: Connection) -> Mapping[str, Thing]:
        """Return all of ours by id."""
        ...

    def write(self, thing: Any, *, over: bytes | None) -> bytes:
        """Return one of ours as an object; what stands in `over` and is theirs alone is kept."""
        ...

    def read(self, data: bytes) -> Thing:
        """Return what an object stands for.

        Raises:
            InputError: Nothing that can be taken over; the message says why.
        """
        ...

    def count(self, thing: Any, limit: ImportLimit) -> int:
        """Count it; returns how many rows of occurrences it takes.

        Raises:
            InputError: With it there is too much.
        """
        ...

    def to_add(self, thing: Any) -> list[Effect]:
        """Return what takes it in."""
        ...

    def to_change(self, thing: Any, ours: Any) -> list[Effect]:
        """Return what makes ours like it."""
        ...

    def to_cancel(self, ours: Any) -> list[Effect]:
        """Return what lets ours take place no more."""
        ...

    def line(self, thing: Any) -> str:
        """Return it in one line for people: what and when."""
        ...


# What is to be done about an object of the server, by how both sides stand. Pure.


class Verdict(StrEnum):
    """What is to be done."""

    FORGET = "forget"  # it is on neither side
    LEAVE_OUT = "leave_out"  # over, cancelled, or kept out before
    AGREE = "agree"  # both sides say the same
    WRITE = "write"  # the server has what we wrote before; ours is newer
    ASK_ADD = "ask_add"
    ASK_CHANGE = "ask_change"
    ASK_CANCEL = "ask_cancel"
    CLASH = "clash"  # both sides changed, each its own way
    CLASH_GONE = "clash_gone"  # changed here, gone there


def decide(row: ObjectRow, theirs: Thing | None, ours: Thing | None, *, now: datetime) -> Verdict:
    """Return what is to be done about a version that was not dealt with yet.

    Args:
        row: What is known of the object.
        theirs: What it stands for now, completed by ours; None where it is gone.
    """
    if theirs is None:
        return _gone(row, ours)
    if ours is None:
        return Verdict.LEAVE_OUT if theirs.is_over(now) or theirs.is_cancelled else Verdict.ASK_ADD
    mine, other = ours.shared(), theirs.shared()
    if mine == other:
        return Verdict.AGREE
    if other in {row.agreed, row.trying}:
        return Verdict.WRITE
    return Verdict.ASK_CHANGE if mine == row.agreed else Verdict.CLASH


def _gone(row: ObjectRow, ours: Thing | None) -> Verdict:
    is_ours_alone = row.state in {ObjectState.NEW, ObjectState.APART}
    if ours is None or ours.is_cancelled or is_ours_alone:
        return Verdict.FORGET
    return Verdict.ASK_CANCEL if ours.shared() == row.agreed else Verdict.CLASH_GONE


@dataclass(frozen=True, slots=True)
class Events:
    """The events of one household."""

    household: Household
    component = "VEVENT"
    noun = "event"
    adding = ActionType.EVENT_CREATE
    changing = ActionType.SCHEDULE_CHANGE

    def load(self, conn: Connection) -> Mapping[str, Entry]:
        """Return all of ours by id, cancelled ones too; what is private is taken nowhere, unless it came from there."""
        theirs = ids_from_there(conn, self.household.id)
        overrides = list_all_overrides(conn, self.household.id)
        return {
            event.id: Entry(event=event, overrides=tuple(overrides.get(event.id, ())))
            for event in list_events(conn, Viewer.whole(self.household.id), include_cancelled=True)
            if event.scope == HOUSEHOLD_SCOPE or event.id in theirs
        }

    def write(self, thing: Entry, *, over: bytes | None) -> bytes:
        """Return one of ours as an object; what stands in `over` and is theirs alone is kept."""
        return objects.written(
            thing, name=self.household.title, places=self.household.place_names, over=over
        )

    def read(self, data: bytes) -> Entry:
        """Return what an object stands for.

        Raises:
            InputError: It holds no event, or several, that can be taken over.
        """
        return objects.read(data, self.household)

    def count(self, thing: Entry, limit: ImportLimit) -> int:
        """Count it; returns how many rows of occurrences it takes.

        Raises:
            InputError: With it there is too much.
        """
        limit.add(thing.event, "event")
        return limit.occurrences[thing.event.id]

    def to_add(self, thing: Entry) -> list[Effect]:
        """Return what takes it in, with what is changed of single occurrences."""
        event = thing.event
        add = AddEvent.model_validate({"event": event_to_json(event)})
        return [add, *(e for each in thing.overrides for e in _to_override(event, each))]

    def to_change(self, thing: Entry, ours: Entry) -> list[Effect]:
        """Return what makes ours like it."""
        if thing.event.rrule is None and ours.event.rrule is None:
            return list(_to_change_single(thing.event, ours))
        return list(_to_change_series(thing, ours))

    def to_cancel(self, ours: Entry) -> list[Effect]:
        """Return what lets ours take place no more."""
        return [CancelEvent.model_validate({"event_id": ours.event.id})]

    def line(self, thing: Entry) -> str:
        """Return it in one line: "Dentist, Thu 12 Nov 16:30"."""
        event = thing.event
        change = thing.overrides[0] if event.rrule is None and thing.overrides else None
        start = change.start if change is not None and change.start is not None else event.start
        local = start.astimezone(ZoneInfo(event.tz))
        repeats = "from " if event.rrule is not None else ""
        locale = self.household.locale
        when = time_text.day_with_weekday(local.date(), locale)
        when += "" if event.all_day else f" {time_text.clock(local.time(), locale)}"
        return f"{event.summary}, {repeats}{when}"


def _to_change_single(theirs: Event, ours: Entry) -> Iterator[Effect]:
    """Yield effects on a single event: its time alone is a move, as people know it."""
    known = ours.event
    change = (
        ours.overrides[0]
        if ours.overrides
        else Override(event_id=known.id, original_start=as_utc(known.start))
    )
    if theirs.all_day != known.all_day or theirs.state is not known.state:
        yield _update(theirs, known)
        return
    still = replace(theirs, start=known.start, duration=known.duration)
    if still != known:
        yield _update(still, known)
    start = known.start if change.start is None else change.start
    duration = known.duration if change.duration is None else change.duration
    is_back = change.state is EventState.CANCELLED
    if is_back or as_utc(theirs.start) != as_utc(start) or theirs.duration != duration:
        yield _move(known, as_utc(known.start), theirs.start, theirs)


def _to_change_series(thing: Entry, ours: Entry) -> Iterator[Effect]:
    theirs, known = thing.event, ours.event
    if Entry(event=theirs).shared() != Entry(event=known).shared():
        yield _update(theirs, known)
    before = {each.original_start: each for each in ours.overrides}
    after = {as_utc(each.original_start): each for each in thing.overrides}
    for start, change in after.items():
        if _moment(theirs, change) != _moment(known, before.get(start)):
            yield from _to_override(theirs, change)
    for start, change in before.items():
        is_other = _moment(theirs, None) != _moment(known, change)
        if start not in after and is_other and produces(theirs, start):
            yield _move(theirs, start, start, theirs)


def _to_override(event: Event, change: Override) -> Iterator[Effect]:
    if change.state is EventState.CANCELLED:
        yield CancelOccurrence.model_validate(
            {"event_id": event.id, "original_start": change.original_start}
        )
    elif change.start is not None or change.duration is not None:
        length = event.duration if change.duration is None else change.duration
        moved = replace(event, duration=length)
        yield _move(event, change.original_start, change.start or change.original_start, moved)


def _update(event: Event, known: Event) -> Effect:
    return UpdateEvent.model_validate(
        {"event": event_to_json(event), "based_on": event_to_json(known)}
    )


def _move(event: Event, original: datetime, start: datetime, like: Event) -> Effect:
    is_own_length = like.duration == event.duration
    return MoveOccurrence.model_validate(
        {
            "event_id": event.id,
            "original_start": original,
            "new_start": start,
            "new_duration": None if is_own_length else like.duration,
        }
    )


def _moment(event: Event, change: Override | None) -> tuple[Any, ...]:
    """Return what is changed of one occurrence's time, as far as it differs from the rule."""
    if change is None:
        return (None, event.duration, None)
    duration = event.duration if change.duration is None else change.duration
    start = None if change.start == change.original_start else change.start
    return (start, duration, change.state)


_DOMAIN = "@kinkeeper"
_OURS = frozenset(
    {
        "DTSTAMP",
        "SUMMARY",
        "DESCRIPTION",
        "PRIORITY",
        "DTSTART",
        "DUE",
        "DURATION",
        "RRULE",
        "STATUS",
        "COMPLETED",
        "PERCENT-COMPLETE",
        "SEQUENCE",
    }
)
_PRIORITIES = {Priority.HIGH: 1, Priority.NORMAL: 0, Priority.LOW: 9}
_MIDDLE = 5
_NOBODY_KNOWS = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEntry:
    """A task, as it stands on one of both sides.

    Attributes:
        is_cancelled: Whether it is not to be done any more, which only servers have a word for.
    """

    task: Task
    is_cancelled: bool = False

    @property
    def id(self) -> str:
        """Of the task."""
        return self.task.id

    @property
    def foreign_id(self) -> str:
        """Of the task: tasks come in no files."""
        return self.task.id

    @property
    def title(self) -> str:
        """Of the task."""
        return self.task.title

    @property
    def scope(self) -> str:
        """Of the task."""
        return self.task.scope

    def fingerprint(self) -> str:
        """Return a digest of all that is stored of it."""
        return payload_hash(task_row(self.task))

    def shared(self) -> str:
        """Return a digest of what both sides have words for; equal where they agree."""
        task = self.task
        rule = None if task.rrule is None else parse_rule(task.rrule)
        return payload_hash(
            {
                "title": task.title,
                "description": " ".join(task.description.split()),
                "priority": task.priority.value,
                "deadline": _due_moment(task),
                "rule": None if rule is None else sorted(rule.parts.items()),
                "private": task.scope != HOUSEHOLD_SCOPE,
                "is_done": task.status is TaskStatus.DONE,
                "is_cancelled": self.is_cancelled,
            }
        )

    def is_over(self, now: datetime) -> bool:
        """Whether it is done, and so no longer taken to the other side."""
        return self.task.status is TaskStatus.DONE

    def completed(self, ours: "TaskEntry") -> "TaskEntry":
        """Return this, as read from the server, with what only we know of it."""
        theirs, known = self.task, ours.task
        follows = known.remind_at is not None and known.remind_at == known.deadline
        is_done = theirs.status is TaskStatus.DONE
        return replace(
            self,
            task=replace(
                known,
                scope=theirs.scope if known.scope == HOUSEHOLD_SCOPE else known.scope,
                title=theirs.title,
                description=theirs.description,
                priority=theirs.priority,
                deadline=theirs.deadline,
                is_all_day=theirs.is_all_day,
                rrule=theirs.rrule,
                status=theirs.status,
                done_at=(known.done_at or theirs.done_at) if is_done else None,
                done_by=known.done_by if is_done else None,
                remind_at=theirs.deadline if follows else known.remind_at,
            ),
        )


@dataclass(frozen=True, slots=True)
class Todos:
    """The tasks of one household."""

    household: Household
    component = "VTODO"
    noun = "task"
    adding = ActionType.TASK
    changing = ActionType.TASK

    def load(self, conn: Connection) -> Mapping[str, TaskEntry]:
        """Return all of ours by id, those that are done too; what is private only if it came from there."""
        theirs = ids_from_there(conn, self.household.id)
        found = list_tasks(conn, Viewer.whole(self.household.id))
        return {
            task.id: TaskEntry(task=task)
            for task in found
            if task.scope == HOUSEHOLD_SCOPE or task.id in theirs
        }

    def write(self, thing: TaskEntry, *, over: bytes | None) -> bytes:
        """Return one of ours as an object; what stands in `over` and is theirs alone is kept."""
        calendar = Calendar()
        calendar.add("prodid", "-//Kinkeeper//Kinkeeper//EN")
        calendar.add("version", "2.0")
        todo = _todo(thing.task)
        known = None if over is None else _only(parsed(over))
        if known is not None:
            keep_theirs(todo, known, ours=_OURS)
        set_class(todo, thing.scope, known)
        calendar.add_component(todo)
        calendar.add_missing_timezones()
        return bytes(calendar.to_ical())

    def read(self, data: bytes) -> TaskEntry:
        """Return what an object stands for.

        Raises:
            InputError: It holds no task, or none that can be kept; the message says why.
        """
        todo = _only(parsed(data))
        try:
            return _entry(todo, self.household)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise InputError(f"it cannot be read ({type(error).__name__})") from error

    def count(self, thing: TaskEntry, limit: ImportLimit) -> int:
        """Return 1: a task has no occurrences ahead."""
        return 1

    def to_add(self, thing: TaskEntry) -> list[Effect]:
        """Return what takes it in."""
        return [AddTask(task=thing.task)]

    def to_change(self, thing: TaskEntry, ours: TaskEntry) -> list[Effect]:
        """Return what makes ours like it: a tick alone is one, as people know it."""
        theirs, known = thing.task, ours.task
        ticked = replace(
            known, status=theirs.status, done_at=theirs.done_at, done_by=theirs.done_by
        )
        if theirs.status is TaskStatus.DONE is not known.status and ticked == theirs:
            return [CompleteTask(task=known)]
        return [UpdateTask(task=theirs, based_on=known)]

    def to_cancel(self, ours: TaskEntry) -> list[Effect]:
        """Return what lets ours be no more."""
        return [DeleteTask(task=ours.task)]

    def line(self, thing: TaskEntry) -> str:
        """Return it in one line: "Call the school, by Thu 12 Nov 16:30"."""
        task = thing.task
        done = "done: " if task.status is TaskStatus.DONE else ""
        if task.deadline is None:
            return f"{done}{task.title}"
        local = task.deadline.astimezone(ZoneInfo(task.tz))
        locale = self.household.locale
        when = time_text.day_with_weekday(local.date(), locale)
        when += "" if task.is_all_day else f" {time_text.clock(local.time(), locale)}"
        return f"{done}{task.title}, by {when}"


def _due_moment(task: Task) -> str | None:
    if task.deadline is None:
        return None
    local = task.deadline.astimezone(ZoneInfo(task.tz))
    return str(local.date()) if task.is_all_day else to_text(task.deadline)


def _todo(task: Task) -> Todo:
    todo = Todo()
    todo.add("uid", f"{task.id}{_DOMAIN}")
    todo.add("dtstamp", as_utc(task.created_at))
    todo.add("summary", task.title)
    if task.description:
        todo.add("description", task.description)
    if task.priority is not Priority.NORMAL:
        todo.add("priority", _PRIORITIES[task.priority])
    if task.deadline is not None:
        local = task.deadline.astimezone(ZoneInfo(task.tz))
        due = local.date() if task.is_all_day else local
        todo.add("due", due)
        if task.rrule is not None:
            todo.add("dtstart", due)
            todo.add("rrule", vRecur.from_ical(task.rrule))
    is_done = task.status is TaskStatus.DONE
    todo.add("status", "COMPLETED" if is_done else "NEEDS-ACTION")
    if is_done and task.done_at is not None:
        todo.add("completed", as_utc(task.done_at))
    return todo


def _only(calendar: Component) -> Component:
    found = [each for each in calendar.walk("VTODO") if "RECURRENCE-ID" not in each]
    if len(found) != 1:
        raise InputError("it does not contain exactly one task")
    return found[0]


def _entry(todo: Component, household: Household) -> TaskEntry:
    uid = str(todo["UID"])
    own = uid.removesuffix(_DOMAIN)
    status = str(todo.get("STATUS", "")).upper()
    is_done = status == "COMPLETED" or "COMPLETED" in todo
    due = _date(todo, "DUE") or _date(todo, "DTSTART")
    deadline, all_day = _deadline(due, household.zone)
    stamp = next(iter(_instants(todo, "CREATED", "DTSTAMP")), _NOBODY_KNOWS)
    rule = todo.get("RRULE") if deadline is not None else None
    rrule = bytes(rule.to_ical()).decode() if isinstance(rule, vRecur) else None  # type: ignore[no-untyped-call]  # the library's
    if rrule is not None and deadline is not None:
        check_rule(rrule, deadline.replace(tzinfo=None, fold=0))
    scope = scope_there(household, is_private=privacy_of(todo) is not None)
    task = Task(
        id=own if own and own != uid else stable_id(household.id, "caldav task", uid),
        household=household.id,
        scope=scope,
        title=str(todo.get("SUMMARY", "")).strip() or "(untitled)",
        tz=household.zone.key,
        place=Place(channel="caldav"),
        created_at=stamp.astimezone(household.zone),
        description=str(todo.get("DESCRIPTION", "")),
        priority=_priority(todo),
        deadline=deadline,
        is_all_day=all_day,
        rrule=rrule,
        who=() if (owner := person_of(scope)) is None else (owner,),
        status=TaskStatus.DONE if is_done else TaskStatus.OPEN,
        done_at=next(iter(_instants(todo, "COMPLETED", "LAST-MODIFIED")), stamp).astimezone(
            household.zone
        )
        if is_done
        else None,
    )
    return TaskEntry(task=checked(task), is_cancelled=status == "CANCELLED")


def _deadline(due: Any, zone: ZoneInfo) -> tuple[datetime | None, bool]:
    if isinstance(due, datetime):
        aware = due if due.tzinfo else due.replace(tzinfo=zone)
        return aware.astimezone(zone).replace(microsecond=0), False
    if isinstance(due, date):
        return datetime.combine(due, time(), zone), True
    return None, False


def _date(todo: Component, name: str) -> Any:
    written = todo.get(name)
    return written.dt if isinstance(written, vDDDTypes) else None


def _instants(todo: Component, *names: str) -> Iterator[datetime]:
    for name in names:
        moment = _date(todo, name)
        if isinstance(moment, datetime) and moment.tzinfo is not None:
            yield moment.replace(microsecond=0)


def _priority(todo: Component) -> Priority:
    written = todo.get("PRIORITY")
    number = int(written) if isinstance(written, int) else 0
    if number in {0, _MIDDLE}:
        return Priority.NORMAL
    return Priority.HIGH if number < _MIDDLE else Priority.LOW
