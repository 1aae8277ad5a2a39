"""What a message is turned into for a person to confirm, and what that does to what was confirmed. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any

from kinkeeper.actions.effects.calendar import (
    AddEvent,
    AssignOccurrence,
    CancelEvent,
    CancelOccurrence,
    MoveOccurrence,
)
from kinkeeper.actions.model import ActionType, Choice, Proposal
from kinkeeper.calendar.model import Event, EventKind, Occurrence, Provenance, SourceType
from kinkeeper.core.ids import stable_id
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.observer.cards.retraction import SOURCE
from kinkeeper.observer.model import (
    Extraction,
    RedlineOutcome,
    RedlineRule,
    Stance,
    Task,
    extraction_record,
)
from kinkeeper.observer.redline.case import HANDOVERS, Case
from kinkeeper.observer.redline.phrase_templates import BOTH, Phrasing
from kinkeeper.observer.schedule import Slot

# Effects on what a person has confirmed: cancelled, moved, handed back, given way. Pure.

Effects = tuple[Mapping[str, Any], ...]


def changed(case: Case) -> Effects:
    """Return what a cancellation or a move writes; who was to bring or fetch for what is cancelled need not.

    Args:
        case: The message before the rules.
    """
    extraction = case.extraction
    from_days = (extraction.moved_from,) if extraction.moved_from else extraction.dates
    written: list[Mapping[str, Any]] = []
    for slot in (*case.schedule.series, *case.schedule.slots):
        effect = _change_of(case, slot, from_days)
        if effect is not None and effect not in written:
            written.append(effect)
    if written and extraction.task is Task.CANCEL:
        written += [
            _cancelled(slot.occurrence)
            for slot in case.schedule.slots
            if slot.occurrence is not None and slot.day in from_days and _is_care_for(case, slot)
        ]
    return tuple(written)


def taken_out(slot: Slot | None, people: Sequence[str]) -> Effects:
    """Return what takes people out of a confirmed care; without anybody left it is cancelled.

    Args:
        people: Member ids of those who leave it.
    """
    if slot is None or slot.occurrence is None:
        return ()
    left = tuple(person for person in slot.responsible if person not in people)
    if not slot.is_booking and not left:
        return (_cancelled(slot.occurrence),)
    effect = AssignOccurrence(
        event_id=slot.occurrence.event.id,
        original_start=slot.occurrence.original_start,
        responsible=left,
    )
    return (effect.frozen(),)


def give_way(case: Case, booked: Mapping[str, Any]) -> Effects:
    """Return what frees a slot that stands in the event graph: cancelling that one occurrence.

    Args:
        case: The message before the rules.
        booked: The facts of the slot.
    """
    for slot in case.schedule.slots:
        if slot.key == booked["key"] and slot.occurrence is not None:
            return (_cancelled(slot.occurrence),)
    return ()


def _change_of(case: Case, slot: Slot, days: Sequence[date]) -> Mapping[str, Any] | None:
    if slot.occurrence is None or slot.day not in days or not case.concerns(slot):
        return None
    if case.extraction.task is Task.CANCEL:
        return _cancelled(slot.occurrence)
    target = case.moved_to(slot)
    if target is None or target == slot.interval:
        return None
    return MoveOccurrence(
        event_id=slot.occurrence.event.id,
        original_start=slot.occurrence.original_start,
        new_start=target.start,
        new_duration=target.duration,
    ).frozen()


def _is_care_for(case: Case, slot: Slot) -> bool:
    extraction = case.extraction
    return (
        slot.kind is EventKind.CARE
        and slot.activity is not None
        and slot.activity == extraction.activity
        and (not extraction.child or not slot.who or bool(set(extraction.child) & set(slot.who)))
    )


def _cancelled(occurrence: Occurrence) -> Mapping[str, Any]:
    return CancelOccurrence(
        event_id=occurrence.event.id, original_start=occurrence.original_start
    ).frozen()


_DAY = timedelta(days=1)
_JOBS = frozenset({Task.PICKUP, Task.DROPOFF, Task.COVER, Task.ATTEND, Task.OTHER})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a proposal rests on.

    Attributes:
        case: The message before the rules.
        slot: Tells the parts of one message apart.
        sender: Member id, or the name as sent.
        default_duration: Of a booking whose length nobody said.
        maintenance: Id of the maintenance item it is about, if any.
        replaces: Ids of events that it takes the place of.
        frees: Effects that take somebody out of a care confirmed before.
        scope: Who may see what the message tells.
        away: Members who are away then.
    """

    case: Case
    row_id: str
    slot: str
    chat_id: str
    sender: str
    default_duration: timedelta
    maintenance: str | None = None
    replaces: tuple[str, ...] = ()
    frees: Effects = ()
    scope: str = HOUSEHOLD_SCOPE
    away: frozenset[str] = frozenset()

    @property
    def extraction(self) -> Extraction:
        """What the message says."""
        return self.case.extraction


