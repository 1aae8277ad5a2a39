"""Writes what the household has: calendar, tasks, notes, what it remembers, what waited and was decided."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.repository import list_actions
from kinkeeper.actions.requests.notes import note_json
from kinkeeper.actions.requests.tasks import task_json
from kinkeeper.bootstrap import System
from kinkeeper.cli.calendar_view import export_calendar
from kinkeeper.cli.input import STDIN
from kinkeeper.cli.located import Where
from kinkeeper.cli.opening import opened, present
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import canonical_json
from kinkeeper.household.viewing import Viewer
from kinkeeper.mail.drafts import Draft, list_drafts
from kinkeeper.memory.exporting import Exported, exported_lines
from kinkeeper.notes.repository import list_notes
from kinkeeper.tasks.repository import list_tasks

_PRIVATE = 0o600


def export_memory(where: Where, file: Path, what: Exported) -> None:
    """Write facts or episodes as JSON lines, everybody's own ones too.

    Args:
        where: Household and database.
        file: Where to; "-" writes to the output.
        what: Which.
    """
    with opened(where) as system:
        lines = _memory(system, what)
    if file == STDIN:
        sys.stdout.writelines(lines)
    else:
        _write(file, lines)


def export_all(where: Where, folder: Path) -> None:
    """Write everything into a folder, a file each: calendar, tasks, notes, drafts of mails, facts, episodes and actions.

    Everybody's own things, too: only whoever may read the database can do this.

    Args:
        where: Household and database.
        folder: Made where it does not exist.

    Raises:
        InputError: It is no folder.
    """
    if folder == STDIN or (folder.exists() and not folder.is_dir()):
        raise InputError("name a folder: kinkeeper export FOLDER --as all")
    folder.mkdir(parents=True, exist_ok=True)
    with opened(where) as system:
        written = {
            "facts.jsonl": _memory(system, Exported.FACTS),
            "episodes.jsonl": _memory(system, Exported.EPISODES),
            "actions.jsonl": _actions(system),
            "tasks.jsonl": _tasks(system),
            "notes.jsonl": _notes(system),
            "drafts.jsonl": _drafts(system),
        }
    export_calendar(where, folder / "calendar.ics", with_private=True)
    for name, lines in written.items():
        _write(folder / name, lines)


def _memory(system: System, what: Exported) -> list[str]:
    household = system.household.id
    return system.store.read_now(lambda conn: list(exported_lines(conn, household, what)))


def _actions(system: System) -> list[str]:
    household, now = system.household.id, present(system)
    found = system.store.read_now(
        lambda conn: list_actions(
            conn, Viewer.whole(household), statuses=frozenset(ActionStatus), now=now
        )
    )
    return [f"{canonical_json(action_record(action))}\n" for action in found]


def _tasks(system: System) -> list[str]:
    household = system.household.id
    found = system.store.read_now(lambda conn: list_tasks(conn, Viewer.whole(household)))
    return [f"{canonical_json(task_json(task))}\n" for task in found]


def _notes(system: System) -> list[str]:
    household = system.household.id
    found = system.store.read_now(lambda conn: list_notes(conn, Viewer.whole(household)))
    return [f"{canonical_json(note_json(note))}\n" for note in found]


def _drafts(system: System) -> list[str]:
    household = system.household.id
    found = system.store.read_now(lambda conn: list_drafts(conn, household))
    return [f"{canonical_json(_draft_json(draft))}\n" for draft in found]


def _draft_json(draft: Draft) -> dict[str, Any]:
    return draft.mail.model_dump(mode="json") | {
        "id": draft.id, "written_by": draft.written_by,
        "written_at": draft.written_at.isoformat(),
    }  # fmt: skip


def _write(file: Path, lines: Iterable[str]) -> None:
    """Write a file that only its owner may read."""
    file.touch(mode=_PRIVATE)
    with file.open("w", encoding="utf-8", newline="") as open_file:
        open_file.writelines(lines)
    notice(f"wrote {file}")
