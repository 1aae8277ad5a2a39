"""Taking back what was done: everything an action wrote, in reverse, or nothing."""

from collections.abc import Sequence
from typing import Any, Unpack

from sqlalchemy import Connection

from kinkeeper.actions.action_writes import advance
from kinkeeper.actions.admission import admit, count
from kinkeeper.actions.authority import Press, PressDetails
from kinkeeper.actions.effects.contract import Execution
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.receipts import Outcome, Receipt, settled
from kinkeeper.actions.registry import effect_kind, reaches_outside
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.restore import put_back
from kinkeeper.actions.states import Cause, Refusal
from kinkeeper.core.errors import ConflictError, DeniedError, NotFoundError
from kinkeeper.core.time import as_utc


def undo(conn: Connection, action_id: str, **press: Unpack[PressDetails]) -> Receipt:
    """Take back a done action, once, in the caller's transaction.

    What has changed since stays as it is: then nothing is taken back, the receipt names it, and a
    later try is possible.

    Args:
        conn: Open connection, in a write transaction.
        action_id: Full id.
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
