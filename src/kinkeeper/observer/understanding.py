"""Tier 2: what a queued message means and what is done about it.

Two halves. `prepare` reads and may wait (extractor, brain), outside any transaction. `settle` decides and writes
in one transaction, so that two messages understood at the same time still see each other: attribution, the
household's days, the extraction gate, the rules, the proposal, the line in the outbox, the record.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from typing import Protocol

from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.payload import action_record
from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.gates import ConfidenceType, GateDecision, GateResult, Stage
from kinkeeper.core.messages import MessageKind
from kinkeeper.household.model import Member, Role
from kinkeeper.jobs import leases
from kinkeeper.language.when.model import TimeSpan
from kinkeeper.messaging import inbox
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer import questions, repository, retraction
from kinkeeper.observer.attribution import (
    AttributionOutcome,
    Reply,
    are_compatible,
    are_same_task,
    attribute,
)
from kinkeeper.observer.clauses import is_bound_for_activity, segments
from kinkeeper.observer.completion import complete
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.context import BrainContext, ContextSource, compose_queries
from kinkeeper.observer.continuation import Earlier, continued, needs_context
from kinkeeper.observer.days import load_schedule
from kinkeeper.observer.extraction import extract
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
from kinkeeper.observer.reading import Reading, read_message
from kinkeeper.observer.records import extraction_from_record
from kinkeeper.observer.redline import Case, decide, first_instant, needs_owner
from kinkeeper.observer.schedule import Schedule
from kinkeeper.observer.speaking import Speaker
from kinkeeper.observer.tables import observer_messages

_CHANGES = frozenset({Task.CANCEL, Task.MOVE})
_USUAL_WITHIN_MINUTES = 120
_SAME_SUBJECT = timedelta(hours=6)


class Extractor(Protocol):
    """Reads who does what, when, for whom, out of one message."""

    async def extract(
        self, reading: Reading, *, sender: Member | None, participants: Participants
    ) -> Extraction:
        """Return the extraction; never raises for what the text says."""
        ...


class RulesExtractor:
    """The deterministic extractor: no model, no network."""

    async def extract(
        self, reading: Reading, *, sender: Member | None, participants: Participants
    ) -> Extraction:
        """Return what the rules read."""
        return extract(reading, sender=sender, participants=participants)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One arrangement of a message.

    Attributes:
        reading: The words that make it.
        extraction: What they say, with what the messages just before add.
    """

    reading: Reading
    extraction: Extraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A message read, and what memory says about it; nothing is decided yet.

    Attributes:
        stored: The message.
        sent_at: When it was said, in the household's zone; of an edit, when the original was.
        member: Who sent it, if known.
        parts: What it arranges, one part each; most messages have one.
        brain: What memory said.
    """

    stored: StoredMessage
    sent_at: datetime
    member: Member | None
    parts: tuple[Part, ...]
    brain: BrainContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What `prepare` needs from the database.

    Attributes:
        stored: The message.
        original: What it edits, if it is an edit.
        asked: Questions it may answer, newest first.
        window: Its context window, newest first.
        last_child: Child the chat was last about, hours ago at most; None where it was several or nobody.
    """

    stored: StoredMessage
    original: StoredMessage | None
    asked: Sequence[OpenQuestion]
    window: Sequence[StoredMessage]
    last_child: str | None


