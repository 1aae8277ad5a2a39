"""Traces and figures in their public JSON form. Pure."""

from dataclasses import asdict
from typing import Any

from kinkeeper.actions.payload import action_record
from kinkeeper.observer.accounts.lines import decision_line
from kinkeeper.observer.accounts.metrics import LedgerDay, Metrics
from kinkeeper.observer.accounts.trace import Trace


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
