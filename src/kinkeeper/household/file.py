"""A household from its file: all of it, or every reason why not; and when its events take place.

Steps: text to data with lines (document), tables field by field (draft), what they are to each
other (checks, timing), values (here). A file with one problem gives no household at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from kinkeeper.core.errors import ConfigError, Problem
from kinkeeper.household.document import EventSection, NamedSection, read_document
from kinkeeper.household.draft import Draft, Item, Report, check, read_draft
from kinkeeper.household.model import (
    Contact,
    Group,
    Household,
    MaintenanceItem,
    Member,
    Named,
    NamedTime,
    Recurrence,
    Role,
    SeedEvent,
    read_recurrence,
)
from kinkeeper.household.name_folding import in_words

# When an event of the file takes place: start, length, recurrence, left-out days.

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
        default: Duration where the file gives none, > 0.

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


MAX_BYTES = 1_000_000


def load_household(path: Path, *, default_event_minutes: int = 60) -> Household:
    """Return the household that a file describes.

    Args:
        default_event_minutes: Length of events for which the file gives none, > 0.

    Raises:
        ConfigError: The file cannot be used; carries every problem with its line.
    """
    return parse_household(_read(path), str(path), default_event_minutes=default_event_minutes)


def load_households(path: Path, *, default_event_minutes: int = 60) -> tuple[Household, ...]:
    """Return the households of a file, or of all *.toml files in a folder, by file name.

    Args:
        default_event_minutes: Length of events for which a file gives none, > 0.

    Raises:
        ConfigError: A file cannot be used, the folder has none, or two files claim one household
            id or chat; carries every problem of every file.
    """
    if not path.is_dir():
        return (load_household(path, default_event_minutes=default_event_minutes),)
    problems: list[Problem] = []
    households: dict[Path, Household] = {}
    for file in sorted(path.glob("*.toml")):
        try:
            households[file] = load_household(file, default_event_minutes=default_event_minutes)
        except ConfigError as error:
            problems.extend(error.problems)
    if not households and not problems:
        message = "the folder contains no *.toml file; `kinkeeper init` writes one"
        problems.append(Problem(where=str(path), line=None, message=message))
    problems.extend(_clashes(households))
    if problems:
        raise ConfigError(problems)
    return tuple(households.values())


def parse_household(text: str, where: str, *, default_event_minutes: int = 60) -> Household:
    """Return the household that a text describes.

    Args:
        text: A household file's text.
        default_event_minutes: Length of events for which the text gives none, > 0.

    Raises:
        ConfigError: The text cannot be used; carries every problem with its line.
    """
    document = read_document(text.removeprefix("\ufeff"), where)
    report = Report(where=where, positions=document.positions, problems=list(document.problems))
    draft = read_draft(document, report)
    check(draft, report)
    zone = ZoneInfo(draft.household.timezone)
    default = timedelta(minutes=default_event_minutes)
    timings = [
        read_timing(item, zone=zone, default=default, report=report) for item in draft.events
    ]
    if report.problems:
        raise ConfigError(_in_order(report.problems))
    return _household(draft, zone, timings, report)


def _read(path: Path) -> str:
    """Return the text of a file, or say why it cannot be had."""

    def refuse(message: str, line: int | None = None) -> ConfigError:
        return ConfigError([Problem(where=str(path), line=line, message=message)])

    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise refuse("there is no such file; `kinkeeper init` writes one") from error
    except IsADirectoryError as error:
        raise refuse("this is a folder; specify the household file in it") from error
    except OSError as error:
        raise refuse(f"the file cannot be read: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise refuse(f"the file is larger than {MAX_BYTES:,} bytes; is it the right one?")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise refuse("the file is not UTF-8 text; save it as UTF-8", line) from error


def _clashes(households: dict[Path, Household]) -> list[Problem]:
    """Return what two households of one folder both claim."""
    problems = []
    first: dict[tuple[str, str], Path] = {}
    for file, household in households.items():
        claims = [
            ("the household id", household.id),
            *(("the chat", one) for one in household.chats),
        ]
        for noun, value in claims:
            other = first.setdefault((noun, value), file)
            if other != file:
                message = f'{noun} "{value}" is already used in {other}; give this one another'
                problems.append(Problem(where=str(file), line=None, message=message))
    return problems


def _in_order(problems: Sequence[Problem]) -> list[Problem]:
    return sorted(dict.fromkeys(problems), key=lambda problem: problem.line or 0)


def _household(
    draft: Draft, zone: ZoneInfo, timings: Sequence[Timing | None], report: Report
) -> Household:
    section = draft.household
    members = tuple(
        Member(
            id=item.section.id,
            name=item.section.name,
            role=item.section.role,
            aliases=tuple(item.section.aliases),
            telegram_id=item.section.telegram_id,
            email=item.section.email,
        )
        for item in draft.members
    )
    return Household(
        id=section.id,
        name=section.name or "",
        zone=zone,
        locale=section.locale,
        bot_name=section.bot_name,
        owner=section.owner or _default_owner(members),
        chats=tuple(dict.fromkeys(section.chats)),
        members=members,
        activities=_named(draft.activities),
        places=_named(draft.places),
        resources=_named(draft.resources),
        groups=_groups(draft),
        times=_times(draft),
        events=_events(draft, timings),
        maintenance=_maintenance(draft),
        contacts=_contacts(draft),
        warnings=tuple(str(warning) for warning in _in_order(report.warnings)),
    )


def _default_owner(members: Sequence[Member]) -> str | None:
    """Return the first parent's id, or the first guardian's where there is no parent."""
    for role in (Role.PARENT, Role.GUARDIAN):
        for member in members:
            if member.role is role:
                return member.id
    return None


def _named(items: Sequence[Item[NamedSection]]) -> tuple[Named, ...]:
    return tuple(
        Named(
            id=item.section.id,
            name=item.section.name or in_words(item.section.id),
            aliases=tuple(item.section.aliases),
        )
        for item in items
    )


def _groups(draft: Draft) -> tuple[Group, ...]:
    return tuple(
        Group(
            id=item.section.id,
            aliases=tuple(item.section.aliases),
            members=tuple(dict.fromkeys(item.section.members)),
        )
        for item in draft.groups
    )


def _times(draft: Draft) -> tuple[NamedTime, ...]:
    return tuple(
        NamedTime(id=item.section.id, start=item.section.start, aliases=tuple(item.section.aliases))
        for item in draft.times
    )


def _events(draft: Draft, timings: Sequence[Timing | None]) -> tuple[SeedEvent, ...]:
    return tuple(
        SeedEvent(
            id=item.section.id,
            summary=item.section.summary,
            activity=item.section.activity,
            who=tuple(dict.fromkeys(item.section.who)),
            responsible=tuple(dict.fromkeys(item.section.responsible)),
            place=item.section.place,
            start=timing.start,
            duration=timing.duration,
            all_day=item.section.all_day,
            rrule=timing.rrule,
            exdates=timing.exdates,
        )
        for item, timing in zip(draft.events, timings, strict=True)
        if timing is not None
    )


def _maintenance(draft: Draft) -> tuple[MaintenanceItem, ...]:
    return tuple(
        MaintenanceItem(id=item.section.id, summary=item.section.summary, due=item.section.due)
        for item in draft.maintenance
    )


def _contacts(draft: Draft) -> tuple[Contact, ...]:
    return tuple(
        Contact(
            id=item.section.id,
            name=item.section.name,
            emails=item.section.email,
            aliases=tuple(item.section.aliases),
        )
        for item in draft.contacts
    )
