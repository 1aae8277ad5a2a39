"""Brings events of a file into the calendar: one proposal, confirmed by the person who imports it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import chain
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.calendar import (
    AddEvent,
    AssignOccurrence,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.effects.events import event_to_json
from kinkeeper.actions.model import ActionType, Proposal
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.calendar.event_records import event_of_line
from kinkeeper.calendar.model import Event, EventState, Override
from kinkeeper.calendar.repository import find_event, find_override
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewing import Viewer

_SOURCE = "IMPORT"
_EXPIRES = timedelta(hours=1)


@dataclass(slots=True)
class CalendarFile:
    """What a file holds.

    Attributes:
        events: Its events.
        overrides: What it changes for single occurrences.
        lines: A line of the report for each event and for each that could not be read.
        notes: What was not taken over of events that were.
    """

    events: list[Event] = field(default_factory=list)
    overrides: list[Override] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def errors(self) -> int:
        """How many events could not be read."""
        return sum("error" in line for line in self.lines)


def read_calendar(lines: Iterable[bytes], household: Household) -> CalendarFile:
    """Return what a calendar file holds, iCalendar or one JSON object a line; never fails.

    Args:
        lines: Of the file, with their ends.
        household: Whose events they are.
    """
    first = next(iter_lines := iter(lines), b"")
    everything = chain([first], iter_lines)
    if first.removeprefix(b"\xef\xbb\xbf").lstrip().upper().startswith(b"BEGIN:VCALENDAR"):
        return _read_ics(b"".join(everything), household)
    return _read_lines(everything, household)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import by one person.

    Attributes:
        household: Whose calendar.
        member: Who imports.
        now: Aware.
        name: Of the file, for people.
    """

    household: Household
    member: Member
    now: datetime
    name: str

    def run(self, conn: Connection, found: CalendarFile) -> Receipt | None:
        """Propose and confirm what is new; note in the lines what became of each event.

        Args:
            conn: Open connection, in a write transaction.
            found: What the file holds.

        Returns:
            The receipt of the one action; None where everything is in the calendar already.

        Raises:
            ConflictError: Nothing was imported, because an event has changed meanwhile.
        """
        effects: list[Effect] = []
        lines = {line["id"]: line for line in found.lines if "id" in line}
        for event in found.events:
            effect = _effect_of(event, find_event(conn, Viewer.whole(event.household), event.id))
            status = "unchanged" if effect is None else "added"
            lines[event.id]["status"] = "updated" if isinstance(effect, UpdateEvent) else status
            effects += [effect] if effect else []
        for override in found.overrides:
            effects += self._changes(conn, override)
        if not effects:
            return None
        receipt = self._confirm(conn, effects)
        if receipt.outcome is not Outcome.DONE:
            raise ConflictError(receipt.message)
        return receipt

    def _confirm(self, conn: Connection, effects: Sequence[Effect]) -> Receipt:
        frozen = tuple(effect.frozen() for effect in effects)
        digest = sha256(repr((frozen, self.now)).encode()).hexdigest()
        count = sum(isinstance(effect, AddEvent | UpdateEvent) for effect in effects)
        noun = "event" if count == 1 else "events"
        proposal = Proposal(
            household=self.household.id, type=ActionType.EVENT_CREATE, source_type=_SOURCE,
            source_id=digest, slot="0", chat_id=None, extraction={}, extraction_confidence=1.0,
            summary=f"Import {count} {noun} from {self.name}", effects=frozen, choices=(),
            merge_key=None, expires_at=self.now + _EXPIRES, origin=Origin.IMPORTED,
        )  # fmt: skip
        asked = approvals.request(
            conn, proposal, member=self.member, household=self.household, now=self.now
        )
        return approvals.confirm(
            conn, asked.action.id, member=self.member, household=self.household, now=self.now
        )

    def _changes(self, conn: Connection, override: Override) -> Iterable[Effect]:
        household, start = self.household.id, override.original_start
        if find_override(conn, household, override.event_id, start) is not None:
            return
        common = {"event_id": override.event_id, "original_start": start}
        if override.state is EventState.CANCELLED:
            yield CancelOccurrence.model_validate(common)
            return
        if override.start is not None or override.duration is not None:
            moved = {"new_start": override.start or start, "new_duration": override.duration}
            yield MoveOccurrence.model_validate({**common, **moved})
        if override.responsible is not None:
            yield AssignOccurrence.model_validate({**common, "responsible": override.responsible})


def _read_ics(data: bytes, household: Household) -> CalendarFile:
    from kinkeeper.calendar.ics import import_ics  # noqa: PLC0415 - loads a library that few need

    found = import_ics(data, household.id, household.zone)
    read = CalendarFile(events=list(found.events), overrides=list(found.overrides))
    read.lines = [_line(event) for event in found.events]
    for problem in found.problems:
        # A note about an event that was taken over all the same is no error of the file.
        if "left out" in problem.message or not found.events:
            read.lines.append({"line": problem.line, "error": problem.message})
        else:
            read.notes.append(str(problem))
    return read


def _read_lines(lines: Iterable[bytes], household: Household) -> CalendarFile:
    read = CalendarFile()
    known: set[str] = set()
    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        try:
            event = event_of_line(raw, household)
        except InputError as error:
            read.lines.append({"line": number, "error": str(error)})
            continue
        if event.id in known:
            read.lines.append({"line": number, "error": "the same event stood there before"})
            continue
        known.add(event.id)
        read.events.append(event)
        read.lines.append(_line(event))
    return read


def _line(event: Event) -> dict[str, Any]:
    return {"id": event.id, "summary": event.summary, "start": event.start.isoformat()}


def _effect_of(event: Event, stored: Event | None) -> Effect | None:
    """Return what brings the graph in step with an event of the file; None where it is already."""
    if stored is None:
        return AddEvent.model_validate({"event": _plain(event)})
    # Who confirmed it says nothing about the event itself.
    if _plain(replace(event, provenance=stored.provenance)) == _plain(stored):
        return None
    return UpdateEvent.model_validate({"event": _plain(event), "based_on": _plain(stored)})


def _plain(event: Event) -> Mapping[str, Any]:
    return event_to_json(event)
