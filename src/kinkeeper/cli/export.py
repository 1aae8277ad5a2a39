"""`kinkeeper export`: the calendar, the memory, or everything the household has, written to files."""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.household_state import public_records
from kinkeeper.calendar.ics import export_ics
from kinkeeper.calendar.repository import list_all_overrides, list_events
from kinkeeper.cli.input import STDIN
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import opened
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import canonical_json
from kinkeeper.core.time import SystemClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.memory_export import Exported, exported_lines

_FILE, _FOLDER = 0o600, 0o700


def write_private(file: Path, content: bytes) -> None:
    """Write a file that only its owner may read, in the place of one that is there."""
    try:
        descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, _FILE)
        with open(descriptor, "wb") as stream:  # noqa: PTH123 - of a descriptor
            # Before anything is in it; a device has no mode of its own to change.
            if file.is_file():
                os.fchmod(descriptor, _FILE)
                os.ftruncate(descriptor, 0)
            stream.write(content)
    except OSError as error:
        raise InputError(f"cannot write {str(file)!r}: {error.strerror}") from error
    notice(f"wrote {file}")


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner may look into; one that exists keeps its mode."""
    try:
        folder.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create the folder {str(folder)!r}: {error.strerror}") from error


class Exportable(StrEnum):
    """What can be exported."""

    EVENTS = "events"
    FACTS = "facts"
    EPISODES = "episodes"
    ALL = "all"


app = typer.Typer()


@app.command()
@located
def export(
    where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="[FILE]", help='Target file, "-" for stdout; a folder for --as all.'
        ),
    ] = Path("-"),
    as_: Annotated[
        Exportable, typer.Option("--as", help="calendar (iCalendar), memory (JSONL) or all.")
    ] = Exportable.EVENTS,
) -> None:
    """Export the calendar, the memory or everything."""
    if as_ is Exportable.EVENTS:
        export_calendar(where, file)
    elif as_ is Exportable.ALL:
        export_all(where, file)
    else:
        _export_memory(where, file, Exported(as_.value))


def export_calendar(where: Where, file: Path, *, with_private: bool = False) -> None:
    """Write all events, with what was changed for single days, as an iCalendar file.

    Args:
        file: Where to; "-" for the standard output. An existing file is replaced.
        with_private: Whether what is private to members is wanted, too: not for a calendar that others see.
    """
    with opened(where) as system:
        household = system.household
        viewer = Viewer.whole(household.id) if with_private else Viewer.of(household.id)
        calendar = system.store.read_now(
            lambda conn: export_ics(
                list_events(conn, viewer),
                list_all_overrides(conn, household.id),
                name=household.title,
                places=household.place_names,
            )
        )
    if file == STDIN:
        sys.stdout.buffer.write(calendar)
        sys.stdout.flush()
        return
    write_private(file, calendar)


def _export_memory(where: Where, file: Path, what: Exported) -> None:
    """Write facts or episodes as JSON lines, everybody's own ones too.

    Args:
        file: Where to; "-" writes to the output.
    """
    with opened(where) as system:
        lines = _memory(system, what)
    if file == STDIN:
        sys.stdout.writelines(lines)
    else:
        write_private(file, "".join(lines).encode())


def export_all(where: Where, folder: Path) -> None:
    """Write everything into a folder, a file each: calendar, tasks, goals, notes, drafts of mails, facts, episodes and actions.

    Everybody's own things, too: only whoever may read the database can do this.

    Args:
        folder: Made where it does not exist.
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
