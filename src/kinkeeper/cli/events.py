"""`kinkeeper events` and `kinkeeper import`: the events of a stretch of time, and what a file adds to calendar and memory."""

from collections.abc import Sequence
from datetime import date, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Annotated

import typer
from rich.table import Table

from kinkeeper.actions.calendar_import import Import
from kinkeeper.actions.event_files import read_events
from kinkeeper.actions.expected import expected_between
from kinkeeper.actions.receipts import Receipt
from kinkeeper.bootstrap import System
from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.calendar.event_records import occurrence_record, occurrence_waiting
from kinkeeper.calendar.model import Occurrence
from kinkeeper.cli.export import export_calendar
from kinkeeper.cli.input import lines_of
from kinkeeper.cli.located import JsonOption, LookOption, Where, located
from kinkeeper.cli.memory_import import import_memories
from kinkeeper.cli.opener import acting, instant_of, looking, opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import Progress, answer_json, notice
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock, local_days
from kinkeeper.household.model import Household
from kinkeeper.observer.accounts.traces import people

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
        str | None, typer.Option(metavar="MEMBER", help="Who imports; default is the owner.")
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
        by: Who imports; the owner where None.

    Returns:
        How many could not be read.

    Raises:
        ConflictError: The rest was not imported; the message says why.
    """
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        importer = acting(household, by)
        with lines_of(file) as lines:
            found = read_events(lines, household, ImportLimit(now))
        found.leave_out_hidden(household, importer, is_operator=True)
        work = Import(
            id=token_hex(16),
            household=household,
            member=importer,
            now=now,
            name=file.name,
            found=found,
            is_operator=True,
        )
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


_AHEAD = timedelta(days=14)


@app.command()
@located
def events(
    where: Where,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="DAY", help="First day; default is today.")
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="DAY", help="Last day; default is two weeks later.")
    ] = None,
    ics: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the whole calendar as an iCalendar file."),
    ] = None,
    import_: Annotated[
        Path | None, typer.Option("--import", metavar="FILE", help="Same as `import FILE`.")
    ] = None,
    as_: LookOption = None,
    json_: JsonOption = False,
    waiting: Annotated[
        bool, typer.Option("--waiting", help="With --json: include events that need approval.")
    ] = False,
) -> None:
    """List calendar events; those that need approval are marked."""
    if import_ is not None:
        if import_events(where, import_, by=as_):
            raise typer.Exit(2)
    elif ics is not None:
        export_calendar(where, ics)
    else:
        with opened(where) as system:
            household = system.household
            begin = _day(from_, household) or SystemClock().now().astimezone(household.zone).date()
            end = _day(to, household) or begin + _AHEAD
            if end < begin:
                raise InputError(f"--to {end} is before --from {begin}")
            span = local_days(begin, end, household.zone)
            now = SystemClock().now()
            viewer = looking(household, as_, now=now)
            found = system.store.read_now(
                lambda conn: expected_between(
                    conn, viewer, span, now=now, with_busy=viewer.sees_busy
                )
            )
        if json_:
            listed = [each for each in found if waiting or each.is_confirmed]
            answer_json([occurrence_record(each, household, viewer) for each in listed])
        elif found:
            console().print(_table(found, household))
        else:
            notice(f"Nothing is in the calendar from {begin} to {end}.")


def _table(found: Sequence[Occurrence], household: Household) -> Table:
    table = Table()
    for heading in ("day", "time", "what", "who", "in charge", "where"):
        table.add_column(heading, no_wrap=heading in {"day", "time"})
    shown: date | None = None
    for each in found:
        start = each.interval.start.astimezone(household.zone)
        end = each.interval.end.astimezone(household.zone)
        clock = "all day" if each.event.all_day else f"{start:%H:%M}–{end:%H:%M}"
        table.add_row(
            "" if start.date() == shown else f"{start:%a %Y-%m-%d}",
            clock,
            _title(each, household),
            people(each.event.who, household),
            people(each.responsible, household),
            household.place_name(each.place or ""),
        )
        shown = start.date()
    return table


def _title(occurrence: Occurrence, household: Household) -> str:
    """Return what an occurrence is called, with what it waits for."""
    waits = occurrence_waiting(
        occurrence,
        household.zone,
        name=lambda each: people([each], household),
        moment=lambda at: f"{at.astimezone(household.zone):%a %Y-%m-%d %H:%M}",
    )
    return f"{occurrence.event.summary} ({waits})" if waits else occurrence.event.summary


def _day(text: str | None, household: Household) -> date | None:
    return instant_of(text, household).date() if text else None
