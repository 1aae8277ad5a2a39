"""iCalendar files: writing the event graph as one, and reading foreign ones without trusting them.

A file is read event by event, so that a broken one costs only itself. Timezones go by their
names; definitions of timezones inside a file are not read.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from icalendar import Calendar
from icalendar import Event as Component

from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.calendar.ics_class import Privacy
from kinkeeper.calendar.ics_component import (
    Reading,
    component_of,
    component_of_override,
    merged,
    override_from,
    read_component,
)
from kinkeeper.calendar.model import Event, Override
from kinkeeper.calendar.recurrence import produces
from kinkeeper.core.errors import InputError, Problem
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import as_utc

_WHERE = "calendar file"
_MAX_BYTES = 10_000_000
_MAX_PROBLEMS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class IcsImport:
    """What a calendar file says.

    Attributes:
        events: Its events, in file order; each has an id that is the same at every import.
        overrides: What it changes for single occurrences of these events.
        problems: What could not be taken over, each with its line.
        private: Who may see events that are not for everybody, by id. An event is private where any of its
            components is.
        described: What else the file tells of events, by id.
    """

    events: tuple[Event, ...]
    overrides: tuple[Override, ...]
    problems: tuple[Problem, ...]
    private: Mapping[str, Privacy] = field(default_factory=dict)
    described: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Found:
    """What has been read so far: whole events by UID, lone occurrences, changes, problems."""

    series: dict[str, Event] = field(default_factory=dict)
    single: dict[str, Event] = field(default_factory=dict)
    overrides: dict[tuple[str, datetime], Override] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    private: dict[str, Privacy] = field(default_factory=dict)
    described: dict[str, str] = field(default_factory=dict)


def export_ics(
    events: Iterable[Event],
    overrides: Mapping[str, Sequence[Override]],
    *,
    name: str,
    places: Mapping[str, str],
) -> bytes:
    """Return a calendar file; equal calendars give equal bytes.

    Args:
        events: Events to write, cancelled ones included if given.
        overrides: Changes of single occurrences, by event id.
    """
    calendar = Calendar()
    calendar.add("prodid", "-//Kinkeeper//Kinkeeper//EN")
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", name)
    for event in events:
        changes = [
            replace(each, place=_named(each.place, places))
            for each in overrides.get(event.id, ())
            if produces(event, each.original_start)
        ]
        named = replace(event, place=_named(event.place, places))
        for component in _components(named, changes):
            calendar.add_component(component)
    calendar.add_missing_timezones()
    return bytes(calendar.to_ical())


def _named(place: str | None, names: Mapping[str, str]) -> str | None:
    return place if place is None else names.get(place, place)


def import_ics(
    data: bytes,
    household: str,
    zone: ZoneInfo,
    *,
    places: Mapping[str, str] | None = None,
    limit: ImportLimit | None = None,
) -> IcsImport:
    """Return what a calendar file says; without a limit nothing in the file makes this fail.

    Args:
        data: The file, up to 10 MB.
        household: Tenant key of the events.
        zone: Where times without a timezone are meant.
        places: Names of the household's places by id; a location of such a name is that place.
        limit: How much it may hold.

    Raises:
        UnavailableError: The limit was told that nobody waits any more.
    """
    found = _Found()
    ids = {name: place for place, name in (places or {}).items()}
    readings = []
    for line, reading in _readings(data, household, zone, found.problems):
        if limit is not None:
            limit.check(f"line {line}")
            limit.add(reading.event, f"line {line}")
        event = replace(reading.event, place=_named(reading.event.place, ids))
        readings.append((line, replace(reading, event=event)))
    for line, reading in readings:
        if reading.recurrence_id is None:
            _add_event(found, line, reading)
    for line, reading in readings:
        if reading.recurrence_id is not None:
            _add_single(found, line, reading, reading.recurrence_id)
    return IcsImport(
        events=(*found.series.values(), *found.single.values()),
        overrides=tuple(found.overrides.values()),
        problems=_limited(found.problems),
        private=found.private,
        described=found.described,
    )


def _components(event: Event, changes: Sequence[Override]) -> Iterator[Component]:
    if event.rrule is None:
        yield component_of(merged(event, changes[0]) if changes else event)
        return
    yield component_of(event)
    for change in changes:
        yield component_of_override(event, change)


def _add_event(found: _Found, line: int, reading: Reading) -> None:
    if reading.uid in found.series:
        found.problems.append(
            _problem(line, "its UID appears earlier in the file; the event is left out")
        )
    else:
        found.series[reading.uid] = reading.event
        _note_audience(found, reading.event.id, reading)


def _note_audience(found: _Found, event_id: str, reading: Reading) -> None:
    if reading.privacy is not None:
        found.private[event_id] = reading.privacy.joined(found.private.get(event_id))
    if reading.description:
        told = found.described.get(event_id, "")
        found.described[event_id] = f"{told}\n{reading.description}".strip()


def _add_single(found: _Found, line: int, reading: Reading, start: datetime) -> None:
    """Take a component for one occurrence as a change of its series, or as an event of its own."""
    series = found.series.get(reading.uid)
    if series is None or not produces(series, start):
        event_id = stable_id(reading.event.household, "ics", reading.uid, as_utc(start))
        # Its own source, so that several days of one series are told apart when they come again.
        source = replace(
            reading.event.provenance, source_id=f"{reading.uid}/{as_utc(start):%Y%m%dT%H%M%SZ}"
        )
        single = replace(reading.event, id=event_id, rrule=None, provenance=source)
        found.single.setdefault(event_id, single)
        _note_audience(found, event_id, reading)
        return
    _note_audience(found, series.id, reading)
    if reading.event.summary != series.summary:
        found.problems.append(
            _problem(line, "a changed title of a single occurrence is not imported")
        )
    override = override_from(series, reading, start)
    if override is not None:
        found.overrides.setdefault((series.id, override.original_start), override)


def _readings(
    data: bytes, household: str, zone: ZoneInfo, problems: list[Problem]
) -> Iterator[tuple[int, Reading]]:
    for line, block in _blocks(data, problems):
        try:
            reading = _read(block, household, zone)
        except InputError as error:
            problems.append(_problem(line, f"{error}; the event is left out"))
            continue
        problems.extend(_problem(line, note) for note in reading.notes)
        yield line, reading


def _read(block: str, household: str, zone: ZoneInfo) -> Reading:
    try:
        with warnings.catch_warnings():
            # A timezone name with a vendor's prefix is guessed, which is what we want.
            warnings.simplefilter("ignore")
            component = Component.from_ical(block)
            if not isinstance(component, Component):
                raise InputError("it is not an event")
            return read_component(component, household, zone)
    # OSError: a timezone that is called like a folder of the timezone database, such as "Europe".
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, OSError) as error:
        raise InputError(f"it cannot be read ({type(error).__name__}: {error})") from error


def _blocks(data: bytes, problems: list[Problem]) -> Iterator[tuple[int, str]]:
    """Yield the text of every event with the number of its first line."""
    if len(data) > _MAX_BYTES:
        problems.append(_problem(None, f"the file is larger than {_MAX_BYTES} bytes; split it"))
        return
    text = data.decode("utf-8-sig", errors="replace")
    if "\ufffd" in text:
        problems.append(_problem(None, "the file is not valid UTF-8; save it as UTF-8"))
    if not text.lstrip().upper().startswith("BEGIN:VCALENDAR"):
        problems.append(
            _problem(1, "this is not a calendar file: it must start with BEGIN:VCALENDAR")
        )
        return
    begun, block = 0, list[str]()
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        mark = line.strip().upper()
        if begun and mark in {"BEGIN:VEVENT", "END:VCALENDAR"}:
            problems.append(_problem(begun, "END:VEVENT is missing; the event is left out"))
            begun = 0
        if mark == "BEGIN:VEVENT":
            begun, block = number, []
        if begun:
            block.append(line)
        if begun and mark == "END:VEVENT":
            yield begun, "\r\n".join(block)
            begun = 0
    if begun:
        problems.append(_problem(begun, "END:VEVENT is missing; the event is left out"))


def _problem(line: int | None, message: str) -> Problem:
    return Problem(where=_WHERE, line=line, message=message)


def _limited(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    if len(problems) <= _MAX_PROBLEMS:
        return tuple(problems)
    rest = _problem(None, f"and {len(problems) - _MAX_PROBLEMS} more problems")
    return (*problems[:_MAX_PROBLEMS], rest)
