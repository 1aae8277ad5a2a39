"""Imports the events of a file, and writes what became of each."""

from pathlib import Path

from kinkeeper.actions.importing import Import, read_calendar
from kinkeeper.cli.input import lines_of
from kinkeeper.cli.located import Where
from kinkeeper.cli.opening import acting, opened, present
from kinkeeper.cli.terminal import answer_json, notice


def import_events(where: Where, file: Path, *, by: str | None) -> int:
    """Import the events of a file and write a line for each; what is there already is left alone.

    All of them are one action, which `kinkeeper undo` takes back.

    Args:
        where: Household and database.
        file: iCalendar or JSON lines.
        by: Who imports; the owner where None.

    Returns:
        How many could not be read.

    Raises:
        InputError: The file cannot be read.
        ConflictError: Nothing was imported, because an event has changed meanwhile.
    """
    with opened(where) as system:
        household = system.household
        with lines_of(file) as lines:
            found = read_calendar(lines, household)
        work = Import(
            household=household, member=acting(household, by), now=present(system), name=file.name
        )
        receipt = system.store.write_now(lambda conn: work.run(conn, found))
    for line in found.lines:
        answer_json(line)
    for note in found.notes:
        notice(note)
    if receipt is None:
        notice("nothing new")
    else:
        notice(f"{receipt.message} (kinkeeper undo {receipt.action.id[:8]} takes it back)")
    return found.errors
