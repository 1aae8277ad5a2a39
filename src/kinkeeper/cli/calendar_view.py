"""The household's calendar: shown as a list of days, or written as an iCalendar file."""

import sys
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

from rich.table import Table

from kinkeeper.actions.expected import expected_between
from kinkeeper.calendar.event_records import occurrence_record
from kinkeeper.calendar.ics import export_ics
from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.repository import list_all_overrides, list_events
from kinkeeper.calendar.waiting_words import occurrence_waiting
from kinkeeper.cli.input import STDIN
from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import instant_of, looking, opened
from kinkeeper.cli.private_files import write_private
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock, local_days
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.observer.accounts.trace_words import people

_AHEAD = timedelta(days=14)


def show_events(
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
        where: Household and database.
        first: First day, ISO; the household's today where None.
        last: Last day, included, ISO; two weeks on where None.
        named: On whose behalf; everybody's where None.
        as_json: Answer with one JSON list.
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
                name=household.title,
                places=household.place_names,
            )
        )
    if file == STDIN:
        sys.stdout.buffer.write(calendar)
        sys.stdout.flush()
        return
    write_private(file, calendar)


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
