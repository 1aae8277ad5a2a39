"""Settles a read message: the half of tier 2 that decides and writes, in one transaction.

In this order: attribution, the household's days, the extraction gate, what goes stale, the rules, the proposal,
the open questions, the line in the outbox, the record. Deciding inside the transaction is what lets two
messages understood at the same time see each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.payload import action_record
from kinkeeper.calendar.model import SourceType
from kinkeeper.calendar.repository import list_events
from kinkeeper.core.gates import ConfidenceType, GateDecision, GateResult, Stage
from kinkeeper.jobs import leases
from kinkeeper.observer import questions, repository, retraction
from kinkeeper.observer.case import Case
from kinkeeper.observer.clauses import destination, has_cue
from kinkeeper.observer.completion import complete
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.context import BrainContext
from kinkeeper.observer.days import load_schedule, proposed_effects
from kinkeeper.observer.model import (
    UNSPECIFIED,
    Decision,
    Extraction,
    OpenQuestion,
    RedlineDecision,
    RedlineOutcome,
    RedlineRule,
    Stance,
    Task,
    Tier1Decision,
)
from kinkeeper.observer.participants import Participants
from kinkeeper.observer.phrasing import Phrasing
from kinkeeper.observer.proposing import Ground, Proposer
from kinkeeper.observer.question_tracking import QuestionTracker
from kinkeeper.observer.records import extraction_from_record
from kinkeeper.observer.redline import decide
from kinkeeper.observer.redline_rules import needs_owner
from kinkeeper.observer.schedule import Schedule
from kinkeeper.observer.speaking import Speaker
from kinkeeper.observer.superseding import claims_of, replaced_claims, undone_by_change
from kinkeeper.observer.tables import observer_messages
from kinkeeper.observer.understanding import Part, Prepared, attribute_part

_NEEDS_CONTEXT_UP_TO = 0.8
_CONFLICTS = frozenset({RedlineRule.TEMPORAL_CONFLICT, RedlineRule.RESOURCE_CONFLICT})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """One arrangement of one message while it is being settled."""

    conn: Connection
    prepared: Prepared
    part: Part
    slot: str
    case: Case
    question: OpenQuestion | None
    pending: Sequence[PendingAction]
    now: datetime
    base: Decision

    def after(self, withdrawn: Sequence[str]) -> "_Turn":
        """The same once these actions are gone."""
        return replace(
            self,
            pending=[action for action in self.pending if action.id not in withdrawn],
            case=replace(self.case, schedule=self.case.schedule.without(withdrawn)),
        )

    @property
    def extraction(self) -> Extraction:
        return self.case.extraction

    @property
    def sender(self) -> str:
        return self.prepared.stored.message.sender

    @property
    def source(self) -> str:
        return str(self.prepared.stored.id)


class Settlement:
    """Settles the messages of one household.

    Args:
        participants: The household compiled.
        config: Thresholds, rules, limits.
        speaker: Speaks in its groups.
    """

    def __init__(
        self, participants: Participants, config: ObserverConfig, speaker: Speaker
    ) -> None:
        self._participants = participants
        self._household = participants.household.id
        self._zone = participants.household.zone
        self._config = config
        self._speaker = speaker
        self._phrasing = Phrasing(participants=participants, limits=config.limits)
        self._proposer = Proposer(self._phrasing, self._household)
        self._questions = QuestionTracker(self._household, self._proposer, config)

    def settle(
        self, conn: Connection, prepared: Prepared, *, epoch: int, now: datetime
    ) -> Decision:
        """Decide about a message and write everything that follows, in the caller's transaction.

        Args:
            conn: In a write transaction.
            prepared: The message, read.
            epoch: The claim under which the work runs.
            now: Aware.

        Returns:
            What tier 2 decided (tier 1's fields are empty).

        Raises:
            LeaseLostError: Another worker took the row; the transaction must end without effect.
        """
        row_id = str(prepared.stored.id)
        proposals.expire_due(conn, self._household, now)
        decision, notification = self._decide(conn, prepared, now=now)
        taken_back = repository.withdrawn_by(conn, self._household, row_id)
        decision = replace(decision, withdrawn_actions=(*taken_back, *decision.withdrawn_actions))
        repository.update_settled(
            conn, self._household, row_id, decision, notification_id=notification,
            brain=_brain_record(prepared.brain), now=now,
        )  # fmt: skip
        leases.finish(conn, observer_messages, (self._household, row_id), epoch)
        return decision

    def _decide(
        self, conn: Connection, prepared: Prepared, *, now: datetime
    ) -> tuple[Decision, int | None]:
        """Decide about each part; the message's decision is that of the part that speaks, or acts, or is first."""
        settled = [
            self._decide_part(conn, prepared, number, now=now)
            for number in range(len(prepared.parts))
        ]
        if not any(d.extraction is not None and needs_owner(d.extraction) for d, _ in settled):
            questions.close(
                conn,
                self._household,
                prepared.stored.id,
                status=questions.ANSWERED,
                by=None,
                at=now,
            )
        decision, notification = next(
            (each for each in settled if each[0].reply is not None),
            next((each for each in settled if each[0].action is not None), settled[0]),
        )
        withdrawn = dict.fromkeys(
            action_id for each, _ in settled for action_id in each.withdrawn_actions
        )
        return replace(decision, withdrawn_actions=tuple(withdrawn)), notification

    def _decide_part(
        self, conn: Connection, prepared: Prepared, number: int, *, now: datetime
    ) -> tuple[Decision, int | None]:
        part = prepared.parts[number]
        pending = action_rows.open_actions(conn, self._household, now=now)
        outcome = attribute_part(
            prepared, part, self._answerable(conn, prepared, part), self._config
        )
        extraction = self._stepping_back(outcome.extraction, prepared, pending)
        schedule = self._schedule(conn, extraction, prepared, pending)
        completed = complete(
            extraction, schedule, today=prepared.sent_at.date(), participants=self._participants
        )
        if (completed.dates, completed.moved_from) != (extraction.dates, extraction.moved_from):
            schedule = self._schedule(conn, completed, prepared, pending)
        case = Case(
            extraction=completed, schedule=schedule,
            source_ids=_sources(prepared, outcome.question), sent_at=prepared.sent_at,
            zone=self._zone,
            mentioned=frozenset(m.id for m in part.reading.of_kind("activity", "generic")),
            is_bound_for=destination(part.reading) is not None,
            is_end=has_cue(part.reading, "end"),
        )  # fmt: skip
        if completed.task is Task.MOVE and case.moved_slot() is None:
            completed = _as_booking(completed, undone_by_change(completed, pending))
            case = replace(case, extraction=completed)
        gates = [gate for gate in (outcome.gate, self._extraction_gate(completed)) if gate]
        base = Decision(
            message_id=prepared.stored.message.message_id, tier1=Tier1Decision.QUEUE,
            tripwire_confidence=0.0, override=None, patterns=(), reason="extraction",
            extraction=completed, gates=tuple(gates),
            attribution_source=outcome.question.message_id if outcome.question else None,
        )  # fmt: skip
        if gates[-1].decision is GateDecision.DROP:
            return base, None
        if brain_gate := prepared.brain.gate(self._config.brain_min_relevance):
            base = replace(
                base, gates=(*gates, brain_gate), brain_relevance=prepared.brain.relevance
            )
        return self._conclude(
            _Turn(
                conn=conn, prepared=prepared, part=part, slot=str(number), case=case,
                question=outcome.question, pending=pending, now=now, base=base,
            )
        )  # fmt: skip

    def _conclude(self, turn: _Turn) -> tuple[Decision, int | None]:
        """Apply the rules, then write what follows from them."""
        if turn.extraction.stance is Stance.ACCEPTS and turn.question is None:
            return replace(turn.base, redline=_silent("acknowledged"), reason="acknowledged"), None
        withdrawn = self._withdraw_stale(turn)
        turn = turn.after(withdrawn)
        verdict = self._mute(turn, self._verdict(turn))
        action = self._propose(turn, verdict)
        if action is None and not withdrawn and verdict.reason == "no_rule":
            verdict = _silent("nothing_to_confirm")
        self._questions.track(
            turn.conn, turn.prepared, turn.case, answered=turn.question,
            ground=self._ground(turn), action=action, now=turn.now,
        )  # fmt: skip
        reply: str | None = None
        buttons: tuple[str, ...] = ()
        notification: int | None = None
        if verdict.decision is RedlineDecision.SPEAK:
            reply = self._phrasing.line(verdict)
            buttons = self._speaker.buttons(action)
            notification = self._speaker.speak(
                turn.conn, turn.prepared.stored, verdict, reply=reply, buttons=buttons,
                action_id=action.id if action else None, now=turn.now,
            )  # fmt: skip
        is_degraded = turn.prepared.brain.is_degraded
        decision = replace(
            turn.base, redline=verdict, reply=reply, buttons=buttons,
            action=action_record(action) if action else None, withdrawn_actions=withdrawn,
            reason="brain_timeout_degraded" if is_degraded else verdict.reason,
        )  # fmt: skip
        return decision, notification

    def _answerable(self, conn: Connection, prepared: Prepared, part: Part) -> list[OpenQuestion]:
        """Open questions; also an answered one that a second person now claims in so many words."""
        message = prepared.stored.message
        found = questions.answerable(
            conn, self._household, message.chat_id, at=message.sent_at,
            answered_within=self._config.attribution_window,
        )  # fmt: skip
        is_claim = part.extraction.stance is Stance.CLAIMS
        return [
            question
            for question, by in found
            if question.id != prepared.stored.id
            and (by is None or (is_claim and by != message.sender))
        ]

    def _schedule(
        self,
        conn: Connection,
        extraction: Extraction,
        prepared: Prepared,
        pending: Sequence[PendingAction],
    ) -> Schedule:
        return load_schedule(
            conn, self._household, extraction, pending=pending, sent_at=prepared.sent_at,
            zone=self._zone,
        )  # fmt: skip

    def _stepping_back(
        self, extraction: Extraction, prepared: Prepared, pending: Sequence[PendingAction]
    ) -> Extraction:
        """After somebody stepped back from a job, the message stands for the job they leave open."""
        attribution = extraction.attribution
        is_matched = attribution is not None and attribution.source_message_id is not None
        if extraction.stance is not Stance.DECLINES or is_matched:
            return extraction
        claims = claims_of(_refuser(extraction, prepared), extraction, pending)
        if not claims:
            return extraction
        job = extraction_from_record(claims[-1].proposal.extraction)
        return replace(
            job, stance=Stance.DECLINES, assigned_to=(UNSPECIFIED,), addressee=None,
            entities=extraction.entities, attribution=None, brain_queries=extraction.brain_queries,
        )  # fmt: skip

    def _extraction_gate(self, extraction: Extraction) -> GateResult:
        threshold = self._config.extraction_threshold
        passes = extraction.is_coordination and extraction.confidence >= threshold
        return GateResult(
            stage=Stage.EXTRACTION,
            confidence_type=ConfidenceType.RULE_SCORE,
            score=extraction.confidence,
            threshold=threshold,
            decision=GateDecision.PROCEED if passes else GateDecision.DROP,
        )

    def _verdict(self, turn: _Turn) -> RedlineOutcome:
        if turn.extraction.stance is Stance.DECLINES and turn.question is not None:
            return _silent("declined")
        return decide(turn.case, self._config.rules)

    def _mute(self, turn: _Turn, verdict: RedlineOutcome) -> RedlineOutcome:
        """Keep silent what was said before, what the day has no room for, and what rests on nothing."""
        relevance = turn.prepared.brain.relevance
        if (
            verdict.rule is RedlineRule.MISSING_VARIABLE
            and _rests_on_memory(turn)
            and relevance is not None
            and relevance < self._config.brain_min_relevance
            and turn.extraction.confidence <= _NEEDS_CONTEXT_UP_TO
        ):
            return replace(
                verdict, decision=RedlineDecision.SILENT, reason="low_confidence_no_brain",
                speak_at=None,
            )  # fmt: skip
        return self._speaker.mute(turn.conn, verdict, now=turn.now)

    def _withdraw_stale(self, turn: _Turn) -> tuple[str, ...]:
        """Withdraw proposals that this message makes untrue: cancelled, moved, or no longer possible."""
        stale = undone_by_change(turn.part.extraction, turn.pending)
        if turn.extraction.stance is Stance.DECLINES:
            own = turn.part.extraction
            stale = claims_of(_refuser(own, turn.prepared), own, turn.pending)[-1:]
        return retraction.withdraw_all(
            turn.conn, self._household, [action.id for action in stale], by_source=turn.source,
            now=turn.now,
        )  # fmt: skip

    def _ground(self, turn: _Turn) -> Ground:
        maintenance = turn.part.reading.of_kind("maintenance")
        return Ground(
            case=turn.case, row_id=turn.source, slot=turn.slot,
            chat_id=turn.prepared.stored.message.chat_id, sender=turn.sender,
            expires_at=turn.now + self._config.action_ttl,
            default_duration=self._config.rules.default_duration,
            maintenance=maintenance[0].id if maintenance else None,
            replaces=self._written_before(turn),
        )  # fmt: skip

    def _written_before(self, turn: _Turn) -> tuple[str, ...]:
        """Events that a person confirmed from the text that this message edits."""
        original = turn.prepared.original
        if original is None:
            return ()
        return tuple(
            event.id
            for event in list_events(turn.conn, self._household)
            if event.provenance.source_type is SourceType.OBSERVER
            and event.provenance.source_id == str(original.id)
        )

    def _propose(self, turn: _Turn, verdict: RedlineOutcome) -> PendingAction | None:
        if turn.extraction.stance is Stance.DECLINES and turn.question is not None:
            return None
        absorbed = _absorbed(turn, verdict)
        proposal = self._proposer.propose(
            self._ground(turn), verdict, [tuple(proposed_effects(each)) for each in absorbed]
        )
        if proposal is None:
            return None
        result = proposals.propose(turn.conn, proposal, now=turn.now)
        if result.is_new:
            stale = [*absorbed, *replaced_claims(turn.extraction, turn.pending)]
            if turn.question and turn.question.action_id:
                stale += [a for a in turn.pending if a.id == turn.question.action_id]
            for action_id in {action.id for action in stale} - {result.action.id}:
                proposals.supersede(
                    turn.conn, action_id, household=self._household,
                    by_action_id=result.action.id, now=turn.now,
                )  # fmt: skip
        return result.action


def _refuser(extraction: Extraction, prepared: Prepared) -> str:
    """Who steps back: the adult named ("John can't make it"), else the sender."""
    return extraction.addressee or prepared.stored.message.sender


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
    return replace(
        extraction,
        task=job.task if job else Task.APPOINTMENT,
        coordination_type=job.coordination_type if job else extraction.coordination_type,
        child=extraction.child or (job.child if job else ()),
        times=extraction.times or (job.times if job else ()),
        assigned_to=job.assigned_to if job and not extraction.owners else extraction.assigned_to,
    )


def _absorbed(turn: _Turn, verdict: RedlineOutcome) -> list[PendingAction]:
    """The open proposals a conflict is with: their content moves into its choices."""
    if verdict.rule not in _CONFLICTS:
        return []
    other = verdict.facts.get("booked") or verdict.facts.get("slot") or {}
    return [action for action in turn.pending if action.id == other.get("action_id")]


def _rests_on_memory(turn: _Turn) -> bool:
    """Whether only memory could tell that the job exists: a mere mention of something unknown."""
    if turn.extraction.stance is Stance.ASKS or turn.part.reading.is_question:
        return False
    return not turn.case.schedule.series and turn.extraction.task is None


def _silent(reason: str) -> RedlineOutcome:
    return RedlineOutcome(decision=RedlineDecision.SILENT, rule=None, reason=reason)


def _brain_record(brain: BrainContext) -> dict[str, object] | None:
    if not brain.queries:
        return None
    return {
        "queries": [query.text for query in brain.queries],
        "answers": [
            {"relevance": a.relevance, "summary": a.summary, "items": [dict(i) for i in a.items]}
            for a in brain.answers
        ],
        "is_degraded": brain.is_degraded,
    }