class Proposer:
    """Builds proposals for one household."""

    def __init__(self, phrasing: Phrasing, household: str) -> None:
        self._phrasing = phrasing
        self._household = household
        self._participants = phrasing.participants

    def propose(
        self, ground: Ground, outcome: RedlineOutcome, absorbed: Sequence[Effects]
    ) -> Proposal | None:
        """Build the proposal of a message.

        Args:
            outcome: The rules' verdict; a conflict makes choices instead of a plain Confirm.
            absorbed: Effects of the other pending proposals that the conflict is with.

        Returns:
            The proposal; None where there is nothing that a person could confirm.
        """
        extraction = ground.extraction
        if extraction.task in {Task.CANCEL, Task.MOVE}:
            written = changed(ground.case)
            if not written:
                return None
        elif not extraction.dates and self._type(ground) is not ActionType.CARE_ASSIGNMENT:
            # An event without a day is nothing that could stand in a calendar.
            return None
        elif _says_too_little(extraction):
            return None
        elif ground.frees and not extraction.owners:
            written = ground.frees
        else:
            written = self._new(ground, extraction.owners)
        choices = self._choices(ground, outcome, written, absorbed)
        is_conflict = outcome.rule in {RedlineRule.TEMPORAL_CONFLICT, RedlineRule.RESOURCE_CONFLICT}
        kind = self._type(ground)
        return Proposal(
            household=self._household,
            type=kind,
            source_type=SOURCE,
            source_id=ground.row_id,
            slot=ground.slot,
            chat_id=ground.chat_id,
            extraction=extraction_record(extraction),
            extraction_confidence=extraction.confidence,
            summary=self._phrasing.summary(extraction),
            effects=() if is_conflict or self._asks_who(ground, choices) else written,
            choices=choices,
            merge_key=_merge_key(kind, extraction),
            suggested_event=_suggested(written),
            conflict_key=outcome.conflict_key if is_conflict else None,
            scope=ground.scope,
        )

    def _asks_who(self, ground: Ground, choices: Sequence[Choice]) -> bool:
        """Whether nothing can be confirmed before somebody is chosen."""
        is_open = bool(choices) and not ground.extraction.owners and not ground.frees
        return is_open and self._is_job(ground.extraction)

    def remainder(self, ground: Ground, extraction: Extraction) -> Proposal:
        """Build the proposal for what is still asked after part of a question was taken."""
        return Proposal(
            household=self._household,
            type=ActionType.CARE_ASSIGNMENT,
            source_type=SOURCE,
            source_id=ground.row_id,
            slot=f"{ground.slot}-rest",
            chat_id=ground.chat_id,
            extraction=extraction_record(extraction),
            extraction_confidence=extraction.confidence,
            summary=self._phrasing.summary(extraction),
            effects=(),
            choices=self._owners(ground, extraction),
            merge_key=None,
            scope=ground.scope,
        )

    def _type(self, ground: Ground) -> ActionType:
        extraction = ground.extraction
        if ground.maintenance:
            return ActionType.MAINTENANCE_UPDATE
        if extraction.task in {Task.CANCEL, Task.MOVE}:
            return ActionType.SCHEDULE_CHANGE
        if extraction.owners or self._is_job(extraction) or ground.case.is_known():
            return (
                ActionType.EVENT_CREATE
                if self._is_new_booking(ground)
                else ActionType.CARE_ASSIGNMENT
            )
        return ActionType.EVENT_CREATE

    def _is_job(self, extraction: Extraction) -> bool:
        if extraction.task is not None or extraction.activity is not None:
            return extraction.task in _JOBS
        is_told = extraction.stance is Stance.STATES and not extraction.seeks_owner
        return not (is_told and extraction.child and extraction.dates)

    def _is_new_booking(self, ground: Ground) -> bool:
        """Whether the message tells of something that is not in the event graph yet."""
        extraction = ground.extraction
        return (
            extraction.activity is not None
            and not self._participants.is_session(extraction.activity)
            and bool(extraction.dates)
            and extraction.task not in {Task.PICKUP, Task.COVER, Task.OTHER}
            and not ground.case.is_known()
        )

    def _new(self, ground: Ground, owners: Sequence[str]) -> Effects:
        extraction = ground.extraction
        days = extraction.dates or (ground.case.sent_at.astimezone(ground.case.zone).date(),)
        is_booking = self._type(ground) is ActionType.EVENT_CREATE
        cleared = tuple(CancelEvent(event_id=each).frozen() for each in ground.replaces)
        return (
            cleared
            + ground.frees
            + tuple(
                AddEvent(
                    event=self._event(
                        ground, day, owners, is_booking=is_booking or bool(ground.maintenance)
                    )
                ).frozen()
                for day in days
            )
        )

    def _event(
        self, ground: Ground, day: date, owners: Sequence[str], *, is_booking: bool
    ) -> Event:
        case, extraction = ground.case, ground.extraction
        length = self._participants.usual_length(extraction.activity) or ground.default_duration
        interval = case.interval(day, length)
        midnight = datetime.combine(day, time(), tzinfo=case.zone)
        about = next(
            (
                s
                for s in case.schedule.of_activity(extraction.activity, extraction.child)
                if s.day == day
            ),
            None,
        )
        who = extraction.child
        if is_booking and not who and self._is_grown_up(ground):
            who = (ground.sender,)
        return Event(
            id=stable_id(
                self._household, SOURCE, ground.row_id, ground.slot, day, ",".join(owners)
            ),
            household=self._household,
            kind=EventKind.BOOKING if is_booking else EventKind.CARE,
            scope=ground.scope,
            summary=self._title(ground, owners, is_booking=is_booking),
            start=(interval.start if interval else midnight).astimezone(case.zone),
            duration=interval.duration if interval else _DAY,
            tz=case.zone.key,
            provenance=Provenance(source_type=SourceType.OBSERVER, source_id=ground.row_id),
            activity=extraction.activity,
            task=None if is_booking else (extraction.task.value if extraction.task else None),
            who=who,
            responsible=tuple(owners),
            place=extraction.location,
            all_day=interval is None,
            about=about.event_id if about and not is_booking else None,
        )

    def _is_grown_up(self, ground: Ground) -> bool:
        member = self._participants.household.member(ground.sender)
        return member is not None and member.is_adult and not ground.maintenance

    def _title(self, ground: Ground, owners: Sequence[str], *, is_booking: bool) -> str:
        extraction = ground.extraction
        if ground.maintenance:
            item = next(
                i for i in self._participants.household.maintenance if i.id == ground.maintenance
            )
            return item.summary
        if not is_booking:
            return self._phrasing.care(extraction, owners)
        who = self._phrasing.names(extraction.child or owners)
        label = self._phrasing.title(extraction) or self._phrasing.label(None, extraction.task)
        return f"{who} {label}".strip()

    def _choices(
        self, ground: Ground, outcome: RedlineOutcome, written: Effects, absorbed: Sequence[Effects]
    ) -> tuple[Choice, ...]:
        facts, extraction = outcome.facts, ground.extraction
        match outcome.rule:
            case RedlineRule.TEMPORAL_CONFLICT:
                return self._sides(ground, facts["booked"], written, absorbed)
            case RedlineRule.RESOURCE_CONFLICT if not facts["is_double"]:
                return self._claimants(facts, written, absorbed)
            case RedlineRule.RESOURCE_CONFLICT:
                return self._sides(ground, facts["slot"], written, absorbed)
            case RedlineRule.TIME_MISMATCH:
                return ()
            case _:
                if extraction.owners or extraction.task in {Task.CANCEL, Task.MOVE}:
                    return ()
                return (
                    self._owners(ground, extraction) if self._wants_owner(ground, outcome) else ()
                )

    def _wants_owner(self, ground: Ground, outcome: RedlineOutcome) -> bool:
        return (
            outcome.rule is RedlineRule.MISSING_VARIABLE
            or self._type(ground) is ActionType.CARE_ASSIGNMENT
        )

    def _owners(self, ground: Ground, extraction: Extraction) -> tuple[Choice, ...]:
        """One button per parent, each writing that parent in."""
        narrowed = _with(ground, extraction)
        return tuple(
            Choice(
                label=parent.name,
                effects=self._new(narrowed, (parent.id,)),
                result=f"{parent.name}: {self._phrasing.summary(extraction)}",
            )
            for parent in self._there(ground)
        )

    def _there(self, ground: Ground) -> Sequence[Member]:
        """Return the parents who are not away; all of them where nobody is left."""
        parents = self._participants.parents()
        return [each for each in parents if each.id not in ground.away] or parents

    def _sides(
        self,
        ground: Ground,
        booked: Mapping[str, Any],
        written: Effects,
        absorbed: Sequence[Effects],
    ) -> tuple[Choice, ...]:
        """One button for what was booked, one for what the message says, one for both."""
        extraction = ground.extraction
        own = self._phrasing.spoken_label(extraction.activity, extraction.task).capitalize()
        other = (
            self._phrasing.spoken_label(booked["activity"], booked["task"])
            if booked["activity"] or booked["task"]
            else str(booked["label"])
        ).capitalize()
        if own == other:
            own = f"{own} (new)"
        earlier = tuple(effect for group in absorbed for effect in group)
        freed = give_way(ground.case, booked)
        return (
            Choice(label=own, effects=(*written, *freed), result=f"{own} it is."),
            Choice(label=other, effects=earlier, result=f"{other} it is."),
            Choice(
                label=BOTH, effects=(*earlier, *written), result=f"Both stay: {other} and {own}."
            ),
        )

    def _claimants(
        self, facts: Mapping[str, Any], written: Effects, absorbed: Sequence[Effects]
    ) -> tuple[Choice, ...]:
        first, second = (self._participants.name(facts[key]) for key in ("first", "second"))
        earlier = tuple(effect for group in absorbed for effect in group)
        event_id = facts["slot"]["event_id"]
        freed: Effects = (CancelEvent(event_id=event_id).frozen(),) if event_id else ()
        what = self._phrasing.label(None, Task.OTHER) if not facts["label"] else facts["label"]
        return (
            Choice(label=first, effects=earlier, result=f"{first}: {what}."),
            Choice(label=second, effects=(*written, *freed), result=f"{second}: {what}."),
            Choice(
                label=BOTH, effects=(*earlier, *written), result=f"{first} and {second}: {what}."
            ),
        )


