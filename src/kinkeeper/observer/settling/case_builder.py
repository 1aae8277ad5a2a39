"""Makes the case of one arrangement: which question it answers, what it stands for, on which days.

Runs inside the transaction that settles the message, so that it sees what was decided a moment ago.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.effects.calendar import (
    AddEvent,
    CancelEvent,
    CancelOccurrence,
    MoveOccurrence,
)
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.payload import Scope
from kinkeeper.actions.registry import read_effects
from kinkeeper.calendar.model import Event, EventKind, Occurrence, SourceType
from kinkeeper.calendar.repository import find_event
from kinkeeper.calendar.search import activity_occurrences, is_busy, occurrences_between
from kinkeeper.core.gates import ConfidenceType, GateDecision, GateResult, Stage
from kinkeeper.core.time import Interval, local_days, midnight
from kinkeeper.household.viewers import Viewer
from kinkeeper.observer.answers import questions
from kinkeeper.observer.answers.attribution import AttributionOutcome, takes_up_by_name
from kinkeeper.observer.cards.retraction import CHANGES, undone_by_change
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.extraction.completion import complete
from kinkeeper.observer.extraction.prepared import Part, Prepared
from kinkeeper.observer.model import (
    BY_MODEL,
    UNSPECIFIED,
    CoordinationType,
    Extraction,
    OpenQuestion,
    Stance,
    Task,
    extraction_from_record,
    is_of_reader_alone,
)
from kinkeeper.observer.redline.case import Case
from kinkeeper.observer.schedule import Schedule, Slot
from kinkeeper.observer.settling.prior_claims import (
    Standing,
    attribute_part,
    concerned,
    may_mean_unnamed,
)
from kinkeeper.observer.wording.clauses import destination, has_cue
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.participants import Participants

# Reads the days a message is about: the event graph with the open proposals laid over it.

_DAY = timedelta(days=1)
SERIES_AHEAD = timedelta(days=22)
UNDATED_DAYS = 8


def load_schedule(
    conn: Connection,
    household: str,
    extraction: Extraction,
    *,
    pending: Sequence[PendingAction],
    sent_at: datetime,
    zone: ZoneInfo,
) -> Schedule:
    """Return what stands, confirmed or proposed, on the days of a message.

    Args:
        extraction: Names days and activity; without days, the coming week counts.
        pending: The household's open actions.
    """
    viewer = Viewer.of(household)
    today = sent_at.astimezone(zone).date()
    days = [*extraction.dates, *([extraction.moved_from] if extraction.moved_from else [])]
    if not days:
        days = [today + offset * _DAY for offset in range(UNDATED_DAYS)]
    slots = [
        slot
        for interval in _spans(days, zone)
        for slot in _from_graph(occurrences_between(conn, viewer, interval, with_busy=True), zone)
    ]
    series: list[Slot] = []
    if extraction.activity:
        span = Interval(midnight(today - _DAY, zone), midnight(today, zone) + SERIES_AHEAD)
        found = activity_occurrences(conn, viewer, extraction.activity, span)
        series = [slot for slot in _from_graph(found, zone) if slot.kind is EventKind.BOOKING]
    laid_over = _overlay(conn, household, slots, pending, set(days), zone)
    return Schedule(
        slots=tuple(sorted(laid_over, key=_order)), series=tuple(sorted(series, key=_order))
    )


def _spans(days: Iterable[date], zone: ZoneInfo) -> Iterator[Interval]:
    """One span for each run of consecutive days: a query costs more than the days it covers."""
    ordered = sorted(set(days))
    runs = [day for day in ordered if day - _DAY not in ordered]
    for first in runs:
        last = first
        while last + _DAY in ordered:
            last += _DAY
        yield local_days(first, last, zone)


def _from_graph(occurrences: Iterable[Occurrence], zone: ZoneInfo) -> Iterator[Slot]:
    for occurrence in occurrences:
        event = occurrence.event
        yield Slot(
            key=f"{event.id}@{occurrence.original_start.isoformat()}",
            kind=event.kind,
            label=event.summary,
            day=occurrence.interval.start.astimezone(zone).date(),
            interval=None if event.all_day else occurrence.interval,
            activity=event.activity,
            place=event.place,
            task=event.task,
            who=event.who,
            responsible=occurrence.responsible,
            event_id=None if is_busy(event) else event.id,
            source_id=event.provenance.source_id,
            is_from_chat=event.provenance.source_type is SourceType.OBSERVER,
            occurrence=None if is_busy(event) else occurrence,
        )


def _overlay(  # noqa: PLR0917 - one pass over what stands and what is proposed
    conn: Connection,
    household: str,
    slots: Sequence[Slot],
    pending: Sequence[PendingAction],
    days: set[date],
    zone: ZoneInfo,
) -> list[Slot]:
    """Open proposals count: what they cancel is gone, what they move stands at its new time."""
    standing = list(slots)
    for action in pending:
        for effect in read_effects(household, proposed_effects(action)):
            match effect:
                case AddEvent():
                    standing.append(_proposed(effect.event, action, zone))
                case CancelOccurrence():
                    standing = [slot for slot in standing if not _is_occurrence(slot, effect)]
                case MoveOccurrence():
                    standing = [slot for slot in standing if not _is_occurrence(slot, effect)]
                    moved = _moved(conn, household, effect, action, zone)
                    standing += [moved] if moved and moved.day in days else []
                case CancelEvent():
                    standing = [slot for slot in standing if slot.event_id != effect.event_id]
                case _:
                    pass
    return standing


def proposed_effects(action: PendingAction) -> Sequence[Mapping[str, Any]]:
    """What an open action would write if everything in it were wanted: Confirm, or the last choice of a conflict."""
    proposal = action.proposal
    if proposal.effects or proposal.conflict_key is None or not proposal.choices:
        return proposal.effects
    return proposal.choices[-1].effects


def _is_occurrence(slot: Slot, effect: CancelOccurrence | MoveOccurrence) -> bool:
    return (
        slot.occurrence is not None
        and slot.event_id == effect.event_id
        and slot.occurrence.original_start == effect.original_start
    )


def _moved(  # noqa: PLR0917 - one effect and where it stands
    conn: Connection, household: str, effect: MoveOccurrence, action: PendingAction, zone: ZoneInfo
) -> Slot | None:
    event = find_event(conn, Viewer.of(household), effect.event_id)
    if event is None:
        return None
    length = event.duration if effect.new_duration is None else effect.new_duration
    moved = replace(event, start=effect.new_start, duration=length)
    # Who has it every week has not taken it on in the chat because its hour moves.
    is_from_chat = event.provenance.source_type is SourceType.OBSERVER
    return replace(_proposed(moved, action, zone), event_id=event.id, is_from_chat=is_from_chat)


def _proposed(event: Event, action: PendingAction, zone: ZoneInfo) -> Slot:
    return Slot(
        key=action.id,
        kind=event.kind,
        label=event.summary,
        day=event.start.astimezone(zone).date(),
        interval=None if event.all_day else Interval(event.start, event.start + event.duration),
        activity=event.activity,
        place=event.place,
        task=event.task,
        who=event.who,
        responsible=event.responsible,
        action_id=action.id,
        source_id=action.proposal.source_id,
        is_from_chat=True,
    )


def _order(slot: Slot) -> tuple[date, str, str]:
    return slot.day, slot.interval.start.isoformat() if slot.interval else "", slot.key


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltCase:
    """A case and how it came to be.

    Attributes:
        case: The arrangement before the rules.
        question: The open question it answers, if any.
        standing: The claim that it gives up, takes over or corrects, if any.
        pending: The open proposals it can be about, oldest first.
        gates: What was weighed on the way, in order; the last tells whether the arrangement goes on.
    """

    case: Case
    question: OpenQuestion | None
    standing: Standing
    pending: Sequence[PendingAction]
    gates: tuple[GateResult, ...]

    @property
    def is_dropped(self) -> bool:
        """Whether too little is said to go on."""
        return self.gates[-1].decision is GateDecision.DROP


class CaseBuilder:
    """Makes the cases of one household."""

    def __init__(self, participants: Participants, config: ObserverConfig) -> None:
        self._participants = participants
        self._household = participants.household.id
        self._zone = participants.household.zone
        self._config = config

    def build(
        self, conn: Connection, prepared: Prepared, part: Part, *, now: datetime
    ) -> BuiltCase:
        """Make the case of one part of a message.

        Args:
            conn: In the transaction that settles it.
        """
        outcome = attribute_part(
            prepared, part, self._answerable(conn, prepared, part), self._config
        )
        waiting = self.waiting(conn, self._scope(prepared, part, outcome), now=now)
        # What waits from a conversation takes up its time, but says nothing about who claimed what in the chat.
        pending = [action for action in waiting if action.proposal.extraction]
        # Nothing is said because of what the trained reader alone saw.
        sure = [each for each in waiting if not is_of_reader_alone(each.proposal.extraction)]
        schedule = self._schedule(conn, outcome.extraction, prepared, sure)
        outcome, standing = self._standing(conn, prepared, part, outcome, pending, schedule)
        extraction = self._owned_by_members(part, standing.extraction)
        if extraction.dates != outcome.extraction.dates:
            schedule = self._schedule(conn, extraction, prepared, sure)
        completed = complete(
            extraction,
            schedule,
            sent_at=prepared.sent_at,
            participants=self._participants,
            words=_own_words(part.reading),
        )
        if (completed.dates, completed.moved_from) != (extraction.dates, extraction.moved_from):
            schedule = self._schedule(conn, completed, prepared, sure)
        if standing.slot is not None:
            schedule = schedule.without_slot(standing.slot.key)
        case = _as_change_or_booking(
            Case(
                extraction=completed,
                schedule=schedule,
                source_ids=_sources(prepared, outcome.question),
                sent_at=prepared.sent_at,
                zone=self._zone,
                mentioned=frozenset(m.id for m in part.reading.of_kind("activity", "generic")),
                is_bound_for=destination(part.reading) is not None,
                is_end=has_cue(part.reading, "end"),
            ),
            pending,
        )
        # What answers a question is never held back by what was learned of cards.
        thresholds, answers = prepared.thresholds, outcome.question is not None
        threshold = thresholds.shipped if answers else thresholds.of(case.extraction)
        gates = [
            gate
            for gate in (outcome.gate, self._extraction_gate(case.extraction, threshold))
            if gate
        ]
        return BuiltCase(
            case=case,
            question=outcome.question,
            standing=standing,
            pending=pending,
            gates=tuple(gates),
        )

    def _owned_by_members(self, part: Part, extraction: Extraction) -> Extraction:
        """Return what the trained reader had a part in without owners who are no members: no stranger's name gets onto a card by it."""
        is_plain = extraction.extractor == "rules" and part.by_rules in {None, part.extraction}
        if is_plain and part.answers is None:
            return extraction
        known = [each for each in extraction.owners if self._participants.household.member(each)]
        return replace(extraction, assigned_to=tuple(known) or (UNSPECIFIED,))

    def anew(
        self, conn: Connection, prepared: Prepared, extraction: Extraction, *, now: datetime
    ) -> Case:
        """Make the case of what an earlier card is to say by now.

        Args:
            conn: In the transaction that settles the message.
            prepared: The message that decided so.
        """
        days = extraction.dates or (prepared.sent_at.date(),)
        scope = Scope(
            first_day=min(days), last_day=max(days), subjects=frozenset(), action_ids=frozenset()
        )
        waiting = self.waiting(conn, scope, now=now)
        return Case(
            extraction=extraction,
            schedule=self._schedule(conn, extraction, prepared, waiting),
            source_ids=_sources(prepared, None),
            sent_at=prepared.sent_at,
            zone=self._zone,
            mentioned=frozenset(),
        )

    def waiting(
        self, conn: Connection, scope: Scope | None, *, now: datetime
    ) -> list[PendingAction]:
        """Return the open proposals about the calendar that the chat may know.

        Args:
            scope: What they must be about; None means anything.
        """
        viewer = Viewer.of(self._household)
        found = action_rows.open_actions(conn, viewer, now=now, scope=scope)
        return [each for each in found if each.proposal.type.is_about_calendar]

    def _standing(  # noqa: PLR0917 - the message and all that is known around it
        self,
        conn: Connection,
        prepared: Prepared,
        part: Part,
        outcome: AttributionOutcome,
        pending: Sequence[PendingAction],
        schedule: Schedule,
    ) -> tuple[AttributionOutcome, Standing]:
        """Find what stood before and is meant; who steps back from a job does so even where a question is open."""
        none = Standing(extraction=outcome.extraction)
        is_answer = outcome.question is not None
        if part.corrects or (is_answer and not _may_give_up(part.extraction)):
            return outcome, none
        found = concerned(
            prepared,
            part,
            part.extraction if is_answer else outcome.extraction,
            pending=pending,
            schedule=schedule,
            participants=self._participants,
            window=self._config.open_question_window,
            own_questions=[
                q
                for q in self._answerable(conn, prepared, part)
                if q.asker == prepared.stored.message.sender
            ],
        )
        if is_answer and not found.leaving:
            return outcome, none
        return (replace(outcome, question=None) if found.leaving else outcome), found

    def _scope(self, prepared: Prepared, part: Part, outcome: AttributionOutcome) -> Scope | None:
        """Return what open proposals must be about to matter; None where any of them may."""
        said = (part.extraction, outcome.extraction)
        subjects = {each.activity for each in said if each.activity}
        if any(may_mean_unnamed(part.reading, each) for each in said) or any(
            self._participants.is_session(subject) for subject in subjects
        ):
            return None
        days = {day for each in said for day in each.dates}
        days |= {each.moved_from for each in said if each.moved_from}
        today = prepared.sent_at.date()
        if any(
            each.task is Task.MOVE or (each.task in CHANGES and not each.named_dates)
            for each in said
        ):
            days |= {today - _DAY, today + SERIES_AHEAD}
        elif not outcome.extraction.dates:
            days |= {today, today + UNDATED_DAYS * _DAY}
        named = outcome.question.action_id if outcome.question else None
        return Scope(
            first_day=min(days),
            last_day=max(days),
            subjects=frozenset(subjects),
            action_ids=frozenset({named} if named else ()),
        )

    def _answerable(self, conn: Connection, prepared: Prepared, part: Part) -> list[OpenQuestion]:
        """Open questions; also an answered one that a second person now claims in so many words."""
        message = prepared.stored.message
        found = questions.answerable(
            conn,
            self._household,
            message.chat_id,
            at=message.sent_at,
            answered_within=self._config.attribution_window,
            late=questions.LATE,
        )
        is_claim = part.extraction.stance is Stance.CLAIMS
        pointed_at = message.target or message.reply_to
        return [
            question
            for question, by in found
            if question.id != prepared.stored.id
            and (by is None or (is_claim and by != message.sender))
            and (
                question.until >= message.sent_at
                or question.message_id == pointed_at
                or takes_up_by_name(
                    part.extraction,
                    question.extraction,
                    today=message.sent_at.astimezone(self._zone).date(),
                )
            )
        ]

    def _schedule(
        self,
        conn: Connection,
        extraction: Extraction,
        prepared: Prepared,
        pending: Sequence[PendingAction],
    ) -> Schedule:
        return load_schedule(
            conn,
            self._household,
            extraction,
            pending=pending,
            sent_at=prepared.sent_at,
            zone=self._zone,
        )

    @staticmethod
    def _extraction_gate(extraction: Extraction, threshold: float) -> GateResult:
        passes = extraction.is_coordination and extraction.confidence >= threshold
        return GateResult(
            stage=Stage.EXTRACTION,
            confidence_type=ConfidenceType.LLM_SCORE
            if extraction.extractor == BY_MODEL
            else ConfidenceType.RULE_SCORE,
            score=extraction.confidence,
            threshold=threshold,
            decision=GateDecision.PROCEED if passes else GateDecision.DROP,
        )


