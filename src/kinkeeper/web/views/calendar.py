"""The household's calendar: a week, a month, what comes next; and one entry with why it is there. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from kinkeeper.actions.button_removal import can_be_undone
from kinkeeper.actions.calendar_import import SOURCE
from kinkeeper.actions.model import PendingAction
from kinkeeper.calendar.model import Event, EventState, Occurrence, SourceType
from kinkeeper.core.time import Interval, local_days
from kinkeeper.reading.times.calendar_days import first_of_week
from kinkeeper.web.views.addresses import new_href
from kinkeeper.web.views.calendar_diff import DiffWords, PieceLine, piece_of, piece_of_event
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.items import Found, Item, Lines
from kinkeeper.web.views.people import People, Person
from kinkeeper.web.views.quotes import Quote

_DAY = timedelta(days=1)
_WEEK_DAYS = 7
_AGENDA_DAYS = 28
_MARKS = 4
_EARLIEST, _LATEST = date(1971, 1, 1), date(2200, 1, 1)


class Span(StrEnum):
    """How much of the calendar is shown."""

    WEEK = "week"
    AGENDA = "agenda"
    MONTH = "month"


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """One local day.

    Attributes:
        iso: ISO date.
        number: Day of the month.
        weekday: Short name.
        long_label: In full.
        is_today: Whether it is.
        is_outside: Whether it belongs to another month than the one shown.
        entries: What takes place, all-day first, then in order of time.
        marks: Whose things they are, each once, at most four.
        href: The week that holds it.
        add_href: Where an event is added on it; empty where it has passed.
    """

    iso: str
    number: int
    weekday: str
    label: str
    long_label: str
    is_today: bool
    is_outside: bool
    entries: tuple[Item, ...]
    marks: tuple[Person, ...]
    href: str
    add_href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarPage:
    """The page.

    Attributes:
        span: What is shown.
        title: Which week or month.
        previous: Address of the one before; empty at the end of the calendar.
        following: Address of the one after; empty at the end of the calendar.
        tabs: Addresses of the three spans around the same day.
        add_href: Where an event is added on the day that is looked at.
        days: In order; of an agenda only those with something, of a month whole weeks.
        weaves: Everybody whose pattern is used.
    """

    span: Span
    title: str
    previous: str
    following: str
    tabs: Mapping[Span, str]
    add_href: str
    days: tuple[Day, ...]
    weaves: tuple[Person, ...]


def shown_days(span: Span, anchor: date, week_start: int) -> tuple[date, date]:
    """Return the first and the last local day that are shown around a day."""
    match span:
        case Span.WEEK:
            first = first_of_week(anchor, week_start)
            return first, first + (_WEEK_DAYS - 1) * _DAY
        case Span.AGENDA:
            return anchor, anchor + (_AGENDA_DAYS - 1) * _DAY
        case Span.MONTH:
            first = first_of_week(anchor.replace(day=1), week_start)
            last = _next_month(anchor) - _DAY
            return first, first_of_week(last, week_start) + (_WEEK_DAYS - 1) * _DAY


def clamped(day: date) -> date:
    """Return the nearest day that the calendar goes to."""
    return min(max(day, _EARLIEST), _LATEST)


def calendar_page(
    found: Iterable[Found], *, span: Span, anchor: date, lines: Lines, wording: Wording
) -> CalendarPage:
    """Return the page.

    Args:
        found: What shares time with the days shown.
        span: How much is shown.
        anchor: Local day to show it around.
        lines: Makes lines.
    """
    first, last = shown_days(span, anchor, wording.week_start)
    by_day = _by_day(found, first, last, lines=lines, wording=wording)
    days = [
        _day(day, by_day[day], span, anchor=anchor, wording=wording)
        for day in _days(first, last)
        if span is not Span.AGENDA or by_day[day]
    ]
    before, after = _neighbours(span, anchor)
    return CalendarPage(
        span=span,
        title=_title(span, first, last, anchor=anchor, wording=wording),
        previous=_href(span, before),
        following=_href(span, after),
        tabs={each: _href(each, anchor) for each in Span},
        add_href=new_href(max(anchor, wording.today), span.value),
        days=tuple(days),
        weaves=tuple(dict.fromkeys(item.face for day in days for item in day.entries)),
    )


def _by_day(
    found: Iterable[Found], first: date, last: date, *, lines: Lines, wording: Wording
) -> dict[date, list[Item]]:
    """Return every day's lines; what lasts over several days stands on each of them."""
    by_day: dict[date, list[Item]] = {day: [] for day in _days(first, last)}
    ordered = sorted(
        found, key=lambda each: (not each.piece.all_day, each.piece.interval.start, each.key)
    )
    for each in ordered:
        item = lines.item(each)
        for day in covered_days(each.piece.interval, wording):
            if day in by_day:
                by_day[day].append(item)
    return by_day