class Understanding:
    """Tier 2 of one household.

    Args:
        participants: The household compiled.
        config: Thresholds, windows, rules.
        extractor: Reads messages.
        context: Asks memory.
    """

    def __init__(
        self,
        participants: Participants,
        config: ObserverConfig,
        extractor: Extractor,
        context: ContextSource,
    ) -> None:
        self._participants = participants
        self._household = participants.household.id
        self._zone = participants.household.zone
        self._config = config
        self._extractor = extractor
        self._context = context
        self._phrasing = Phrasing(participants=participants, limits=config.limits)
        self._proposer = Proposer(self._phrasing, self._household)
        self._speaker = Speaker(self._household, self._zone, self._phrasing, config)

    def load(self, conn: Connection, row_id: str) -> Loaded:
        """Return a message with what surrounds it.

        Raises:
            NotFoundError: There is no such message.
        """
        stored = inbox.load(conn, self._household, int(row_id))
        row = repository.find(conn, self._household, row_id)
        if stored is None or row is None:
            raise NotFoundError(f"there is no message row {row_id!r}")
        message = stored.message
        original = None
        if message.kind is MessageKind.EDIT and message.target is not None:
            earlier = inbox.find_by_message_id(
                conn, self._household, message.target, chat_id=message.chat_id
            )
            original = earlier[0] if earlier else None
        window = [inbox.load(conn, self._household, int(each)) for each in reversed(row.context_window)]
        return Loaded(
            stored=stored, original=original,
            asked=[question for question, _ in self._asked(conn, stored)],
            window=[each for each in window if each is not None],
            last_child=self._last_child(conn, stored),
        )  # fmt: skip

    def _last_child(self, conn: Connection, stored: StoredMessage) -> str | None:
        message = stored.message
        record = repository.last_extraction(
            conn, self._household, message.chat_id, since=message.sent_at - _SAME_SUBJECT,
            before=message.sent_at, except_for=str(stored.id),
        )  # fmt: skip
        children = record["child"] if record else []
        return children[0] if len(children) == 1 else None

    async def prepare(self, loaded: Loaded) -> Prepared:
        """Read a message and ask memory about it. May wait; writes nothing."""
        household = self._participants.household
        stored = loaded.stored
        spoken = (loaded.original or stored).message.sent_at
        member = household.member(stored.message.sender) if stored.is_member else None
        reading = self._read(stored.message.text, spoken.astimezone(self._zone))
        parts = [
            await self._part(segment, member, loaded) for segment in segments(reading)
        ]
        prepared = Prepared(
            stored=stored, sent_at=reading.sent_at, member=member, parts=tuple(parts),
            brain=BrainContext(),
        )  # fmt: skip
        outcome = self._attribute(prepared, parts[0], loaded.asked)
        queries = compose_queries(
            outcome.extraction, household=household.id, limit=self._config.max_brain_queries
        )
        texts = tuple(query.text for query in queries)
        parts[0] = replace(
            parts[0], extraction=replace(parts[0].extraction, brain_queries=texts)
        )
        return replace(prepared, parts=tuple(parts), brain=await self._context.ask(queries))

    async def _part(self, reading: Reading, member: Member | None, loaded: Loaded) -> Part:
        extraction = await self._extractor.extract(
            reading, sender=member, participants=self._participants
        )
        if needs_context(reading, extraction):
            earlier = [self._earlier(each, loaded.stored) for each in loaded.window]
            extraction = continued(
                reading, extraction, earlier, last_child=loaded.last_child,
                participants=self._participants,
            )  # fmt: skip
        return Part(reading=reading, extraction=extraction)

    def _earlier(self, stored: StoredMessage, present: StoredMessage) -> Earlier:
        message = stored.message
        member = self._participants.household.member(message.sender) if stored.is_member else None
        reading = self._read(message.text, message.sent_at.astimezone(self._zone))
        return Earlier(
            reading=reading,
            extraction=extract(reading, sender=member, participants=self._participants),
            is_same_sender=message.sender == present.message.sender,
        )

    def settle(
        self, conn: Connection, prepared: Prepared, *, epoch: int, now: datetime
    ) -> Decision:
        """Decide about a message and write everything that follows, in the caller's transaction.

        Args:
            conn: In a write transaction.
            prepared: From `prepare`.
            epoch: The claim under which the work runs.
            now: Aware.

        Returns:
            What tier 2 decided (tier 1's fields are empty).

        Raises:
            LeaseLostError: Another worker took the row; the transaction must end without effect.
        """
        row_id = str(prepared.stored.id)
        key = (self._household, row_id)
        decision, notification = self._decide(conn, prepared, now=now)
        row = repository.find(conn, self._household, row_id)
        taken_back = tuple(row.withdrawn_actions) if row is not None else ()
        decision = replace(
            decision, withdrawn_actions=(*taken_back, *decision.withdrawn_actions)
        )
        repository.update_settled(
            conn, self._household, row_id, decision, notification_id=notification,
            brain=_brain_record(prepared.brain), now=now,
        )  # fmt: skip
        leases.finish(conn, observer_messages, key, epoch)
        return decision

    def _decide(
        self, conn: Connection, prepared: Prepared, *, now: datetime
    ) -> tuple[Decision, int | None]:
        """Decide about each part; the message's decision is that of the part that speaks, or of the first."""
        proposals.expire_due(conn, self._household, now)
        settled = [
            self._decide_part(conn, prepared, number, now=now)
            for number in range(len(prepared.parts))
        ]
        asks = any(
            decision.extraction is not None and needs_owner(decision.extraction)
            for decision, _ in settled
        )
        if not asks:
            questions.close(
                conn, self._household, prepared.stored.id, status=questions.ANSWERED, by=None, at=now
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
        asked = self._asked(conn, prepared.stored)
        outcome = self._attribute(prepared, part, _eligible(prepared, part, asked))
        pending = action_rows.open_actions(conn, self._household, now=now)
        extraction = self._stepping_back(outcome.extraction, prepared, pending)
        schedule = self._schedule(conn, extraction, prepared, pending)
        completed = complete(
            extraction, schedule, today=prepared.sent_at.date(), participants=self._participants
        )
        if (completed.dates, completed.moved_from) != (extraction.dates, extraction.moved_from):
            schedule = self._schedule(conn, completed, prepared, pending)
        gates = [gate for gate in (outcome.gate, self._extraction_gate(completed)) if gate]
        brain_gate = prepared.brain.gate(self._config.brain_min_relevance)
        base = Decision(
            message_id=prepared.stored.message.message_id, tier1=Tier1Decision.QUEUE,
            tripwire_confidence=0.0, override=None, patterns=(), reason="extraction",
            extraction=completed, gates=tuple(gates),
            attribution_source=outcome.question.message_id if outcome.question else None,
        )  # fmt: skip
        if not gates[-1].passed:
            return base, None
        if brain_gate is not None:
            base = replace(
                base, gates=(*gates, brain_gate), brain_relevance=prepared.brain.relevance
            )
        sources = {str(prepared.stored.id), *([str(outcome.question.id)] if outcome.question else [])}
        case = Case(
            extraction=completed, schedule=schedule, source_ids=frozenset(sources),
            sent_at=prepared.sent_at, zone=self._zone,
            mentioned=frozenset(
                mention.id for mention in part.reading.of_kind("activity", "generic")
            ),
            is_bound_for=is_bound_for_activity(part.reading),
        )  # fmt: skip
        return self._conclude(
            _Settlement(
                conn=conn, prepared=prepared, part=part, slot=str(number), case=case,
                question=outcome.question, pending=pending, now=now, base=base,
            )
        )  # fmt: skip

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
        if extraction.stance is not Stance.DECLINES or _is_matched(extraction):
            return extraction
        claims = self._claims_left(extraction, prepared, pending)
        if not claims:
            return extraction
        job = extraction_from_record(claims[-1].proposal.extraction)
        return replace(
            job, stance=Stance.DECLINES, assigned_to=(UNSPECIFIED,), addressee=None,
            entities=extraction.entities, attribution=None, brain_queries=extraction.brain_queries,
        )  # fmt: skip

    def _claims_left(
        self, extraction: Extraction, prepared: Prepared, pending: Sequence[PendingAction]
    ) -> list[PendingAction]:
        person = extraction.addressee or prepared.stored.message.sender
        return [action for action in pending if _is_claim_of(action, person, extraction)]

    def _conclude(self, turn: "_Settlement") -> tuple[Decision, int | None]:
        """Apply the rules, then write what follows from them."""
        extraction = turn.case.extraction
        if extraction.stance is Stance.ACCEPTS and turn.question is None:
            return replace(turn.base, redline=_silent("acknowledged"), reason="acknowledged"), None
        withdrawn = self._withdraw_stale(turn)
        verdict = self._mute(turn, self._verdict(turn))
        absorbed = self._absorbed(turn, verdict)
        action = self._propose(turn, verdict, absorbed)
        if action is None and not withdrawn and verdict.rule is None:
            verdict = _silent("nothing_to_confirm" if verdict.reason == "no_rule" else verdict.reason)
        self._track_question(turn, action)
        reply: str | None = None
        buttons: tuple[str, ...] = ()
        notification: int | None = None
        if verdict.decision is RedlineDecision.SPEAK:
            reply = self._phrasing.line(verdict)
            buttons = self._speaker.buttons(action, verdict)
            notification = self._speaker.speak(
                turn.conn, turn.prepared.stored, verdict, reply=reply, buttons=buttons,
                action_id=action.id if action else None, now=turn.now,
            )  # fmt: skip
        decision = replace(
            turn.base, redline=verdict, reply=reply, buttons=buttons,
            action=action_record(action) if action else None, withdrawn_actions=withdrawn,
            reason=verdict.reason,
        )  # fmt: skip
        return decision, notification

    def _verdict(self, turn: "_Settlement") -> RedlineOutcome:
        if turn.case.extraction.stance is Stance.DECLINES and turn.question is not None:
            return _silent("declined")
        return decide(turn.case, self._config.rules)

    def _mute(self, turn: "_Settlement", verdict: RedlineOutcome) -> RedlineOutcome:
        """Keep silent what was said before, what the day has no room for, and what rests on nothing."""
        if verdict.rule is RedlineRule.MISSING_VARIABLE and self._rests_on_brain(turn):
            relevance, confidence = turn.prepared.brain.relevance, turn.case.extraction.confidence
            if turn.prepared.brain.is_degraded:
                return replace(verdict, facts={**verdict.facts, "context": "brain_timeout_degraded"})
            if relevance is not None and relevance < self._config.brain_min_relevance and confidence <= 0.8:  # noqa: PLR2004 - the contract's number
                return _muted(verdict, "low_confidence_no_brain")
        return self._speaker.mute(turn.conn, verdict, now=turn.now)

    def _rests_on_brain(self, turn: "_Settlement") -> bool:
        """Whether only memory could tell that the job exists: a mere mention of something unknown."""
        extraction = turn.case.extraction
        if extraction.stance is Stance.ASKS or turn.part.reading.is_question:
            return False
        return not turn.case.schedule.series and extraction.task is None

    def _withdraw_stale(self, turn: "_Settlement") -> tuple[str, ...]:
        """Withdraw proposals that this message makes untrue: cancelled, moved, or no longer possible."""
        extraction = turn.case.extraction
        if extraction.task in _CHANGES and extraction.stance is not Stance.ASKS:
            stale = [a for a in turn.pending if _is_undone_by(a, extraction)]
        elif extraction.stance is Stance.DECLINES:
            stale = self._claims_left(turn.part.extraction, turn.prepared, turn.pending)[-1:]
        else:
            return ()
        return retraction.withdraw_all(
            turn.conn, self._household, [action.id for action in stale],
            by_source=str(turn.prepared.stored.id), now=turn.now,
        )  # fmt: skip

    def _ground(self, turn: "_Settlement") -> Ground:
        maintenance = turn.part.reading.of_kind("maintenance")
        message = turn.prepared.stored.message
        return Ground(
            case=turn.case, row_id=str(turn.prepared.stored.id), slot=turn.slot, chat_id=message.chat_id,
            sender=turn.sender, expires_at=turn.now + self._config.action_ttl,
            default_duration=self._config.rules.default_duration,
            maintenance=maintenance[0].id if maintenance else None,
        )  # fmt: skip

    def _absorbed(self, turn: "_Settlement", verdict: RedlineOutcome) -> list[PendingAction]:
        """The open proposals a conflict is with: their content moves into its choices."""
        if verdict.rule not in {RedlineRule.TEMPORAL_CONFLICT, RedlineRule.RESOURCE_CONFLICT}:
            return []
        facts = verdict.facts
        other = facts.get("booked") or facts.get("slot") or {}
        return [action for action in turn.pending if action.id == other.get("action_id")]

    def _propose(
        self,
        turn: "_Settlement",
        verdict: RedlineOutcome,
        absorbed: Sequence[PendingAction],
    ) -> PendingAction | None:
        extraction = turn.case.extraction
        if extraction.stance is Stance.DECLINES and turn.question is not None:
            return None
        proposal = self._proposer.propose(
            self._ground(turn), verdict, [action.proposal.effects for action in absorbed]
        )
        if proposal is None:
            return None
        result = proposals.propose(turn.conn, proposal, now=turn.now)
        if result.is_new:
            stale = [*absorbed, *self._replaced(turn)]
            if turn.question and turn.question.action_id:
                stale += [a for a in turn.pending if a.id == turn.question.action_id]
            for action in {action.id: action for action in stale}.values():
                if action.id != result.action.id:
                    proposals.supersede(
                        turn.conn, action.id, household=self._household,
                        by_action_id=result.action.id, now=turn.now,
                    )  # fmt: skip
        return result.action

    def _replaced(self, turn: "_Settlement") -> list[PendingAction]:
        """Earlier claims on the same job: one's own always, another's where this one takes over."""
        extraction = turn.case.extraction
        if not extraction.owners:
            return []
        replaced = []
        for action in turn.pending:
            other = extraction_from_record(action.proposal.extraction)
            is_own = set(other.owners) == set(extraction.owners)
            if not other.owners or not (is_own or extraction.yields):
                continue
            if _is_restated(extraction, other):
                replaced.append(action)
        return replaced

    def _track_question(self, turn: "_Settlement", action: PendingAction | None) -> None:
        """Close what this message answers, and open what it asks."""
        extraction, row = turn.case.extraction, turn.prepared.stored
        if extraction.owners or extraction.task in _CHANGES:
            self._answer_questions(turn)
        is_open = needs_owner(extraction) and (
            extraction.stance is not Stance.DECLINES or turn.question is None
        )
        if not is_open:
            return
        starts_at = first_instant(turn.case, self._config.rules.default_duration)
        until = turn.prepared.sent_at + self._config.open_question_window
        if starts_at is not None and starts_at > turn.prepared.sent_at:
            until = min(until, starts_at)
        questions.put(
            turn.conn, self._household,
            OpenQuestion(
                id=row.id, chat_id=row.message.chat_id, message_id=row.message.message_id,
                thread_id=row.thread_id, asker=turn.sender, asked_at=row.message.sent_at,
                until=until, extraction=extraction, action_id=action.id if action else None,
            ),
        )  # fmt: skip

    def _answer_questions(self, turn: "_Settlement") -> None:
        extraction = turn.case.extraction
        candidates = [q for q, by in self._asked(turn.conn, turn.prepared.stored) if by is None]
        for question in candidates:
            is_answered = turn.question is not None and question.id == turn.question.id
            if question.id == turn.prepared.stored.id or not (
                is_answered or _is_restated(extraction, question.extraction)
            ):
                continue
            rest = tuple(c for c in question.extraction.child if c not in extraction.child)
            if rest and extraction.child and extraction.task not in _CHANGES:
                self._narrow(turn, question, rest)
            else:
                retraction.close_question(
                    turn.conn, self._household, question.id, status=questions.ANSWERED,
                    by=turn.sender, now=turn.now,
                )  # fmt: skip
                self._supersede_question(turn, question)

    def _supersede_question(self, turn: "_Settlement", question: OpenQuestion) -> None:
        if question.action_id:
            retraction.withdraw_all(
                turn.conn, self._household, [question.action_id],
                by_source=str(turn.prepared.stored.id), now=turn.now,
            )  # fmt: skip

    def _narrow(self, turn: "_Settlement", question: OpenQuestion, rest: tuple[str, ...]) -> None:
        """Part of what was asked is taken; the rest stays open as a card of its own."""
        extraction = replace(question.extraction, child=rest)
        ground = replace(
            self._ground(turn), row_id=f"{question.id}:{'+'.join(rest)}",
            case=replace(turn.case, extraction=extraction),
        )  # fmt: skip
        result = proposals.propose(
            turn.conn, self._proposer.remainder(ground, extraction), now=turn.now
        )
        self._supersede_question(turn, question)
        questions.narrow(
            turn.conn, self._household, question.id, extraction=extraction,
            action_id=result.action.id,
        )  # fmt: skip

    def _asked(
        self, conn: Connection, stored: StoredMessage
    ) -> list[tuple[OpenQuestion, str | None]]:
        message = stored.message
        found = questions.answerable(
            conn, self._household, message.chat_id, at=message.sent_at,
            answered_within=self._config.attribution_window,
        )  # fmt: skip
        return [(question, by) for question, by in found if question.id != stored.id]

    def _attribute(
        self, prepared: Prepared, part: Part, asked: Sequence[OpenQuestion]
    ) -> AttributionOutcome:
        message, member = prepared.stored.message, prepared.member
        reply = Reply(
            sender=message.sender,
            is_assignable=member is not None and member.role is not Role.CHILD,
            answers=message.target if message.kind is MessageKind.REACTION else message.reply_to,
            is_reaction=message.kind is MessageKind.REACTION,
            sent_at=message.sent_at,
            word_count=part.reading.word_count,
        )
        return attribute(
            part.extraction, reply, asked, threshold=self._config.attribution_threshold
        )

    def _extraction_gate(self, extraction: Extraction) -> GateResult:
        passes = (
            extraction.is_coordination and extraction.confidence >= self._config.extraction_threshold
        )
        return GateResult(
            stage=Stage.EXTRACTION,
            confidence_type=ConfidenceType.RULE_SCORE,
            score=extraction.confidence if extraction.is_coordination else min(extraction.confidence, 0.5),
            threshold=self._config.extraction_threshold,
            decision=GateDecision.PROCEED if passes else GateDecision.DROP,
        )

    def _read(self, text: str, sent_at: datetime) -> Reading:
        participants = self._participants
        first = read_message(
            text, sent_at=sent_at, lexicon=participants.lexicon,
            locale=participants.household.locale, named_times=participants.named_times,
        )  # fmt: skip
        hours = [
            participants.usual_hours[mention.id]
            for mention in first.of_kind("activity")
            if mention.id in participants.usual_hours
        ]
        if not hours or not any(_is_near(span, hours[0]) for span in first.spans):
            return first
        return read_message(
            text, sent_at=sent_at, lexicon=participants.lexicon,
            locale=participants.household.locale, named_times=participants.named_times,
            usual_hour=hours[0],
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settlement:
    """One message while it is being settled."""

    conn: Connection
    prepared: Prepared
    part: Part
    slot: str
    case: Case
    question: OpenQuestion | None
    pending: Sequence[PendingAction]
    now: datetime
    base: Decision

    @property
    def sender(self) -> str:
        return self.prepared.stored.message.sender


def _is_matched(extraction: Extraction) -> bool:
    return extraction.attribution is not None and extraction.attribution.source_message_id is not None


def _is_near(span: TimeSpan, usual: time) -> bool:
    """Whether a bare hour, in one half of the day, is close enough to the usual one to be meant so."""
    if span.is_meridiem_known:
        return False
    minutes = (span.begin.hour * 60 + span.begin.minute) - (usual.hour * 60 + usual.minute)
    half_day = 12 * 60
    return min(minutes % half_day, -minutes % half_day) <= _USUAL_WITHIN_MINUTES


def _eligible(
    prepared: Prepared, part: Part, asked: Sequence[tuple[OpenQuestion, str | None]]
) -> list[OpenQuestion]:
    """Open questions; also an answered one that a second person now claims in so many words."""
    sender = prepared.stored.message.sender
    is_claim = part.extraction.stance is Stance.CLAIMS
    return [
        question
        for question, answered_by in asked
        if answered_by is None or (is_claim and answered_by != sender)
    ]


def _is_restated(one: Extraction, other: Extraction) -> bool:
    """Whether two extractions are surely the same job: they agree, and share a day or both have none."""
    if not are_compatible(one, other):
        return False
    shares_day = bool(set(one.dates) & set(other.dates)) or not (one.dates or other.dates)
    shares_object = (
        (one.activity and one.activity == other.activity)
        or (one.task and one.task == other.task)
        or (one.child and set(one.child) & set(other.child))
    )
    return shares_day and bool(shares_object)


def _is_undone_by(action: PendingAction, extraction: Extraction) -> bool:
    """Whether a cancellation or move takes the ground from under an open proposal."""
    other = extraction_from_record(action.proposal.extraction)
    if extraction.activity is None or other.activity != extraction.activity:
        return False
    days = {extraction.moved_from} if extraction.moved_from else set(extraction.dates)
    if other.task in _CHANGES or (extraction.child and other.child and not set(extraction.child) & set(other.child)):
        return False
    return not days or not other.dates or bool(days & set(other.dates)) or extraction.task is Task.MOVE


def _is_claim_of(action: PendingAction, person: str, extraction: Extraction) -> bool:
    other = extraction_from_record(action.proposal.extraction)
    return person in other.owners and are_compatible(extraction, other) and are_same_task(extraction.task, other.task)


def _silent(reason: str) -> RedlineOutcome:
    return RedlineOutcome(decision=RedlineDecision.SILENT, rule=None, reason=reason)


def _muted(verdict: RedlineOutcome, reason: str) -> RedlineOutcome:
    return replace(verdict, decision=RedlineDecision.SILENT, reason=reason, speak_at=None)


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
