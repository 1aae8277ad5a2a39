"""Writes what the household has: calendar, tasks, notes, what it remembers, what waited and was decided."""

import sys
from pathlib import Path

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.household_state import public_records
from kinkeeper.cli.calendar_view import export_calendar
from kinkeeper.cli.input import STDIN
from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import opened
from kinkeeper.cli.private_files import make_private_folder, write_private
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import canonical_json
from kinkeeper.core.time import SystemClock
from kinkeeper.memory.memory_export import Exported, exported_lines


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
        write_private(file, "".join(lines).encode())


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
        raise InputError("specify a folder: kinkeeper export FOLDER --as all")
    make_private_folder(folder)
    with opened(where) as system:
        now = SystemClock().now()
        records = system.store.read_now(lambda conn: public_records(conn, system, now=now))
        episodes = _memory(system, Exported.EPISODES)
    export_calendar(where, folder / "calendar.ics", with_private=True)
    written = {
        kind: [f"{canonical_json(each)}\n" for each in found] for kind, found in records.items()
    }
    for kind, lines in (written | {"episodes": episodes}).items():
        write_private(folder / f"{kind}.jsonl", "".join(lines).encode())


def _memory(system: System, what: Exported) -> list[str]:
    household = system.household
    return system.store.read_now(
        lambda conn: list(exported_lines(conn, household.id, what, names=household.names))
    )
