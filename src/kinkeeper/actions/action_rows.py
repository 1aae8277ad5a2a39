"""Pending actions as rows of the database, and back. Pure."""

from collections.abc import Mapping
from typing import Any

from kinkeeper.actions.consent import Origin, Stakes
from kinkeeper.actions.model import ActionStatus, ActionType, Choice, PendingAction, Proposal
from kinkeeper.actions.payload import choice_json, plain
from kinkeeper.actions.scope import days_of


def successor_slot(slot: str) -> str:
    """Return the slot of what an expired action is brought back as: "0" becomes "0~1", then "0~2"."""
    first, _, number = slot.partition("~")
    return f"{first}~{int(number or 0) + 1}"


def action_row(action: PendingAction) -> dict[str, Any]:
    """Return the row of an action."""
    proposal = action.proposal
    first_day, last_day = days_of(proposal) or (None, None)
    return {
        "household": proposal.household,
        "id": action.id,
        "scope": proposal.scope,
        "type": proposal.type.value,
        "origin": proposal.origin.value,
        "source_type": proposal.source_type,
        "source_id": proposal.source_id,
        "slot": proposal.slot,
        "chat_id": proposal.chat_id,
        "first_day": first_day,
        "last_day": last_day,
        "subject": proposal.extraction.get("activity"),
        "extraction": plain(proposal.extraction),
        "extraction_confidence": proposal.extraction_confidence,
        "summary": proposal.summary,
        "suggested_event": plain(proposal.suggested_event),
        "stakes": proposal.stakes.value,
        "request": plain(proposal.request),
        "effects": plain(proposal.effects),
        "choices": [choice_json(choice) for choice in proposal.choices],
        "merge_key": proposal.merge_key,
        "conflict_key": proposal.conflict_key,
        "payload_hash": action.payload_hash,
        "version": action.version,
        "created_at": action.created_at,
        "expires_at": action.expires_at,
        **state_row(action),
    }


def state_row(action: PendingAction) -> dict[str, Any]:
    """Return the part of an action's row that changes when it is moved on."""
    return {
        "status": action.status.value,
        "decided_at": action.decided_at,
        "decided_by": action.decided_by,
        "choice": action.choice,
        "receipt": plain(action.receipt),
        "undone_at": action.undone_at,
        "undone_by": action.undone_by,
    }


def action_from_row(row: Mapping[str, Any]) -> PendingAction:
    """Return the action of a row."""
    return PendingAction(
        id=row["id"],
        proposal=_proposal(row),
        payload_hash=row["payload_hash"],
        version=row["version"],
        status=ActionStatus(row["status"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        decided_at=row["decided_at"],
        decided_by=row["decided_by"],
        choice=row["choice"],
        receipt=row["receipt"],
        undone_at=row["undone_at"],
        undone_by=row["undone_by"],
    )


def _proposal(row: Mapping[str, Any]) -> Proposal:
    return Proposal(
        household=row["household"],
        scope=row["scope"],
        type=ActionType(row["type"]),
        origin=Origin(row["origin"]),
        source_type=row["source_type"],
        source_id=row["source_id"],
        slot=row["slot"],
        chat_id=row["chat_id"],
        extraction=row["extraction"],
        extraction_confidence=row["extraction_confidence"],
        summary=row["summary"],
        effects=tuple(row["effects"]),
        choices=tuple(
            Choice(label=each["label"], effects=tuple(each["effects"]), result=each["result"])
            for each in row["choices"]
        ),
        merge_key=row["merge_key"],
        suggested_event=row["suggested_event"],
        conflict_key=row["conflict_key"],
        stakes=Stakes(row["stakes"]),
        request=row["request"],
    )
