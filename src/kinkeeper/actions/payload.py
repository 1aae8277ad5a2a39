"""What is frozen when something is proposed: its hash, how it is shown, its days, and how it lies in its row."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from kinkeeper.actions.consent import Origin, Stakes
from kinkeeper.actions.model import ActionStatus, ActionType, Choice, PendingAction, Proposal
from kinkeeper.core import ids
from kinkeeper.core.time import as_utc

_SHOWN_LISTS = ("assigned_to", "child", "dates", "times")


def payload_hash(proposal: Proposal, *, version: int) -> str:
    """Return the SHA-256 of everything a person is shown and that would be written.

    Args:
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


# Which open actions a message can be about: those on its days, of its activities, or named. Pure.

_DAY = timedelta(days=1)
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d(?=T|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a message is about; an action that names no day can be about anything.

    Attributes:
        first_day: Local.
        last_day: Local, not before `first_day`.
        subjects: Activities; actions about them count whatever their day.
        action_ids: Actions that count in any case.
    """

    first_day: date
    last_day: date
    subjects: frozenset[str]
    action_ids: frozenset[str]


def days_of(proposal: Proposal) -> tuple[str, str] | None:
    """Return the first and last day that a proposal can touch, as ISO text.

    Every day that its payload names counts, and one more on both sides, since an instant stands on
    different days in different zones.

    Returns:
        None where it, or one of its effects, names no day: it can touch any.
    """
    effects = [*proposal.effects, *(e for choice in proposal.choices for e in choice.effects)]
    extraction = proposal.extraction
    parts = [{key: extraction.get(key) for key in ("dates", "moved_from")}] if not effects else []
    named = [set(_days(plain(part))) for part in (*effects, *parts)]
    if not all(named):
        return None
    days = set().union(*named, _days([extraction.get("dates"), extraction.get("moved_from")]))
    return (min(days) - _DAY).isoformat(), (max(days) + _DAY).isoformat()


def _days(value: Any) -> Iterator[date]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _days(item)
    elif isinstance(value, str) and (found := _ISO_DAY.match(value)):
        yield date.fromisoformat(found[0])


# Pending actions as rows of the database, and back. Pure.


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
