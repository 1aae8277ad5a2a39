"""`kinkeeper events`: the household's calendar."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kinkeeper.actions.expected import expected_between
from kinkeeper.calendar.event_records import occurrence_record, occurrence_waiting
from kinkeeper.calendar.model import Occurrence
from kinkeeper.cli.export import export_calendar
from kinkeeper.cli.import_ import import_events
from kinkeeper.cli.located import JsonOption, LookOption, Where, located
from kinkeeper.cli.opener import instant_of, looking, opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock, local_days
from kinkeeper.household.model import Household
from kinkeeper.observer.accounts.traces import people

_AHEAD = timedelta(days=14)

app = typer.Typer()


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
        _show_events(where, first=from_, last=to, named=as_, as_json=json_, with_waiting=waiting)


def _show_events(
    where: Where,
    *,
    first: str | None,
    last: str | None,
    named: str | None,
    as_json: bool,
    with_waiting: bool = False,
) -> None:
    """Show what takes place in a span of local days.

    Args:
        first: First day, ISO; the household's today where None.
        last: Last day, included, ISO; two weeks on where None.
        named: On whose behalf; everybody's where None.
        with_waiting: Whether that list has what only an open proposal would add; the table always has it.

    Raises:
        InputError: A day is none, or the last lies before the first.
    """
    with opened(where) as system:
        household = system.household
        begin = _day(first, household) or SystemClock().now().astimezone(household.zone).date()
        end = _day(last, household) or begin + _AHEAD
        if end < begin:
            raise InputError(f"--to {end} is before --from {begin}")
        span = local_days(begin, end, household.zone)
        now = SystemClock().now()
        viewer = looking(household, named, now=now)
        found = system.store.read_now(
            lambda conn: expected_between(conn, viewer, span, now=now, with_busy=viewer.sees_busy)
        )
    if as_json:
        listed = [each for each in found if with_waiting or each.is_confirmed]
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
        occurrence, household.zone, name=lambda each: people([each], household),
        moment=lambda at: f"{at.astimezone(household.zone):%a %Y-%m-%d %H:%M}",
    )  # fmt: skip
    return f"{occurrence.event.summary} ({waits})" if waits else occurrence.event.summary


def _day(text: str | None, household: Household) -> date | None:
    return instant_of(text, household).date() if text else None
