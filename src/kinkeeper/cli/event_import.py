"""Imports the events of a file, and writes what became of each."""

from functools import partial
from pathlib import Path
from secrets import token_hex

from kinkeeper.actions.calendar_import import Import
from kinkeeper.actions.event_files import read_events
from kinkeeper.actions.import_undo import UndoneImport, find_import, steps_to_undo, undo_step
from kinkeeper.actions.receipts import Receipt
from kinkeeper.bootstrap import System
from kinkeeper.calendar.import_limit import ImportLimit
from kinkeeper.cli.input import lines_of
from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import acting, opened
from kinkeeper.cli.progress import Progress
from kinkeeper.cli.terminal import answer, answer_json, notice
from kinkeeper.core.time import SystemClock

_SHOWN = 12
"""Characters of an import's id that are shown: enough to tell it from others."""


def import_events(where: Where, file: Path, *, by: str | None) -> int:
    """Import the events of a file and write a line for each; what is there already is left alone.

    A large file is several actions; `kinkeeper undo` takes back one of them by its id, or all by the import's. Stopped in
    between, what is in stays; importing the same file again adds the rest.

    Args:
        where: Household and database.
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


def undo_import(where: Where, id_: str, *, by: str | None, json_: bool) -> bool | None:
    """Take back a whole import, if an id is one's, and tell what became of it.

    Args:
        where: Household and database.
        id_: Of an import, or its first characters.
        by: Who takes it back: what they may read of it; everybody's where None.
        json_: Answer in JSON.

    Returns:
        Whether all of it is taken back; None where there is no such import.

    Raises:
        InputError: The beginning fits several, or there is no such member.
    """
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        import_id = system.store.read_now(lambda conn: find_import(conn, household, id_))
        if import_id is None:
            return None
        adults_first = sorted(household.members, key=lambda each: not each.is_adult)
        members = adults_first if by is None else [acting(household, by)]
        steps = system.store.read_now(
            lambda conn: steps_to_undo(conn, household, import_id, members)
        )
        done, progress = UndoneImport(), Progress("steps undone", total=len(steps))
        for step in steps:
            done.note(
                system.store.write_now(partial(undo_step, step=step, household=household, now=now))
            )
            progress.add(1)
    if json_:
        answer_json({"undone": done.undone, "left": done.left, "message": done.message})
    else:
        answer(done.message)
    return not done.left


def _written(system: System, work: Import) -> list[Receipt]:
    progress = Progress("events imported", total=len(work.found.events))
    receipts: list[Receipt] = []
    for step in work.steps():
        result = system.store.write_now(partial(work.write, step=step))
        work.found.report(result.lines)
        receipts += result.receipts
        progress.add(sum(part.is_first for part in step.parts))
    return receipts
