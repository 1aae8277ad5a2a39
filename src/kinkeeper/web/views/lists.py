"""Tasks and notes in words, as the pages show them. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kinkeeper.notes.model import Note, entries
from kinkeeper.tasks.model import Priority, Task
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.people import People, Person

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """One task.

    Attributes:
        when: When it is due, in few words; empty where it has no time.
        spoken: The same in full.
        iso: The same for programs.
        is_late: Whether its time has passed.
        is_urgent: Whether it is marked so.
        repeats: Whether it comes again.
        audience: Who may see it, in words; empty where the whole household may.
    """

    id: str
    title: str
    note: str
    when: str
    spoken: str
    iso: str
    people: tuple[Person, ...]
    is_late: bool
    is_urgent: bool
    repeats: bool
    audience: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteCard:
    """One note.

    Attributes:
        title: What it is called.
        lines: Its lines, without the marks of a list.
        audience: Who may see it, in words; empty where the whole household may.
    """

    id: str
    title: str
    lines: tuple[str, ...]
    audience: str


def task_lines(tasks: Iterable[Task], people: People, wording: Wording) -> list[TaskLine]:
    """Return tasks as they are shown, in their order."""
    return [_task_line(task, people, wording) for task in tasks]


def note_cards(notes: Iterable[Note], people: People) -> list[NoteCard]:
    """Return notes as they are shown, in their order."""
    return [
        NoteCard(
            id=note.id,
            title=note.title,
            lines=tuple(entries(note.body)),
            audience=people.audience(note.scope),
        )
        for note in notes
    ]


def pressing(tasks: Sequence[Task], now: datetime) -> list[Task]:
    """Return the tasks that are due within a day, or were."""
    return [task for task in tasks if task.turn is not None and task.turn < now + _DAY]


def _task_line(task: Task, people: People, wording: Wording) -> TaskLine:
    when = spoken = iso = ""
    is_late = False
    if task.turn is not None:
        day = wording.local(task.turn).date()
        is_day = task.is_all_day and task.deadline is not None
        when = wording.day(day) if is_day else wording.moment(task.turn)
        spoken = wording.long_day(day) if is_day else wording.long_moment(task.turn)
        iso = day.isoformat() if is_day else wording.local(task.turn).isoformat(timespec="minutes")
        is_late = day < wording.today if is_day else task.turn < wording.now
    return TaskLine(
        id=task.id,
        title=task.title,
        note=task.description,
        when=when,
        spoken=spoken,
        iso=iso,
        people=people.each(task.who),
        is_late=is_late,
        is_urgent=task.priority is Priority.HIGH,
        repeats=task.rrule is not None,
        audience=people.audience(task.scope),
    )
