"""A decision as one line of `kinkeeper observe`: from the stored row, so that a repeat says the same. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Row

from kinkeeper.jobs.leases import WorkState

_ACTION_FIELDS = (
    "id", "type", "status", "summary", "assigned_to", "child", "activity", "dates", "times",
)  # fmt: skip


def decision_line(row: Row[Any], action: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the line of one message.

    Args:
        row: Its decision row.
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
