"""Brings the events of a file into the calendar, step by step, and takes a whole import back.

A step is a short transaction, so that others write in between and a stop costs nothing: what is in stays, and
importing the same file again adds the rest. An event is recognised by its UID among those that the importer
may see; somebody else's private event is as unknown to them as one that does not exist.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Final

from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.calendar import (
    AddEvent,
    AssignOccurrence,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
    event_to_json,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.event_files import EventFile, decider
from kinkeeper.actions.model import ActionType, Proposal
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.repository import done_of_source, sources_beginning
from kinkeeper.actions.reversal import undo
from kinkeeper.calendar.ics_class import Privacy
from kinkeeper.calendar.model import Event, EventState, Override
from kinkeeper.calendar.repository import events_of_source, find_event, find_override
from kinkeeper.calendar.search import private_to
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    Viewer,
    kept_from,
    kept_to,
    narrowest,
    person_of,
    person_scope,
)
from kinkeeper.memory.statements.secrecy import audience_of, wished_scope
from kinkeeper.store.store import Store

SOURCE: Final = "IMPORT"
"""Type of the source of what an import writes; its id is the import's."""

_MOST_EVENTS, _MOST_ROWS, _MOST_OVERRIDES = 100, 2000, 100
_ROWS_OF_OVERRIDE = 15
"""Of one step, which is some tenths of a second's work; a changed occurrence costs as much as so many rows."""
_STAYS_PRIVATE = "it stays private; an import never shows anything to more people"
_BY_WORDS = "it reads like something private or a surprise; whoever sees it can share it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An event with changes of its occurrences, the latest first.

    Attributes:
        event: As the file has it.
        overrides: What is changed for single occurrences.
        is_first: Whether the event itself is new with this part; of an event with very many changes the older
            ones follow in parts of their own.
    """

    event: Event
    overrides: tuple[Override, ...]
    is_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is written together.

    Attributes:
        number: Counts the steps of an import, from 1.
        parts: Of the file, in its order.
    """

    number: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What became of a step.

    Attributes:
        receipts: Of its actions, one for each audience; none where everything was there already.
        lines: What the report says of each event, by the id that the file gives it.
    """

    receipts: tuple[Receipt, ...]
    lines: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Import:
    """One import by one person.

    Attributes:
        id: Identifies the import; its actions share it. Nobody can guess it where the answer goes to one person
            of several, so that ids of new events tell nothing of what is there already.
        name: Of the file, for people.
        is_operator: Whether somebody at the machine imports, who may read the database anyway: everybody's
            private events then go back to their owners, surprises stay surprises, for the importer too, and
            events keep the ids that an export gives them.
    """

    id: str
    household: Household
    member: Member
    now: datetime
    name: str
    found: EventFile
    is_operator: bool = False

    def steps(self) -> Iterator[Step]:
        """Yield what the file holds in its order, some at a time."""
        parts: list[Part] = []
        number, rows = 1, 0
        for part in self._parts():
            more = _ROWS_OF_OVERRIDE * len(part.overrides)
            if part.is_first:
                more += self.found.occurrences.get(part.event.id, 1)
            if parts and (len(parts) == _MOST_EVENTS or rows + more > _MOST_ROWS):
                yield Step(number=number, parts=tuple(parts))
                parts, number, rows = [], number + 1, 0
            parts.append(part)
            rows += more
        if parts:
            yield Step(number=number, parts=tuple(parts))

    def _parts(self) -> Iterator[Part]:
        for event in self.found.events:
            self._titled[event.id] = self._audience_of_words(event)
            changes = sorted(
                self.found.overrides.get(event.id, ()),
                key=lambda each: each.original_start,
                reverse=True,
            )
            for at in range(0, max(1, len(changes)), _MOST_OVERRIDES):
                some = tuple(changes[at : at + _MOST_OVERRIDES])
                yield Part(event=event, overrides=some, is_first=at == 0)

    def write(self, conn: Connection, step: Step) -> StepResult:
        """Propose and confirm what is new of a step; what is there already is left alone.

        Raises:
            ConflictError: Nothing of the step was written; the message says why.
        """
        by_audience: dict[str, list[Effect]] = {}
        lines: dict[str, dict[str, Any]] = {}
        for part in step.parts:
            event = part.event
            stored = self._stored(conn, event)
            wanted = self._wanted(conn, event, stored)
            effects = [*_changed(wanted, stored), *_overridden(conn, wanted, part.overrides)]
            if part.is_first:
                lines[event.id] = self._line(event, wanted, stored, effects)
            if effects:
                by_audience.setdefault(wanted.scope, []).extend(effects)
        receipts = [
            self._confirm(conn, effects, scope, f"{step.number} {scope}")
            for scope, effects in by_audience.items()
        ]
        return StepResult(receipts=tuple(receipts), lines=lines)

    @cached_property
    def _events(self) -> Mapping[str, Event]:
        return {event.id: event for event in self.found.events}

    @cached_property
    def _titled(self) -> dict[str, str]:
        """Audiences by event id, filled in step by step between the transactions that need them: reading titles is slow."""
        return {}

    def _audience_of_words(self, event: Event) -> str:
        """Return who would see an event if the importer told its words; what the file says of it comes first."""
        if self.is_operator or event.id in self.found.private:
            return HOUSEHOLD_SCOPE
        member, is_theirs = self.member.id, {*event.who, *event.responsible} <= {self.member.id}
        titled = audience_of(
            event.summary, self.household, member, is_title=True, is_theirs=is_theirs
        )
        told = [event.summary, event.place or "", self.found.described.get(event.id, "")]
        wished = wished_scope("\n".join(filter(None, told)), self.household, member)
        return narrowest([titled, wished]) or person_scope(member)

    def _claimed(self, event: Event) -> str:
        """Return who may see an event by what its file says."""
        privacy = self.found.private.get(event.id)
        claimed = None if privacy is None else privacy.scope(self.household, self.member.id)
        return claimed or HOUSEHOLD_SCOPE

    def _decider(self, scope: str) -> Member:
        return decider(scope, self.household, self.member) or self.member

    def _stored(self, conn: Connection, event: Event) -> Event | None:
        """Return the event of ours that the file means, if its importer may see one.

        What is everybody's is never meant by a private event: another person may have shared the same invitation.
        """
        claimed = self._claimed(event)
        viewer = Viewer.of(self.household.id, self._decider(claimed).id)
        same = find_event(conn, viewer, event.id)
        is_open = self.is_operator or person_of(claimed) is None
        if same is not None and (is_open or same.scope != HOUSEHOLD_SCOPE):
            return same
        found = events_of_source(conn, viewer, event.provenance)
        if not is_open:
            found = [each for each in found if each.scope != HOUSEHOLD_SCOPE]
        return min(found, key=lambda each: each.scope != claimed, default=None)

    def _wanted(self, conn: Connection, event: Event, stored: Event | None) -> Event:
        """Return an event of the file as it shall be here, never for more people than it was."""
        if stored is None:
            wanted = replace(event, id=self._new_id(conn, event))
        else:
            wanted = replace(event, id=stored.id, provenance=stored.provenance)
        if (cared_for := self._events.get(event.about or "")) is not None:
            there = self._stored(conn, cared_for)
            wanted = replace(
                wanted, about=self._new_id(conn, cared_for) if there is None else there.id
            )
        scope = self._scope(event, stored)
        privacy = self.found.private.get(event.id, Privacy())
        owner = person_of(scope)
        if owner is None or owner in privacy.owners:
            return replace(wanted, scope=scope)
        return private_to(wanted, owner)

    def _scope(self, event: Event, stored: Event | None) -> str:
        """Return who may see an event: those who may by its file and may here already."""
        was = self._titled[event.id] if stored is None else stored.scope
        privacy = self.found.private.get(event.id)
        if kept_from(was) and privacy is not None and not privacy.names_somebody:
            return was  # other programs know no surprises, and call them private
        return kept_to(was, self._claimed(event))

    def _new_id(self, conn: Connection, event: Event) -> str:
        if self.is_operator and find_event(conn, Viewer.whole(event.household), event.id) is None:
            return event.id
        return stable_id(self.id, event.id)

    def _line(
        self, event: Event, wanted: Event, stored: Event | None, effects: Sequence[Effect]
    ) -> dict[str, Any]:
        changed = "updated" if effects else "unchanged"
        line: dict[str, Any] = {
            "id": wanted.id,
            "status": "added" if stored is None else changed,
            "private": person_of(wanted.scope) is not None,
        }
        if event.id not in self.found.private and wanted.scope != HOUSEHOLD_SCOPE:
            line["note"] = _BY_WORDS if stored is None else _STAYS_PRIVATE
        return line

    def _confirm(
        self, conn: Connection, effects: Sequence[Effect], scope: str, slot: str
    ) -> Receipt:
        touched = [row for each in effects for row in each.touches(conn, self.household.id)]
        count = len({row.id for row in touched})
        noun = "event" if count == 1 else "events"
        proposal = Proposal(
            household=self.household.id,
            type=ActionType.EVENT_CREATE,
            source_type=SOURCE,
            source_id=self.id,
            slot=slot,
            chat_id=None,
            extraction={},
            extraction_confidence=1.0,
            summary=f"Import {count} {noun} from {self.name}",
            effects=tuple(effect.frozen() for effect in effects),
            choices=(),
            merge_key=None,
            origin=Origin.IMPORTED,
        )
        member = self._decider(scope)
        asked = approvals.request(
            conn, proposal, member=member, household=self.household, now=self.now
        )
        receipt = approvals.confirm(
            conn, asked.action.id, member=member, household=self.household, now=self.now
        )
        if receipt.outcome is not Outcome.DONE:
            raise ConflictError(receipt.message)
        return receipt


def _changed(wanted: Event, stored: Event | None) -> Iterable[Effect]:
    """Yield what brings the graph in step with an event of the file; nothing where it is already."""
    if stored is None:
        yield AddEvent.model_validate({"event": event_to_json(wanted)})
    elif event_to_json(wanted) != event_to_json(stored):
        yield UpdateEvent.model_validate(
            {"event": event_to_json(wanted), "based_on": event_to_json(stored)}
        )


def _overridden(conn: Connection, event: Event, overrides: Iterable[Override]) -> Iterable[Effect]:
    """Yield what the file changes for single occurrences, but for those that were changed here."""
    for override in overrides:
        start = override.original_start
        if find_override(conn, event.household, event.id, start) is None:
            yield from _of_override(event.id, override)


def _of_override(event_id: str, override: Override) -> Iterable[Effect]:
    start = override.original_start
    common = {"event_id": event_id, "original_start": start}
    if override.state is EventState.CANCELLED:
        yield CancelOccurrence.model_validate(common)
        return
    if override.start is not None or override.duration is not None:
        moved = {"new_start": override.start or start, "new_duration": override.duration}
        yield MoveOccurrence.model_validate({**common, **moved})
    if override.responsible is not None:
        yield AssignOccurrence.model_validate({**common, "responsible": override.responsible})


# Takes back a whole import: its steps one by one, the last one first, each in a short transaction
# of its own.

_HOLDS = frozenset({Outcome.UNDONE, Outcome.ALREADY_UNDONE})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportStep:
    """A step of an import that can be taken back.

    Attributes:
        action_id: Of the action that wrote it.
        member: In whose name it is taken back: nobody else may read it, or they ask for it.
    """

    action_id: str
    member: Member


@dataclass(slots=True, kw_only=True)
class UndoneImport:
    """What became of taking back an import.

    Attributes:
        undone: How many steps were taken back.
        left: Why others were not.
    """

    undone: int = 0
    left: list[str] = field(default_factory=list)

    def note(self, receipt: Receipt) -> None:
        """Take in what became of a step."""
        if receipt.outcome in _HOLDS:
            self.undone += 1
        else:
            self.left.append(f"{receipt.action.proposal.summary}: {receipt.message}")

    @property
    def message(self) -> str:
        """What is told of it, in a line for each step that was left."""
        if not self.undone and not self.left:
            return "This import has already been undone."
        all_ = self.undone + len(self.left)
        begun = (
            f"The import has been undone ({_steps(all_)})."
            if not self.left
            else f"{self.undone} of {_steps(all_)} of the import have been undone."
        )
        return "\n".join([begun, *self.left])


def _steps(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"


def find_import(conn: Connection, household: Household, beginning: str) -> str | None:
    """Return the id of the import whose id begins like this; None where there is none.

    Args:
        beginning: At least eight characters.

    Raises:
        InputError: Several begin so.
    """
    if len(beginning.strip()) < _FEWEST_CHARACTERS:
        return None
    found = sources_beginning(conn, household.id, SOURCE, beginning.strip())
    if len(found) > 1:
        raise InputError(f"{beginning!r} matches several imports; give more of it")
    return found[0] if found else None


_FEWEST_CHARACTERS = 8


def steps_to_undo(
    conn: Connection, household: Household, import_id: str, by: Iterable[Member]
) -> list[ImportStep]:
    """Return the steps of an import that stand, the last one first.

    Args:
        import_id: Full id.
        by: Who takes it back: each step in the name of the first who may read it.
    """
    found: dict[str, tuple[int, ImportStep]] = {}
    for member in by:
        viewer = Viewer.of(household.id, member.id)
        for action_id, slot in done_of_source(conn, viewer, SOURCE, import_id):
            number = int(slot.split()[0])
            found.setdefault(action_id, (number, ImportStep(action_id=action_id, member=member)))
    return [step for _, step in sorted(found.values(), key=lambda each: each[0], reverse=True)]


async def undo_import(
    store: Store, household: Household, import_id: str, *, by: Member, now: datetime
) -> UndoneImport:
    """Take back an import as far as a person may see it, in several transactions; what has changed since stays as it is.

    Args:
        import_id: Full id.
    """
    steps = await store.read(lambda conn: steps_to_undo(conn, household, import_id, [by]))
    done = UndoneImport()
    for step in steps:
        done.note(await store.write(partial(undo_step, step=step, household=household, now=now)))
    return done


def undo_step(
    conn: Connection, step: ImportStep, *, household: Household, now: datetime
) -> Receipt:
    """Take back a step, in the caller's write transaction; what has changed since stays as it is.

    Args:
        step: From `steps_to_undo`.
    """
    return undo(conn, step.action_id, member=step.member, household=household, now=now)
