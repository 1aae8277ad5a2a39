"""`kinkeeper events`, `import` and `export`: the household's calendar, and what goes into memory."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.commands.pending import JsonOption, LookOption
from kinkeeper.cli.located import Where, located


class Exportable(StrEnum):
    """What can be exported."""

    EVENTS = "events"
    FACTS = "facts"
    EPISODES = "episodes"
    ALL = "all"


class Importable(StrEnum):
    """What a file can be imported as."""

    EPISODES = "episodes"
    FACTS = "facts"
    EVENTS = "events"


@located
def events(
    where: Where,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="DAY", help="First day; today if not given.")
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="DAY", help="Last day; two weeks on if not given.")
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
) -> None:
    """Show what is in the calendar."""
    from kinkeeper.cli.calendar_view import export_calendar, show_events

    if import_ is not None:
        _import(where, import_, as_)
    elif ics is not None:
        export_calendar(where, ics)
    else:
        show_events(where, first=from_, last=to, named=as_, as_json=json_)


@located
def import_file(
    where: Where,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='iCalendar or JSON lines; "-" reads the input.')
    ],
    what: Annotated[
        Importable, typer.Option("--as", help="What the file holds.", metavar="KIND")
    ] = Importable.EVENTS,
    by: Annotated[
        str | None,
        typer.Option(metavar="MEMBER", help="Who imports events; the owner where not given."),
    ] = None,
    waits: Annotated[
        bool,
        typer.Option(
            "--wait/--no-wait", help="Return when episodes and facts are found by meaning too."
        ),
    ] = True,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the vectors of all memories anew.")
    ] = False,
) -> None:
    """Bring events into the calendar, or episodes and facts into memory; a line tells what became of each."""
    if what is Importable.EVENTS:
        _import(where, file, by)
        return
    from kinkeeper.cli.memory_import import import_memories

    bad = import_memories(
        where, file, as_facts=what is Importable.FACTS, waits=waits, rebuilds=rebuild
    )
    if bad:
        raise typer.Exit(2)


@located
def export(
    where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="[FILE]", help='Where to; "-" writes to the output; of `all`, a folder.'
        ),
    ] = Path("-"),
    as_: Annotated[
        Exportable,
        typer.Option("--as", help="The calendar (iCalendar), what is remembered (JSONL), or all."),
    ] = Exportable.EVENTS,
) -> None:
    """Write the calendar as an iCalendar file, what is remembered as JSON lines, or all into a folder."""
    if as_ is Exportable.EVENTS:
        from kinkeeper.cli.calendar_view import export_calendar

        export_calendar(where, file)
    elif as_ is Exportable.ALL:
        from kinkeeper.cli.exporting import export_all

        export_all(where, file)
    else:
        from kinkeeper.cli.exporting import export_memory
        from kinkeeper.memory.exporting import Exported

        export_memory(where, file, Exported(as_.value))


def _import(where: Where, file: Path, by: str | None) -> None:
    from kinkeeper.cli.importing import import_events

    if import_events(where, file, by=by):
        raise typer.Exit(2)
