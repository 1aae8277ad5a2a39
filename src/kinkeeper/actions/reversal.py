"""Taking back what was done, and proposing again what expired or failed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

from sqlalchemy import Connection

from kinkeeper.actions import receipts
from kinkeeper.actions.action_writes import advance
from kinkeeper.actions.authority import Press, PressDetails, admit, count
from kinkeeper.actions.effects.contract import Execution
from kinkeeper.actions.journal import list_transitions
from kinkeeper.actions.model import ActionStatus, Cause, PendingAction, Refusal
from kinkeeper.actions.payload import successor_slot
from kinkeeper.actions.proposals import expire_if_due, propose
from kinkeeper.actions.receipts import Outcome, Receipt, settled
from kinkeeper.actions.registry import effect_kind, reaches_outside
from kinkeeper.actions.repository import find_mergeable, find_of_slot, load_action
from kinkeeper.core.errors import ConflictError, DeniedError, NotFoundError
from kinkeeper.core.time import as_utc

# Bringing back what expired: the same frozen payload, as a new action that needs a confirmation of
# its own.


def restore(conn: Connection, action_id: str, **press: Unpack[PressDetails]) -> Receipt:
    """Ask once more about what expired; asked again, it gives back the same new action.

    The new action has the payload, the scope and the source of the first one, so a message that takes back
    the plan later still withdraws it.

    Args:
        **press: Who wants it, and what they were shown.

    Returns:
        The receipt of the new action, which waits for a confirmation; of the first one where it did not expire.

    Raises:
        NotFoundError: The household has no action with that id.
        ConflictError: What it would write is no longer kept.
    """
    by = Press(**press)
    action = admit(conn, action_id, by)
    if isinstance(action, Receipt):
        return action
    action = _latest(conn, expire_if_due(conn, action, by.now), by)
    if action.status is not ActionStatus.EXPIRED:
        return receipts.settled(action, by.household)
    proposal = action.proposal
    if not (proposal.effects or proposal.choices):
        raise ConflictError("its details have been deleted; say it again instead")
    wanted = replace(proposal, slot=successor_slot(proposal.slot), merge_key=None)
    new = propose(conn, wanted, household=by.household, now=by.now, restored_by=by.member.id).action
    return receipts.restored(new)


def put_back(conn: Connection, action: PendingAction, press: Press) -> Receipt | None:
    """Undo a restoration: what was brought back counts as expired again.

    Args:
        action: As just read; the press was let through to it.

    Returns:
        The receipt; None where the action does not wait, or was not brought back.
    """
    first = list_transitions(conn, press.household.id, action.id)[:1]
    if (
        action.status is not ActionStatus.PENDING
        or not first
        or first[0].cause is not Cause.RESTORE
    ):
        return None
    at = as_utc(press.now)
    expired = advance(conn, action, Cause.PUT_BACK, at=at, by=press.member.id, decided_at=at)
    if expired is None:
        return receipts.settled(load_action(conn, press.household.id, action.id), press.household)
    message = f"Expired again: {expired.proposal.summary}"
    return Receipt(action=expired, outcome=Outcome.UNDONE, message=message, is_change=True)


def _latest(conn: Connection, action: PendingAction, press: Press) -> PendingAction:
    """Return what an expired action was brought back as, or who says the same by now; else the action itself."""
    while action.status is ActionStatus.EXPIRED:
        proposal = action.proposal
        following = find_of_slot(
            conn,
            proposal.household,
            source_type=proposal.source_type,
            source_id=proposal.source_id,
            slot=successor_slot(proposal.slot),
        )
        if following is None and proposal.merge_key is not None:
            following = find_mergeable(
                conn,
                proposal.household,
                proposal.merge_key,
                created_since=action.created_at,
                now=press.now,
            )
        if following is None:
            break
        action = expire_if_due(conn, following, press.now)
    return action


# Taking back what was done: everything an action wrote, in reverse, or nothing.


def undo(conn: Connection, action_id: str, **press: Unpack[PressDetails]) -> Receipt:
    """Take back a done action, once, in the caller's transaction.

    What has changed since stays as it is: then nothing is taken back, the receipt names it, and a
    later try is possible.

    Args:
        **press: Who decides, and what they were shown.

    Raises:
        NotFoundError: The household has no action with that id.
    """
    by = Press(**press)
    action = admit(conn, action_id, by)
    if isinstance(action, Receipt):
        return action
    if (receipt := put_back(conn, action, by)) is not None:
        return receipt
    if action.status is ActionStatus.EXECUTING:
        return _nothing(action, "This is in progress and can only be undone once it is finished.")
    if action.status is not ActionStatus.DONE:
        return _nothing(action, "This changed nothing, so there is nothing to undo.")
    if action.undone_at is not None:
        count(conn, action, by, Refusal.DUPLICATE)
        return settled(action, by.household)
    return _take_back(conn, action, by)


def _take_back(conn: Connection, action: PendingAction, press: Press) -> Receipt:
    written: Sequence[Any] = (action.receipt or {}).get("written", ())
    if not written:
        return _nothing(action, "This wrote nothing, so there is nothing to undo.")
    undos = [effect_kind(each["effect"]).undo for each in written]
    possible = [undo_effect for undo_effect in undos if undo_effect is not None]
    if len(possible) < len(written):
        return _nothing(action, "This cannot be undone.")
    try:
        with conn.begin_nested():
            for each, undo_effect in zip(reversed(written), reversed(possible), strict=True):
                undo_effect(conn, _execution(action, each["change_id"], press))
    except (ConflictError, NotFoundError) as error:
        return Receipt(
            action=action,
            outcome=Outcome.CHANGED,
            message=f"Not undone, because something has changed since: {error}.",
        )
    except DeniedError as error:
        return Receipt(action=action, outcome=Outcome.CHANGED, message=f"Not undone: {error}.")
    by, at = press.member.id, as_utc(press.now)
    undone = advance(conn, action, Cause.UNDO, at=at, by=by, undone_at=at, undone_by=by)
    if undone is None:
        return settled(load_action(conn, press.household.id, action.id), press.household)
    return Receipt(
        action=undone,
        outcome=Outcome.UNDONE,
        message=f"{'Being undone' if reaches_outside(written) else 'Undone'}: {undone.proposal.summary}",
        is_change=True,
    )


def _execution(action: PendingAction, change_id: str, press: Press) -> Execution:
    return Execution(
        household=action.proposal.household,
        action_id=action.id,
        change_id=change_id,
        decided_by=press.member.id,
        at=press.now,
    )


def _nothing(action: PendingAction, message: str) -> Receipt:
    return Receipt(action=action, outcome=Outcome.NOT_UNDOABLE, message=message)
