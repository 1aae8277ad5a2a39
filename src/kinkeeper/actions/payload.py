"""What is frozen when something is proposed: its plain form, its hash, and how it is shown. Pure."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from kinkeeper.actions.model import Choice, PendingAction, Proposal
from kinkeeper.core import ids
from kinkeeper.core.time import as_utc

_SHOWN_LISTS = ("assigned_to", "child", "dates", "times")


def payload_hash(proposal: Proposal, *, version: int) -> str:
    """Return the SHA-256 of everything a person is shown and that would be written.

    Args:
        proposal: What is frozen.
        version: Counts its changes, from 1.
    """
    return ids.payload_hash(
        {
            "household": proposal.household,
            "origin": proposal.origin.value,
            "type": proposal.type.value,
            "summary": proposal.summary,
            "suggested_event": plain(proposal.suggested_event),
            "effects": plain(proposal.effects),
            "choices": [choice_json(choice) for choice in proposal.choices],
            "shown": shown_fields(proposal.extraction),
            "stakes": proposal.stakes.value,
            "request": plain(proposal.request),
            "version": version,
        }
    )


def plain(value: Any) -> Any:
    """Return a value made of dictionaries, lists and scalars only, as JSON would give it back."""
    # Nearly all that a list of things holds; whether it is a mapping costs ten times as much to ask.
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def choice_json(choice: Choice) -> dict[str, Any]:
    """Return a choice in the form it is stored and hashed."""
    return {"label": choice.label, "effects": plain(choice.effects), "result": choice.result}


def shown_fields(extraction: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an extraction that are shown with an action; no words of the chat."""
    lists: dict[str, Any] = {name: plain(extraction.get(name) or []) for name in _SHOWN_LISTS}
    return lists | {"activity": extraction.get("activity")}


def shown_lines(shown: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return all that a person must see before a yes, name and value, verbatim: whoever says yes has seen it.

    Args:
        shown: By name, as frozen with a request.
    """
    return tuple((name.replace("_", " "), _told(value)) for name, value in shown.items() if value)


def action_record(action: PendingAction) -> dict[str, Any]:
    """Return an action in its public JSON form; instants as ISO 8601 with offset, or None."""
    proposal = action.proposal
    return {
        "id": action.id,
        "type": proposal.type.value,
        "status": action.status.value,
        "summary": proposal.summary,
        **shown_fields(proposal.extraction),
        "origin": proposal.origin.value,
        "source_type": proposal.source_type,
        "source_id": proposal.source_id,
        "chat_id": proposal.chat_id,
        "extraction": plain(proposal.extraction),
        "extraction_confidence": proposal.extraction_confidence,
        "suggested_event": plain(proposal.suggested_event),
        "confirm_payload": {
            "hash": action.payload_hash,
            "version": action.version,
            "effects": plain(proposal.effects),
            "choices": [choice_json(choice) for choice in proposal.choices],
        },
        "choices": [choice.label for choice in proposal.choices],
        "conflict_key": proposal.conflict_key,
        "stakes": proposal.stakes.value,
        "request": plain(proposal.request) or None,
        "shown": plain(proposal.request.get("shown", {})),
        "created_at": _iso(action.created_at),
        "expires_at": _iso(action.expires_at),
        **_decision(action),
        "receipt": plain(action.receipt),
        "undone_at": _iso(action.undone_at),
        "undone_by": action.undone_by,
    }


def _told(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return json.dumps(plain(value), ensure_ascii=False)


def _decision(action: PendingAction) -> dict[str, Any]:
    """Return who settled it and when; `confirmed_…` only where that was a yes."""
    is_confirmed = action.is_confirmed
    return {
        "decided_at": _iso(action.decided_at),
        "decided_by": action.decided_by,
        "confirmed_at": _iso(action.decided_at) if is_confirmed else None,
        "confirmed_by": action.decided_by if is_confirmed else None,
        "choice": action.choice,
    }


def _iso(instant: datetime | None) -> str | None:
    return None if instant is None else as_utc(instant).isoformat()
