"""The one producer of messages to the group: mutes what may not be said, writes the outbox, asks late questions."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row

from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.payload import action_record
from kinkeeper.core.time import from_text, local_days
from kinkeeper.household.model import Household
from kinkeeper.messaging import inbox, outbox
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.messaging.outbound import Button, Outbound, OutboundState, Verb
from kinkeeper.observer import repository
from kinkeeper.observer.answers import questions
from kinkeeper.observer.arrangement_rows import ChatRows
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.model import RedlineDecision, RedlineOutcome, RedlineRule
from kinkeeper.observer.quiet_requests import REASON as QUIET
from kinkeeper.observer.quiet_requests import quiet_until
from kinkeeper.observer.redline.phrase_templates import Phrasing

REPLAY = "replay"
_SAME_CONFLICT = timedelta(hours=24)
_ANNOUNCED, _DECIDED = "already_announced", "already_decided"


class Speaker:
    """Speaks in the groups of one household, under its limits."""

    def __init__(self, family: Household, phrasing: Phrasing, config: ObserverConfig) -> None:
        self._family = family
        self._household = family.id
        self._phrasing = phrasing
        self._config = config

    def mute(self, conn: Connection, verdict: RedlineOutcome, *, now: datetime) -> RedlineOutcome:
        """Return the verdict, silenced if it was announced within a day, quiet is wanted, or enough was said."""
        if verdict.decision is RedlineDecision.SILENT and verdict.speak_at is None:
            return verdict
        if verdict.conflict_key and outbox.was_announced(
            conn, self._household, verdict.conflict_key, since=now - _SAME_CONFLICT
        ):
            return _muted(verdict, _ANNOUNCED)
        if verdict.conflict_key and action_rows.is_conflict_decided(
            conn, self._household, verdict.conflict_key
        ):
            return _muted(verdict, _DECIDED)
        if verdict.decision is RedlineDecision.SPEAK and quiet_until(
            conn, self._household, now=now
        ):
            return _muted(verdict, QUIET)
        if (
            verdict.decision is RedlineDecision.SPEAK
            and self._spoken_today(conn, now) >= self._config.max_speak_per_day
        ):
            return _muted(verdict, "daily_limit")
        return verdict

    def buttons(self, action: PendingAction | None) -> tuple[str, ...]:
        """Return the labels under a message: the ways its action can be resolved."""
        if action is None:
            return ()
        return tuple(choice.label for choice in action.proposal.choices)

    def speak(
        self,
        conn: Connection,
        stored: StoredMessage,
        verdict: RedlineOutcome,
        *,
        reply: str,
        buttons: Sequence[str],
        action_id: str | None,
        now: datetime,
    ) -> int:
        """Put the line into the outbox; returns its row id. A replay's lines count as delivered."""
        message = stored.message
        line = Outbound(
            channel=message.channel,
            chat_id=message.chat_id,
            body=reply,
            dedupe_key=f"observer:{stored.id}:{verdict.rule}",
            reply_to=message.message_id,
            buttons=tuple(Button(label=each, verb=Verb.CHOOSE, choice=each) for each in buttons),
            conflict_key=verdict.conflict_key,
            action_id=action_id,
            deliver_by=_useful_until(verdict, now),
        )
        state = OutboundState.SENT if message.channel == REPLAY else OutboundState.QUEUED
        row_id, _ = outbox.put(conn, self._household, line, state=state, now=now)
        return row_id

    def ask_late(self, conn: Connection, row: Row[Any], *, now: datetime) -> dict[str, Any] | None:
        """Ask a question whose grace has ended, unless it was settled meanwhile.

        Args:
            row: The asking message's decision row.
            now: Aware; at or after its `speak_at`. A job whose time has passed is no longer asked about.

        Returns:
            What is said: reply, buttons and the action's record; None where it stays silent.
        """
        found = questions.find(conn, self._household, int(row.id))
        stored = inbox.load(conn, self._household, int(row.id))
        if found is None or found[1] != questions.OPEN or stored is None:
            repository.cancel_deferred(conn, self._household, row.id, reason="question_settled")
            return None
        question = found[0]
        action = self._open_action(conn, question.action_id)
        rows = ChatRows(conn, self._household, stored.message.chat_id)
        is_settled = question.action_id is not None and action is None
        if is_settled or rows.load(now).is_taken(stored.message.message_id, self._family):
            repository.cancel_deferred(conn, self._household, row.id, reason="question_settled")
            return None
        facts = {**row.redline_facts, "child": list(question.extraction.child)}
        verdict = self.mute(
            conn,
            RedlineOutcome(
                decision=RedlineDecision.SPEAK,
                rule=RedlineRule(row.redline_trigger_rule),
                reason=row.redline_trigger_rule,
                facts=facts,
                conflict_key=row.conflict_key,
            ),
            now=now,
        )
        if verdict.decision is RedlineDecision.SILENT or _has_passed(row, now):
            reason = verdict.reason if verdict.decision is RedlineDecision.SILENT else "too_late"
            repository.cancel_deferred(conn, self._household, row.id, reason=reason)
            return None
        reply = self._phrasing.line(verdict)
        buttons = self.buttons(action)
        notification = self.speak(
            conn,
            stored,
            verdict,
            reply=reply,
            buttons=buttons,
            action_id=action.id if action else None,
            now=now,
        )
        repository.update_deferred(
            conn,
            self._household,
            row.id,
            reply=reply,
            buttons=buttons,
            reason=verdict.reason,
            notification_id=notification,
            now=now,
        )
        return {
            "reply": reply,
            "buttons": list(buttons),
            "action": action_record(action) if action else None,
            "reason": verdict.reason,
        }

    def _open_action(self, conn: Connection, action_id: str | None) -> PendingAction | None:
        if action_id is None:
            return None
        action = action_rows.load_action(conn, self._household, action_id)
        return action if action.status is ActionStatus.PENDING else None

    def _spoken_today(self, conn: Connection, now: datetime) -> int:
        today = now.astimezone(self._family.zone).date()
        day = local_days(today, today, self._family.zone)
        return outbox.count_unprompted(conn, self._household, since=day.start, until=day.end)


def is_told(verdict: RedlineOutcome) -> bool:
    """Whether people have heard of it before: it was announced, or decided."""
    return verdict.reason in {_ANNOUNCED, _DECIDED}


def _muted(verdict: RedlineOutcome, reason: str) -> RedlineOutcome:
    return replace(verdict, decision=RedlineDecision.SILENT, reason=reason, speak_at=None)


def _useful_until(verdict: RedlineOutcome, now: datetime) -> datetime | None:
    """Return when what a line is about begins: later it only disturbs."""
    text = verdict.facts.get("starts_at")
    starts_at = None if text is None else from_text(text)
    return starts_at if starts_at is not None and starts_at > now else None


def _has_passed(row: Row[Any], now: datetime) -> bool:
    starts_at = row.redline_facts.get("starts_at")
    return starts_at is not None and from_text(starts_at) <= now