def _as_change_or_booking(case: Case, pending: Sequence[PendingAction]) -> Case:
    """A session told of at another hour is a move; a move of what is not in the calendar yet is a booking."""
    extraction = case.extraction
    if _is_told_of_another_time(case):
        extraction = replace(
            extraction,
            task=Task.MOVE,
            coordination_type=CoordinationType.SCHEDULE_CHANGE,
            moved_from=extraction.dates[0],
        )
        case = replace(case, extraction=extraction)
    if extraction.task is Task.MOVE and not _stands_in_calendar(case):
        booking = _as_booking(extraction, undone_by_change(extraction, pending))
        return replace(case, extraction=booking)
    return case


def _may_give_up(extraction: Extraction) -> bool:
    """Whether a refusal says of which job it is: an activity and a day of its own."""
    is_named = bool(extraction.activity or extraction.child) and bool(extraction.named_dates)
    return extraction.stance is Stance.DECLINES and is_named


def _stands_in_calendar(case: Case) -> bool:
    """Whether what a message moves is an event; what is only proposed is proposed anew."""
    slot = case.moved_slot()
    return slot is not None and slot.event_id is not None


def _is_told_of_another_time(case: Case) -> bool:
    """Whether a session of the series is announced for another hour of its own day ("confirmed, Sat at 4")."""
    extraction = case.extraction
    if not extraction.is_announced_change or extraction.is_loose:
        return False
    if extraction.stance is not Stance.STATES or extraction.task not in {None, Task.APPOINTMENT}:
        return False
    if len(extraction.named_dates) != 1 or not extraction.times or extraction.owners:
        return False
    standing = [slot for slot in case.schedule.series if slot.day in extraction.dates]
    own = case.at(extraction.dates[0], extraction.times[0])
    return (
        len(standing) == 1
        and standing[0].interval is not None
        and not any(
            case.concerns(slot) and slot.interval and slot.interval.start == own
            for slot in case.schedule.slots
        )
    )


