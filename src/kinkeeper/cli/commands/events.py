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
    from kinkeeper.cli.calendar_view import export_calendar, show_events

    if import_ is not None:
        _import(where, import_, as_)
    elif ics is not None:
        export_calendar(where, ics)
    else:
        show_events(where, first=from_, last=to, named=as_, as_json=json_, with_waiting=waiting)


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
        typer.Option(metavar="MEMBER", help="Who imports the events; default is the owner."),
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
            metavar="[FILE]", help='Target file, "-" for stdout; a folder for --as all.'
        ),
    ] = Path("-"),
    as_: Annotated[
        Exportable,
        typer.Option("--as", help="calendar (iCalendar), memory (JSONL) or all."),
    ] = Exportable.EVENTS,
) -> None:
    """Export the calendar, the memory or everything."""
    if as_ is Exportable.EVENTS:
        from kinkeeper.cli.calendar_view import export_calendar

        export_calendar(where, file)
    elif as_ is Exportable.ALL:
        from kinkeeper.cli.export import export_all

        export_all(where, file)
    else:
        from kinkeeper.cli.export import export_memory
        from kinkeeper.memory.memory_export import Exported

        export_memory(where, file, Exported(as_.value))


def _import(where: Where, file: Path, by: str | None) -> None:
    from kinkeeper.cli.event_import import import_events

    if import_events(where, file, by=by):
        raise typer.Exit(2)
