"""Pending actions in the database, written: a new one, and one that is moved on by exactly one transition."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, bindparam, insert, update

from kinkeeper.actions.button_removal import announce
from kinkeeper.actions.journal import record_transition
from kinkeeper.actions.model import ActionStatus, Cause, PendingAction, Proposal, step
from kinkeeper.actions.payload import action_row, payload_hash, state_row
from kinkeeper.actions.tables import action_sources, pending_actions, press_tokens
from kinkeeper.store.prepared import Prepared

_actions = pending_actions.c
_INSERT = Prepared(insert(pending_actions), pending_actions.c.keys())
_INSERT_SOURCE = Prepared(insert(action_sources), action_sources.c.keys())


def insert_action(conn: Connection, action: PendingAction) -> None:
    """Write a new action."""
    _INSERT.execute(conn, action_row(action))


def insert_source(
    conn: Connection, action: PendingAction, source: Mapping[str, str], *, at: datetime
) -> None:
    """Note a source that asks for an action.

    Args:
        source: Its source_type, source_id and slot.
    """
    values = {"household": action.proposal.household, "action_id": action.id, "added_at": at}
    _INSERT_SOURCE.execute(conn, {**values, **source})


def advance(
    conn: Connection,
    action: PendingAction,
    cause: Cause,
    *,
    at: datetime,
    by: str | None = None,
    detail: str | None = None,
    **changes: Any,
) -> PendingAction | None:
    """Move an action on by one transition, journal it and tell, if it still stands as last read.

    One conditional statement: of several who try at once, one succeeds.

    Args:
        action: As last read.
        by: Member id of the person who decides.
        changes: Further fields of `PendingAction` to set, of those in `state_row`.

    Returns:
        The action as it is now stored, or None where somebody else was first.

    Raises:
        InvariantError: There is no such transition.
    """
    transition = step(action.status, cause, at=at, by=by, detail=detail)
    moved = replace(action, status=transition.to_status, **changes)
    row = state_row(moved)
    as_read = {
        "of_household": action.proposal.household,
        "of_action": action.id,
        "was": action.status.value,
    }
    changed = tuple(sorted({"status", *changes}))
    if not _advancing(changed).execute(conn, as_read | {f"{name}_": row[name] for name in changed}):
        return None
    record_transition(conn, action.proposal.household, action.id, transition)
    announce(conn, moved, now=at)
    return moved


def extend(conn: Connection, action: PendingAction, *, until: datetime) -> None:
    """Let an action that still waits expire later.

    Args:
        action: As last read.
        until: Aware, after the present expiry.
    """
    mine = (_actions.household == action.proposal.household, _actions.id == action.id)
    waits = _actions.status == ActionStatus.PENDING.value
    conn.execute(update(pending_actions).where(*mine, waits).values(expires_at=until))


def note_confidence(conn: Connection, action: PendingAction, confidence: float) -> None:
    """Keep how sure it is by now that an action that still waits is meant; what people are shown stays.

    Args:
        action: As last read.
        confidence: In [0, 1].
    """
    mine = (_actions.household == action.proposal.household, _actions.id == action.id)
    waits = _actions.status == ActionStatus.PENDING.value
    conn.execute(
        update(pending_actions).where(*mine, waits).values(extraction_confidence=confidence)
    )


def refreeze(conn: Connection, action: PendingAction, proposal: Proposal) -> None:
    """Write what an action that still waits would do in other terms; buttons that show it stay good.

    Args:
        action: As last read.
        proposal: Says the same to people, and differs in what it would write alone.
    """
    frozen = payload_hash(proposal, version=action.version)
    row = action_row(replace(action, proposal=proposal, payload_hash=frozen))
    mine = (_actions.household == proposal.household, _actions.id == action.id)
    names = ("effects", "choices", "suggested_event", "payload_hash")
    conn.execute(
        update(pending_actions)
        .where(*mine, _actions.status == ActionStatus.PENDING.value)
        .values({name: row[name] for name in names})
    )
    tokens = press_tokens.c
    conn.execute(
        update(press_tokens)
        .where(
            tokens.household == proposal.household,
            tokens.action_id == action.id,
            tokens.payload_hash == action.payload_hash,
        )
        .values(payload_hash=frozen)
    )


@cache
def _advancing(changed: tuple[str, ...]) -> Prepared:
    """Return the statement that changes these columns of an action that still stands as it was read."""
    return Prepared(
        update(pending_actions)
        .where(
            _actions.household == bindparam("of_household"),
            _actions.id == bindparam("of_action"),
            _actions.status == bindparam("was"),
            _actions.undone_at.is_(None),
        )
        .values({name: bindparam(f"{name}_", type_=_actions[name].type) for name in changed})
        .returning(_actions.id)
    )
