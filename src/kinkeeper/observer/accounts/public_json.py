"""Decisions, traces and figures in their public JSON form and as lines of `kinkeeper observe`. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row

from kinkeeper.actions.payload import action_record
from kinkeeper.jobs.leases import WorkState
from kinkeeper.observer.accounts.metrics import LedgerDay, Metrics
from kinkeeper.observer.accounts.traces import Trace

# A decision as one line of `kinkeeper observe`: from the stored row, so that a repeat says the
# same. Pure.

_ACTION_FIELDS = (
    "id",
    "type",
    "status",
    "summary",
    "assigned_to",
    "child",
    "activity",
    "dates",
    "times",
)


def decision_line(row: Row[Any], action: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the line of one message.

    Args:
        action: Record of its pending action, if any.
    """
    extraction = row.extraction
    withdrawn = list(row.withdrawn_actions)
    return {
        "message_id": row.message_id,
        "tier1_decision": row.tier1_decision,
        "tripwire_confidence": row.tripwire_confidence,
        "override": row.override,
        "patterns": list(row.tripwire_patterns),
        "extraction": extraction,
        "extraction_confidence": extraction["extraction_confidence"] if extraction else None,
        "attribution_source": row.attribution_source,
        "brain_relevance": row.brain_relevance,
        "redline_decision": row.redline_decision,
        "redline_trigger_rule": row.redline_trigger_rule,
        "reply": row.reply,
        "buttons": list(row.buttons or ()),
        "action": action_fields(action),
        "withdrawn_action": withdrawn[0] if withdrawn else None,
        "reason": row.state if row.state == WorkState.MANUAL_REVIEW else row.reason,
    }


def further_withdrawals(row: Row[Any]) -> Iterator[dict[str, Any]]:
    """Return a line for each further action that one message took back."""
    for action_id in list(row.withdrawn_actions)[1:]:
        yield withdrawal_line(row.message_id, action_id)


def withdrawal_line(message_id: str, action_id: str) -> dict[str, Any]:
    """Return the line of an action that a message took back or replaced, besides the message's own line."""
    return {"message_id": message_id, "event": "withdrawn", "withdrawn_action": action_id}


def action_fields(action: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the fields of an action that a line carries."""
    return {name: action[name] for name in _ACTION_FIELDS} if action else None


# Traces and figures in their public JSON form. Pure.


def trace_record(trace: Trace) -> dict[str, Any]:
    """Return the way of one message: its decision, the gates as logged, the steps in words."""
    action = action_record(trace.action) if trace.action else None
    return {
        **decision_line(trace.row, action),
        "chat_id": trace.chat_id,
        "sender": trace.sender,
        "sent_at": trace.sent_at.isoformat(),
        "evidence": trace.row.tripwire_evidence,
        "gates": [asdict(gate) for gate in trace.gates],
        "steps": [asdict(step) for step in trace.steps],
    }


def metrics_record(found: Metrics) -> dict[str, Any]:
    """Return a household's figures."""
    return {
        "days": [_day(day) for day in found.days],
        "gates": [
            {
                "stage": gate.stage,
                "passed": gate.passed,
                "failed": gate.failed,
                "without_score": gate.without_score,
            }
            for gate in found.gates
        ],
        "spoken_by_rule": dict(found.spoken_by_rule),
        "spoken_per_day": found.spoken_per_day,
        "actions": {status.value: count for status, count in found.actions.items()},
        "confirmed_share": found.confirmed_share,
        "refusals": {reason.value: count for reason, count in found.refusals.items()},
        "refused_presses": {r.value: count for r, count in found.refused_presses.items()},
        "feedback": {
            "not_right": {r.value: count for r, count in found.feedback.not_right.items()},
            "verdicts": {v.value: count for v, count in found.feedback.verdicts.items()},
            "confusion": found.feedback.confusion,
            "false_speak_share": found.feedback.false_speak_share,
        },
        "manual_review": found.failed,
        "consulted": dict(found.consulted),
        "talk": dict(found.talk),
    }


def _day(day: LedgerDay) -> dict[str, Any]:
    return {
        "day": day.day.isoformat(),
        "messages": day.messages,
        "understood": day.understood,
        "saved": day.saved,
        "spoken": day.spoken,
        "near_misses": [
            {"message_id": miss.message_id, "chat_id": miss.chat_id, "score": miss.score}
            for miss in day.near_misses
        ],
    }