def covered_days(interval: Interval, wording: Wording) -> Sequence[date]:
    """Return the local days an interval shares time with; one that ends at midnight ends the day before."""
    first = wording.local(interval.start).date()
    last = wording.local(interval.end).date()
    ends_at_midnight = local_days(last, last, wording.zone).start >= interval.end
    if ends_at_midnight and last > first:
        last -= _DAY
    return _days(first, last)


def _day(day: date, items: Sequence[Item], span: Span, *, anchor: date, wording: Wording) -> Day:
    faces = dict.fromkeys(item.face for item in items)
    return Day(
        iso=day.isoformat(),
        number=day.day,
        weekday=wording.weekday(day)[:3],
        label=wording.heading(day),
        long_label=wording.long_day(day),
        is_today=day == wording.today,
        is_outside=span is Span.MONTH and day.month != anchor.month,
        entries=tuple(items),
        marks=tuple(faces)[:_MARKS],
        href=_href(Span.WEEK, day),
        add_href="" if day < wording.today else new_href(day, span.value),
    )


def _neighbours(span: Span, anchor: date) -> tuple[date, date]:
    match span:
        case Span.WEEK:
            return anchor - _WEEK_DAYS * _DAY, anchor + _WEEK_DAYS * _DAY
        case Span.AGENDA:
            return anchor - _AGENDA_DAYS * _DAY, anchor + _AGENDA_DAYS * _DAY
        case Span.MONTH:
            return (anchor.replace(day=1) - _DAY).replace(day=1), _next_month(anchor)


def _title(span: Span, first: date, last: date, *, anchor: date, wording: Wording) -> str:
    if span is Span.MONTH:
        return wording.month(anchor)
    return f"{wording.short_day(first)} – {wording.short_day(last)}"


def _href(span: Span, day: date) -> str:
    if clamped(day) != day:
        return ""
    return f"/calendar?span={span.value}&on={day.isoformat()}"


def _next_month(day: date) -> date:
    return (day.replace(day=28) + 4 * _DAY).replace(day=1)


def _days(first: date, last: date) -> list[date]:
    return [first + offset * _DAY for offset in range((last - first).days + 1)]


# One entry of the calendar, with why it is there. Pure.

_SOURCES = {
    SourceType.SEED: "From the household file.",
    SourceType.OBSERVER: "Mentioned in the group chat.",
    SourceType.CHAT: "Someone asked for it in a chat.",
    SourceType.EMAIL_MANUAL: "From an email.",
    SourceType.ICS: "From a calendar file.",
    SourceType.CLI: "Added on the command line.",
    SourceType.WEB: "Added on these pages.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """The page.

    Attributes:
        repeats: Whether it is one of a series.
        is_off: Whether it does not take place.
        audience: Who may see it, in words; empty for the whole household.
        source: Where it came from, in words.
        confirmed: Who said yes, in words; empty where nobody had to.
        quotes: Messages it rests on.
        undo_id: Action that can be taken back; empty where there is none.
        import_href: Where the import that brought it can be undone as a whole; empty where there is none.
    """

    line: PieceLine
    repeats: bool
    is_off: bool
    audience: str
    source: str
    confirmed: str
    quotes: tuple[Quote, ...]
    undo_id: str
    import_href: str


def entry_page(
    event: Event,
    occurrence: Occurrence | None,
    action: PendingAction | None,
    quotes: tuple[Quote, ...],
    *,
    words: DiffWords,
    people: People,
) -> EntryPage:
    """Return the page.

    Args:
        occurrence: The one that is looked at, where it is known.
        action: The confirmed action that wrote it, if any.
        quotes: Messages that action rests on.
    """
    provenance = event.provenance
    by = people.of(provenance.confirmed_by).name if provenance.confirmed_by else ""
    at = (
        f", {words.wording.moment(action.decided_at)}"
        if action is not None and action.decided_at is not None
        else ""
    )
    state = event.state if occurrence is None else occurrence.state
    piece = piece_of_event(event) if occurrence is None else piece_of(occurrence)
    undoable = action if action is not None and can_be_undone(action) else None
    is_imported = undoable is not None and undoable.proposal.source_type == SOURCE
    return EntryPage(
        line=words.piece(piece),
        repeats=event.rrule is not None,
        is_off=state is EventState.CANCELLED,
        audience=people.audience(event.scope),
        source=_SOURCES[provenance.source_type],
        confirmed=f"Approved by {by}{at}." if by else "",
        quotes=quotes,
        undo_id=undoable.id if undoable and not is_imported else "",
        import_href=import_href(undoable) if undoable and is_imported else "",
    )


def import_href(action: PendingAction) -> str:
    """Return where an import can be undone as a whole.

    Args:
        action: One of its steps. The import's own id stays unsaid: ids of its events are made from it.
    """
    return f"/calendar/imports/{action.id}"