def _says_too_little(extraction: Extraction) -> bool:
    """Whether a person could not tell what they confirm: no child, activity, handover or hour of anybody's ("Plan Tue")."""
    if extraction.child:
        return False
    if not (extraction.owners or extraction.dates or extraction.times):
        return True
    if extraction.activity or extraction.location:
        return False
    if extraction.owners and extraction.times:
        return False
    if extraction.task is Task.COVER and extraction.dates and extraction.stance is Stance.ASKS:
        return False
    is_handover = extraction.task in HANDOVERS
    return not is_handover and not any(entity.type == "task" for entity in extraction.entities)


def _with(ground: Ground, extraction: Extraction) -> Ground:
    return replace(ground, case=replace(ground.case, extraction=extraction))


def _merge_key(kind: ActionType, extraction: Extraction) -> str:
    days = ",".join(day.isoformat() for day in extraction.dates)
    times = ",".join(moment.isoformat() for moment in extraction.times)
    return "|".join(
        [
            kind.value,
            days,
            times,
            ",".join(extraction.child),
            extraction.task or "-",
            extraction.activity or "-",
            ",".join(extraction.assigned_to),
        ]
    )


def _suggested(written: Effects) -> Mapping[str, Any] | None:
    added = next((effect["event"] for effect in written if "event" in effect), None)
    if added is None:
        return None
    return {
        key: added[key] for key in ("summary", "start", "all_day", "who", "responsible", "place")
    }
