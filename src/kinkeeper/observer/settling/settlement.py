"""Settles a read message: the half of tier 2 that decides and writes, in one transaction.

In this order: attribution, the household's days, the extraction gate, what goes stale, the rules, the proposal,
the open questions, the line in the outbox, the record. Deciding inside the transaction is what lets two
messages understood at the same time see each other.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, time, timedelta

from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.payload import action_record
from kinkeeper.jobs import leases
from kinkeeper.models.model import Outcome
from kinkeeper.models.repository import insert_fallback
from kinkeeper.observer import repository
from kinkeeper.observer.answers import questions
from kinkeeper.observer.answers.attribution import names_job
from kinkeeper.observer.cards.card_builder import Ground, Proposer, taken_out
from kinkeeper.observer.cards.private_cards import offer
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.consultation import consultation_record
from kinkeeper.observer.extraction.prepared import STAGE, BrainContext, Prepared
from kinkeeper.observer.model import (
    OF_READERS_ALONE,
    Decision,
    Extraction,
    RedlineDecision,
    RedlineOutcome,
    RedlineRule,
    Stance,
    Tier1Decision,
)
from kinkeeper.observer.redline.phrase_templates import Phrasing
from kinkeeper.observer.redline.redline_rules import decide, needs_owner
from kinkeeper.observer.settling.case_builder import CaseBuilder, proposed_effects
from kinkeeper.observer.settling.chat_arrangements import Fold, is_borne_out
from kinkeeper.observer.settling.earlier_cards import (
    Turn,
    absorbed,
    retract_corrected,
    supersede_stale,
    withdraw_stale,
    written_before,
)
from kinkeeper.observer.settling.open_questions import QuestionTracker
from kinkeeper.observer.speaker import Speaker, is_told
from kinkeeper.observer.tables import observer_messages
from kinkeeper.observer.wording.participants import Participants

_NEEDS_CONTEXT_UP_TO = 0.8
_TAKING = frozenset({Stance.ACCEPTS, Stance.CLAIMS})
_MOST_JOBS = 6


class Settlement:
    """Settles the messages of one household."""

    def __init__(
        self, participants: Participants, config: ObserverConfig, speaker: Speaker
    ) -> None:
        self._family = participants.household
        self._household = participants.household.id
        self._config = config
        self._speaker = speaker
        self._cases = CaseBuilder(participants, config)
        self._phrasing = Phrasing(participants=participants, limits=config.limits)
        self._proposer = Proposer(self._phrasing, self._household)
        self._questions = QuestionTracker(self._family, self._proposer, config)
        self._fold = Fold(participants, config, self._proposer)

    def settle(
        self, conn: Connection, prepared: Prepared, *, epoch: int, now: datetime
    ) -> Decision:
        """Decide about a message and write everything that follows, in the caller's transaction.

        Args:
            epoch: The claim under which the work runs.

        Returns:
            What tier 2 decided (tier 1's fields are empty).

        Raises:
            LeaseLostError: Another worker took the row; the transaction must end without effect.
        """
        row_id = str(prepared.stored.id)
        if not prepared.is_heard:
            insert_fallback(
                conn, self._household, stage=STAGE, outcome=Outcome.INVALID_OUTPUT, at=now
            )
        decision, notification = self._decide(conn, prepared, now=now)
        decision = self._folded(conn, prepared, decision, now=now)
        repository.update_settled(
            conn,
            self._household,
            row_id,
            decision,
            notification_id=notification,
            brain=_brain_record(prepared.brain),
            consulted=_consulted(prepared),
            unread_parts=prepared.unread_parts,
            now=now,
        )
        leases.finish(conn, observer_messages, (self._household, row_id), epoch)
        return decision

    def keep(
        self, conn: Connection, prepared: Prepared, *, slot: str, now: datetime
    ) -> PendingAction | None:
        """Keep a plan that a reader alone saw for a person's yes: nothing is said, asked or taken back.

        Args:
            prepared: Its message, with the plan as its only part.
            slot: Tells it from what else the message proposes.

        Returns:
            The action that awaits a person; None where there is nothing that one could confirm.
        """
        part = prepared.parts[0]
        built = self._cases.build(conn, prepared, part, now=now)
        if built.is_dropped:
            return None
        silent = RedlineOutcome.silent("reader_alone")
        base = Decision(
            message_id=prepared.stored.message.message_id,
            tier1=Tier1Decision.QUEUE,
            tripwire_confidence=0.0,
            override=None,
            patterns=(),
            reason=silent.reason,
            redline=silent,
        )
        turn = Turn(
            conn=conn,
            prepared=prepared,
            part=part,
            number=0,
            case=built.case,
            slot=slot,
            question=built.question,
            standing=built.standing,
            pending=built.pending,
            now=now,
            base=base,
        )
        return self._propose(turn, silent)

    def _folded(
        self, conn: Connection, prepared: Prepared, decision: Decision, *, now: datetime
    ) -> Decision:
        """Return a decision with what the arrangements of the chat became of it."""
        taken_back = repository.withdrawn_by(conn, self._household, str(prepared.stored.id))
        mirrored = self._fold.take(conn, prepared, decision, now=now)
        action = decision.action
        if action is None and mirrored.action is not None:
            action = action_record(mirrored.action)
        withdrawn = (*taken_back, *decision.withdrawn_actions, *mirrored.withdrawn)
        return replace(decision, action=action, withdrawn_actions=withdrawn)

    def _decide(
        self, conn: Connection, prepared: Prepared, *, now: datetime
    ) -> tuple[Decision, int | None]:
        """Decide about each part; the message's decision is that of the part that speaks, or acts, or is first."""
        settled = []
        for number in range(len(prepared.parts)):
            each = self._decide_part(conn, prepared, number, now=now)
            settled += [each, *self._decide_rest(conn, prepared, number, each[0], now=now)]
            if each[0].extraction is None or not needs_owner(each[0].extraction):
                questions.close(
                    conn,
                    self._household,
                    prepared.stored.id,
                    status=questions.ANSWERED,
                    by=None,
                    at=now,
                    part=number,
                )
        decision, notification = next(
            (each for each in settled if each[0].reply is not None),
            next((each for each in settled if each[0].action is not None), settled[0]),
        )
        withdrawn = dict.fromkeys(
            action_id for each, _ in settled for action_id in each.withdrawn_actions
        )
        return replace(decision, withdrawn_actions=tuple(withdrawn)), notification

    def _decide_rest(
        self, conn: Connection, prepared: Prepared, number: int, first: Decision, *, now: datetime
    ) -> Iterator[tuple[Decision, int | None]]:
        """Decide on the other jobs of the message answered: a yes that names none of them takes all."""
        said = prepared.parts[number].extraction
        if first.attribution_source is None or said.stance not in _TAKING or names_job(said):
            return
        for count in range(1, _MOST_JOBS):
            left = questions.open_for(
                conn, self._household, prepared.stored.message, except_for=prepared.stored.id
            )
            if not any(each.message_id == first.attribution_source for each in left):
                return
            decision = self._decide_part(conn, prepared, number, again=count, now=now)
            if decision[0].attribution_source != first.attribution_source:
                return
            yield decision

    def _decide_part(
        self, conn: Connection, prepared: Prepared, number: int, *, now: datetime, again: int = 0
    ) -> tuple[Decision, int | None]:
        part = prepared.parts[number]
        set_right = retract_corrected(conn, self._household, part, now=now)
        built = self._cases.build(conn, prepared, part, now=now)
        base = Decision(
            message_id=prepared.stored.message.message_id,
            tier1=Tier1Decision.QUEUE,
            tripwire_confidence=0.0,
            override=None,
            patterns=(),
            reason="extraction",
            extraction=built.case.extraction,
            gates=built.gates,
            attribution_source=built.question.message_id if built.question else None,
            withdrawn_actions=set_right,
        )
        if built.is_dropped:
            return base, None
        if brain_gate := prepared.brain.gate(self._config.brain_min_relevance):
            base = replace(
                base, gates=(*built.gates, brain_gate), brain_relevance=prepared.brain.relevance
            )
        return self._conclude(
            Turn(
                conn=conn,
                prepared=prepared,
                part=part,
                number=number,
                case=built.case,
                slot=f"{number}+{again}" if again else str(number),
                question=built.question,
                standing=built.standing,
                pending=built.pending,
                now=now,
                base=base,
            )
        )

    def _conclude(self, turn: Turn) -> tuple[Decision, int | None]:
        """Apply the rules, then write what follows from them."""
        if turn.extraction.stance is Stance.ACCEPTS and turn.question is None:
            return replace(
                turn.base, redline=RedlineOutcome.silent("acknowledged"), reason="acknowledged"
            ), None
        withdrawn = withdraw_stale(turn, self._family)
        turn = turn.after(withdrawn)
        verdict = self._mute(turn, self._verdict(turn))
        action = self._propose(turn, verdict)
        if action is None and not withdrawn and verdict.reason == "no_rule":
            verdict = RedlineOutcome.silent("nothing_to_confirm")
        self._questions.track(
            turn.conn,
            turn.prepared,
            turn.case,
            answered=turn.question,
            ground=self._ground(turn),
            action=action,
            part=turn.number,
            now=turn.now,
        )
        reply: str | None = None
        buttons: tuple[str, ...] = ()
        notification: int | None = None
        if verdict.decision is RedlineDecision.SPEAK:
            reply = self._phrasing.line(verdict)
            buttons = self._speaker.buttons(action)
            notification = self._speaker.speak(
                turn.conn,
                turn.prepared.stored,
                verdict,
                reply=reply,
                buttons=buttons,
                action_id=action.id if action else None,
                now=turn.now,
            )
        elif action is not None and verdict.speak_at is None and not is_told(verdict):
            offer(turn.conn, self._family, turn.prepared.stored, action, now=turn.now)
        is_degraded = turn.prepared.brain.is_degraded
        decision = replace(
            turn.base,
            redline=verdict,
            reply=reply,
            buttons=buttons,
            action=action_record(action) if action else None,
            withdrawn_actions=(*turn.base.withdrawn_actions, *withdrawn),
            reason="brain_timeout_degraded" if is_degraded else verdict.reason,
        )
        return decision, notification

    def _verdict(self, turn: Turn) -> RedlineOutcome:
        if turn.extraction.stance is Stance.DECLINES and turn.question is not None:
            return RedlineOutcome.silent("declined")
        if _is_edited_too_late(turn):
            return RedlineOutcome.silent("passed")
        if turn.extraction.extractor in OF_READERS_ALONE:
            return RedlineOutcome.silent("reader_alone")
        verdict = decide(turn.case, self._config.rules)
        if verdict.rule is None:
            return verdict
        plain = _by_rules(turn)
        if plain and not decide(replace(turn.case, extraction=plain), self._config.rules).rule:
            return RedlineOutcome.silent("reader_alone")
        outlook = self._fold.outlook(turn.conn, turn.prepared, now=turn.now)
        is_so = is_borne_out(verdict, turn.extraction, outlook, self._family.zone)
        return verdict if is_so else RedlineOutcome.silent("not_agreed")

    def _mute(self, turn: Turn, verdict: RedlineOutcome) -> RedlineOutcome:
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
                verdict,
                decision=RedlineDecision.SILENT,
                reason="low_confidence_no_brain",
                speak_at=None,
            )
        return self._speaker.mute(turn.conn, verdict, now=turn.now)

    def _ground(self, turn: Turn) -> Ground:
        maintenance = turn.part.reading.of_kind("maintenance")
        message = turn.prepared.stored.message
        return Ground(
            case=turn.case,
            row_id=turn.source,
            slot=turn.slot,
            chat_id=message.chat_id,
            sender=turn.sender,
            scope=turn.prepared.scope,
            default_duration=self._config.rules.default_duration,
            maintenance=maintenance[0].id if maintenance else None,
            replaces=written_before(turn, self._household),
            frees=taken_out(turn.standing.slot, turn.standing.leaving),
            away=self._away(turn),
        )

    def _away(self, turn: Turn) -> frozenset[str]:
        """Return who is away on all days of a job that nobody has."""
        if turn.extraction.owners or not turn.extraction.dates:
            return frozenset()
        state = self._fold.outlook(turn.conn, turn.prepared, now=turn.now).before.state
        return frozenset.intersection(*(state.away(day) for day in turn.extraction.dates))

    def _propose(self, turn: Turn, verdict: RedlineOutcome) -> PendingAction | None:
        if turn.extraction.stance is Stance.DECLINES and turn.question is not None:
            return None
        if turn.extraction.stance is Stance.WITHDRAWS and turn.standing.slot is None:
            return None
        if _is_edited_too_late(turn):
            return None
        taken_in = absorbed(turn, verdict)
        proposal = self._proposer.propose(
            self._ground(turn), verdict, [tuple(proposed_effects(each)) for each in taken_in]
        )
        if proposal is None:
            return None
        result = proposals.propose(turn.conn, proposal, household=self._family, now=turn.now)
        if result.is_new:
            supersede_stale(turn, self._household, taken_in, by_action_id=result.action.id)
        return result.action