def _own_words(reading: Reading) -> frozenset[str]:
    """The words of a message that name neither people, places nor an activity of the household."""
    named = reading.of_kind("child", "adult", "group", "place", "activity", "resource")
    return frozenset(
        token.text
        for token in reading.tokens
        if not any(m.start <= token.start < m.end for m in named)
    )


def _sources(prepared: Prepared, question: OpenQuestion | None) -> frozenset[str]:
    """Ids of the messages that this one is about, as slots name their sources."""
    ids = {str(prepared.stored.id)}
    if prepared.original is not None:
        ids.add(str(prepared.original.id))
    if question is not None:
        ids.add(str(question.id))
    return frozenset(ids)


def _as_booking(extraction: Extraction, moved: Sequence[PendingAction]) -> Extraction:
    """A move of something that is not in the calendar yet is a booking at the new time."""
    job = extraction_from_record(moved[-1].proposal.extraction) if moved else None
    if job is not None and job.dates and extraction.is_day_implied:
        # "They push it to 6.10" leaves it on its day.
        extraction = replace(extraction, dates=job.dates, is_day_implied=job.is_day_implied)
    return replace(
        extraction,
        task=job.task if job else Task.APPOINTMENT,
        coordination_type=job.coordination_type if job else extraction.coordination_type,
        child=extraction.child or (job.child if job else ()),
        times=extraction.times or (job.times if job else ()),
        assigned_to=job.assigned_to if job and not extraction.owners else extraction.assigned_to,
    )
