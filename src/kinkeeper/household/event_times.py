"""When an event of the file takes place: start, length, recurrence, left-out days."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from kinkeeper.household.draft import Item, Report
from kinkeeper.household.recurrence import Recurrence, read_recurrence
from kinkeeper.household.sections import EventSection

_MOST_DAYS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When an event takes place, in naive local time.

    Attributes:
        start: First occurrence; midnight where all-day.
        duration: > 0; whole days where all-day.
        rrule: RFC 5545 rule without prefix, if recurring.
        exdates: Starts that are left out.
    """

    start: datetime
    duration: timedelta
    rrule: str | None
    exdates: tuple[datetime, ...]


def read_timing(
    item: Item[EventSection], *, zone: ZoneInfo, default: timedelta, report: Report
) -> Timing | None:
    """Return when the event takes place, noting what is wrong in `report`.

    Args:
        item: The event's table.
        zone: Zone of the household.
        default: Duration where the file gives none, > 0.
        report: Receives problems and warnings.

    Returns:
        None where the start is missing or bad.
    """
    event = item.section
    if event.start is None:
        return None
    if not _is_kind_right(item, event.start, "start", report):
        return None
    start = _local(event.start, time(0))
    duration = _duration(item, start, default, report)
    recurrence = _recurrence(item, start, zone, report)
    if recurrence and recurrence.first != start:
        report.warning(
            (*item.path, "start"),
            f"{_spoken(start)} is not one of the rule's days; the rule's first day is used instead: {_spoken(recurrence.first)}",
        )
        start = recurrence.first
    if not event.all_day and not _exists(start, zone):
        report.warning(
            (*item.path, "start"),
            f"{_spoken(start)} does not exist in {zone.key}: the clocks go forward then",
        )
    return Timing(
        start=start,
        duration=duration,
        rrule=recurrence.text if recurrence else None,
        exdates=_exdates(item, start, recurrence, report),
    )


def _is_kind_right(item: Item[EventSection], value: date, key: str, report: Report) -> bool:
    """Whether `value` has a time exactly where the event is not all-day."""
    has_time = isinstance(value, datetime)
    path = (*item.path, key)
    if has_time and item.section.all_day:
        report.problem(path, f"{key}: an all-day event has dates only: {key} = {value:%Y-%m-%d}")
    elif not has_time and not item.section.all_day and not _is_unread(item, "all_day"):
        report.problem(
            path,
            f"{key} has no time of day; write {key} = {value:%Y-%m-%d}T16:30:00, "
            "or add all_day = true",
        )
    return has_time != item.section.all_day


def _is_unread(item: Item[EventSection], key: str) -> bool:
    """Whether the table has `key` with a value that could not be used."""
    return key in item.raw and key not in item.section.model_fields_set


def _duration(
    item: Item[EventSection], start: datetime, default: timedelta, report: Report
) -> timedelta:
    event = item.section
    if event.all_day:
        default = timedelta(days=1)
    if event.end is not None and event.duration_minutes is not None:
        message = "the event has both end and duration_minutes; keep one of the two"
        report.problem((*item.path, "duration_minutes"), message)
        return default
    if event.duration_minutes is not None:
        if event.all_day:
            message = "an all-day event lasts whole days; write end = its last day instead"
            report.problem((*item.path, "duration_minutes"), message)
            return default
        return timedelta(minutes=event.duration_minutes)
    if event.end is None or not _is_kind_right(item, event.end, "end", report):
        return default
    end = _local(event.end, time(0))
    # People name the last day of a holiday, so the end of an all-day event is part of it.
    duration = end - start + (timedelta(days=1) if event.all_day else timedelta())
    if duration <= timedelta():
        message = f"the end, {_spoken(end)}, is not after the start, {_spoken(start)}"
        report.problem((*item.path, "end"), message)
        return default
    if duration > timedelta(days=_MOST_DAYS):
        report.problem(
            (*item.path, "end"), f"the event lasts {duration.days} days; is the year right?"
        )
    return duration


def _recurrence(
    item: Item[EventSection], start: datetime, zone: ZoneInfo, report: Report
) -> Recurrence | None:
    if item.section.rrule is None:
        return None
    try:
        return read_recurrence(item.section.rrule, start, zone)
    except ValueError as error:
        report.problem((*item.path, "rrule"), f"rrule: {error}")
        return None


def _exdates(
    item: Item[EventSection], start: datetime, recurrence: Recurrence | None, report: Report
) -> tuple[datetime, ...]:
    """Return the left-out starts; a bare date stands for that day's occurrence."""
    exdates = tuple(_local(moment, start.time()) for moment in item.section.exdates)
    if exdates and item.section.rrule is None:
        message = "exdates need an rrule: an event that happens once has no days to leave out"
        report.problem((*item.path, "exdates"), message)
    # Elements that could not be read are missing here, so positions come from the raw list.
    places = {_key(raw): index for index, raw in enumerate(item.raw.get("exdates", []))}
    for moment, written in zip(exdates, item.section.exdates, strict=True):
        if recurrence and not recurrence.gives(moment):
            report.warning(
                (*item.path, "exdates", places[_key(written)]),
                f"{_spoken(moment)} is left out, but the rule does not include it",
            )
    return exdates


def _key(written: object) -> tuple[type, object]:
    return type(written), str(written)


def _local(moment: date, default: time) -> datetime:
    return moment if isinstance(moment, datetime) else datetime.combine(moment, default)


def _exists(start: datetime, zone: ZoneInfo) -> bool:
    """Whether the clocks of `zone` show this wall time at all."""
    offset = start.replace(tzinfo=zone).utcoffset()
    later = start.replace(tzinfo=zone, fold=1).utcoffset()
    return offset is None or later is None or offset >= later


def _spoken(moment: datetime) -> str:
    if moment.time() == time(0):
        return f"{moment:%A %Y-%m-%d}"
    return f"{moment:%A %Y-%m-%d %H:%M}"
