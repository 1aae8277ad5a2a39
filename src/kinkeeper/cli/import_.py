"""`kinkeeper import`: events, episodes or facts out of a file."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Annotated

import typer

from kinkeeper.actions.calendar_import import Import
from kinkeeper.actions.event_files import read_events
from kinkeeper.actions.receipts import Receipt
from kinkeeper.bootstrap import System
from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.cli.input import lines_of
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.memory_import import import_memories
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.terminal import Progress, answer_json, notice
from kinkeeper.core.time import SystemClock

_SHOWN = 12
"""Characters of an import's id that are shown: enough to tell it from others."""


class Importable(StrEnum):
    """What a file can be imported as."""

    EPISODES = "episodes"
    FACTS = "facts"
    EVENTS = "events"


app = typer.Typer()


@app.command("import")
@located
def import_file(
    where: Where,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='iCalendar or JSON lines; "-" reads stdin.')
    ],
    what: Annotated[
        Importable,
        typer.Option(
            "--as", help="Contents of the file: events, episodes or facts.", metavar="KIND"
        ),
    ] = Importable.EVENTS,
    by: Annotated[
        str | None,
        typer.Option(metavar="MEMBER", help="Who imports; default is the owner."),
    ] = None,
    waits: Annotated[
        bool,
        typer.Option(
            "--wait/--no-wait", help="Wait until imported memories are searchable by meaning."
        ),
    ] = True,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Rebuild all memory vectors.")] = False,
) -> None:
    """Import events, episodes or facts; prints one result per line."""
    if what is Importable.EVENTS:
        bad = import_events(where, file, by=by)
    else:
        bad = import_memories(
            where, file, as_facts=what is Importable.FACTS, waits=waits, rebuilds=rebuild, by=by
        )
    if bad:
        raise typer.Exit(2)


def import_events(where: Where, file: Path, *, by: str | None) -> int:
    """Import the events of a file and write a line for each; what is there already is left alone.

    A large file is several actions; `kinkeeper undo` takes back one of them by its id, or all by the import's. Stopped in
    between, what is in stays; importing the same file again adds the rest.

    Args:
        file: iCalendar or JSON lines.
        by: Who imports; the owner where None.

    Returns:
        How many could not be read.

    Raises:
        InputError: The file cannot be read.
        ConflictError: The rest was not imported; the message says why.
    """
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        importer = acting(household, by)
        with lines_of(file) as lines:
            found = read_events(lines, household, ImportLimit(now))
        found.leave_out_hidden(household, importer, is_operator=True)
        work = Import(
            id=token_hex(16), household=household, member=importer, now=now,
            name=file.name, found=found, is_operator=True,
        )  # fmt: skip
        receipts = _written(system, work)
    for line in found.lines:
        answer_json(line)
    for note in found.notes:
        notice(note)
    if not receipts:
        notice("nothing new")
    if len(receipts) == 1:
        notice(f"{receipts[0].message} (kinkeeper undo {receipts[0].action.id[:8]} undoes this)")
    elif receipts:
        notice(
            f"imported in {len(receipts)} steps (kinkeeper undo {work.id[:_SHOWN]} undoes all of it)"
        )
    return found.errors


def _written(system: System, work: Import) -> list[Receipt]:
    progress = Progress("events imported", total=len(work.found.events))
    receipts: list[Receipt] = []
    for step in work.steps():
        result = system.store.write_now(partial(work.write, step=step))
        work.found.report(result.lines)
        receipts += result.receipts
        progress.add(sum(part.is_first for part in step.parts))
    return receipts
