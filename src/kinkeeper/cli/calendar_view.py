"""The household's calendar: shown as a list of days, or written as an iCalendar file."""

import sys
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

from rich.table import Table

from kinkeeper.calendar.event_records import occurrence_record
from kinkeeper.calendar.ics import export_ics
from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.repository import list_all_overrides, list_events
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.cli.input import STDIN
from kinkeeper.cli.located import Where
from kinkeeper.cli.opening import instant_of, looking, opened, present
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import local_days
from kinkeeper.household.model import Household
from kinkeeper.household.viewing import Viewer
from kinkeeper.observer.accounts.trace_words import people

_AHEAD = timedelta(days=14)


def show_events(
    where: Where, *, first: str | None, last: str | None, named: str | None, as_json: bool
) -> None:
    """Show what takes place in a span of local days.

    Args:
        where: Household and database.
        first: First day, ISO; the household's today where None.
        last: Last day, included, ISO; two weeks on where None.
        named: On whose behalf; everybody's where None.
        as_json: Answer with one JSON list.

    Raises:
        InputError: A day is none, or the last lies before the first.
    """
    with opened(where) as system:
        household = system.household
        begin = _day(first, household) or present(system).astimezone(household.zone).date()
        end = _day(last, household) or begin + _AHEAD
        if end < begin:
            raise InputError(f"--to {end} lies before --from {begin}")
        span = local_days(begin, end, household.zone)
        viewer = looking(household, named, now=present(system))
        found = system.store.read_now(
            lambda conn: occurrences_between(conn, viewer, span, with_busy=viewer.sees_busy)
        )
    if as_json:
        answer_json([occurrence_record(each, household.zone) for each in found])
    elif found:
        console().print(_table(found, household))
    else:
        notice(f"Nothing is in the calendar from {begin} to {end}.")


def export_calendar(where: Where, file: Path, *, with_private: bool = False) -> None:
    """Write all events, with what was changed for single days, as an iCalendar file.

    Args:
        where: Household and database.
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
                name=household.id,
            )
        )
    if file == STDIN:
        sys.stdout.buffer.write(calendar)
        sys.stdout.flush()
        return
    file.write_bytes(calendar)
    notice(f"wrote {file}")


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
            each.event.summary,
            people(each.event.who, household),
            people(each.responsible, household),
            _place(each.place, household),
        )
        shown = start.date()
    return table


def _place(place: str | None, household: Household) -> str:
    names = {each.id: each.name for each in household.places}
    return names.get(place, place) if place else ""


def _day(text: str | None, household: Household) -> date | None:
    return instant_of(text, household).date() if text else None