def _by_rules(turn: Turn) -> Extraction | None:
    """Return what is said without what the trained reader filled in; None where that is nothing."""
    read, now, said = turn.part.by_rules, turn.part.extraction, turn.extraction
    if read is None or (read.child, read.assigned_to, read.activity) == (
        now.child,
        now.assigned_to,
        now.activity,
    ):
        return None
    return replace(
        said,
        child=said.child if read.child == now.child else read.child,
        assigned_to=said.assigned_to if read.assigned_to == now.assigned_to else read.assigned_to,
        activity=said.activity if read.activity == now.activity else read.activity,
    )


def _is_edited_too_late(turn: Turn) -> bool:
    """Whether a message was edited when what it concerns was over."""
    dates = turn.extraction.dates
    if turn.prepared.original is None or not dates:
        return False
    case = turn.case
    ends = [case.interval(day, timedelta()) for day in dates]
    return all(
        interval.end < turn.now if interval is not None else case.at(day, time.max) < turn.now
        for day, interval in zip(dates, ends, strict=True)
    )


def _rests_on_memory(turn: Turn) -> bool:
    """Whether only memory could tell that the job exists: a mere mention of something unknown."""
    if turn.extraction.stance is Stance.ASKS or turn.part.reading.is_question:
        return False
    return not turn.case.schedule.series and turn.extraction.task is None


def _consulted(prepared: Prepared) -> list[dict[str, object]] | None:
    asked = [part.consultation for part in prepared.parts if part.consultation is not None]
    return [consultation_record(each) for each in asked] or None


def _brain_record(brain: BrainContext) -> dict[str, object] | None:
    if not brain.queries:
        return None
    return {
        "queries": [query.text for query in brain.queries],
        "answers": [
            {"relevance": a.relevance, "summary": a.summary, "items": [dict(i) for i in a.items]}
            for a in brain.answers
        ],
        "trouble": brain.trouble,
    }
