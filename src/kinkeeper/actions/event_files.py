"""What a file of events holds, iCalendar or JSON lines, read within limits; nothing is written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from kinkeeper.calendar.event_limits import ImportLimit
from kinkeeper.calendar.event_records import event_of_line
from kinkeeper.calendar.ics_class import Privacy
from kinkeeper.calendar.model import Event, Override
from kinkeeper.core.errors import InputError
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import is_hidden_from, person_of


@dataclass(slots=True)
class EventFile:
    """What a file holds.

    Attributes:
        overrides: What it changes for single occurrences, by event id.
        private: Who may see events that are not for everybody, by id.
        described: What else it tells of events, by id.
        lines: A line of the report for each event and for each that could not be read.
        notes: What was not taken over of events that were.
        occurrences: How many rows each event takes, by id.
    """

    events: list[Event] = field(default_factory=list)
    overrides: dict[str, list[Override]] = field(default_factory=dict)
    private: dict[str, Privacy] = field(default_factory=dict)
    described: Mapping[str, str] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    occurrences: dict[str, int] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        """How many events could not be taken over."""
        return sum("error" in line for line in self.lines)

    def report(self, told: Mapping[str, Mapping[str, Any]]) -> None:
        """Put into the report what became of events.

        Args:
            told: By the id that the file gives an event.
        """
        for line in self.lines:
            line.update(told.get(line.get("id", ""), {}))

    def leave_out_hidden(
        self, household: Household, importer: Member, *, is_operator: bool = False
    ) -> None:
        """Take out what the file keeps from its importer, or what nobody could decide about; the report says so.

        What the calendar has already plays no part in this, so the answer tells nothing of it.

        Args:
            is_operator: Whether they import for everybody.
        """
        errors = {
            event_id: error
            for event_id, privacy in self.private.items()
            if (error := _error(privacy, household, importer, is_operator=is_operator))
        }
        for line in self.lines:
            if (error := errors.get(line.get("id", ""))) is not None:
                line["error"] = error
        self.events = [event for event in self.events if event.id not in errors]


def read_events(lines: Iterable[bytes], household: Household, limit: ImportLimit) -> EventFile:
    """Return what a file of events holds, iCalendar or one JSON object a line.

    Args:
        lines: Of the file, with their ends.
        limit: How much it may hold.

    Raises:
        InputError: It holds too much, or reading it takes too long.
        UnavailableError: The limit was told that nobody waits any more.
    """
    first = next(iter_lines := iter(lines), b"")
    everything = chain([first], iter_lines)
    is_calendar = (
        first.removeprefix(b"\xef\xbb\xbf").lstrip().upper().startswith(b"BEGIN:VCALENDAR")
    )
    if is_calendar:
        read = _read_ics(b"".join(everything), household, limit)
    else:
        read = _read_lines(everything, household, limit)
    read.occurrences = limit.occurrences
    return read


def _read_ics(data: bytes, household: Household, limit: ImportLimit) -> EventFile:
    from kinkeeper.calendar.ics import import_ics  # noqa: PLC0415 - loads a library that few need

    found = import_ics(
        data, household.id, household.zone, places=household.place_names, limit=limit
    )
    read = EventFile(
        events=list(found.events), private=dict(found.private), described=found.described
    )
    for override in found.overrides:
        read.overrides.setdefault(override.event_id, []).append(override)
    read.lines = [_line(event) for event in found.events]
    for problem in found.problems:
        # A note about an event that was taken over all the same is no error of the file.
        if "left out" in problem.message or not found.events:
            read.lines.append({"line": problem.line, "error": problem.message})
        else:
            read.notes.append(str(problem))
    return read


def _read_lines(lines: Iterable[bytes], household: Household, limit: ImportLimit) -> EventFile:
    read = EventFile()
    known: set[str] = set()
    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        limit.check(f"line {number}")
        try:
            event = event_of_line(raw, household)
        except InputError as error:
            read.lines.append({"line": number, "error": str(error)})
            continue
        if event.id in known:
            read.lines.append(
                {"line": number, "error": "the same event appears earlier in the file"}
            )
            continue
        limit.add(event, f"line {number}")
        known.add(event.id)
        read.events.append(event)
        read.lines.append(_line(event))
    return read


def _line(event: Event) -> dict[str, Any]:
    return {"id": event.id, "summary": event.summary, "start": event.start.isoformat()}


def _error(
    privacy: Privacy, household: Household, importer: Member, *, is_operator: bool
) -> str | None:
    """Return why an event is not imported, if it is not."""
    scope = privacy.scope(household, importer.id)
    if scope is None:
        return "the file contradicts itself about who may see this"
    owner = person_of(scope)
    if is_operator:
        can_decide = owner is not None or decider(scope, household, importer) is not None
        return None if can_decide else "this is kept from every adult; nobody can approve it"
    if not is_hidden_from(scope, importer.id):
        return None
    if owner is None:
        return "this is a surprise for you; somebody else has to import it"
    return f"this is private to {household.names.get(owner, owner)}; only they can import it"


def decider(scope: str, household: Household, importer: Member) -> Member | None:
    """Return in whose name something with a scope is imported: only who may see it can decide about it.

    Args:
        importer: Who imports; they decide where they may.

    Returns:
        Its owner, the importer or another adult; None where no adult may see a surprise.
    """
    if (owner := person_of(scope)) is not None:
        return household.member(owner)
    adults = [each for each in household.members if each.is_adult]
    seeing = (each for each in (importer, *adults) if not is_hidden_from(scope, each.id))
    return next(seeing, None)
