"""Lets a press through to its action, or counts it and tells why not."""

from sqlalchemy import Connection

from kinkeeper.actions import receipts
from kinkeeper.actions.authority import Press, objection
from kinkeeper.actions.journal import record_refusal
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.receipts import Receipt
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.states import Refusal
from kinkeeper.core.errors import NotFoundError
from kinkeeper.household.viewing import person_of


def admit(conn: Connection, action_id: str, press: Press) -> PendingAction | Receipt:
    """Return the action if this press may reach it, otherwise the receipt that says why not.

    Args:
        conn: Open connection, in a write transaction; the action's row is held until its end.
        action_id: Full id.
        press: Who presses, and what they were shown.

    Raises:
        NotFoundError: The household has no action with that id, or it is about what is private to another: a receipt
            would tell of it.
    """
    action = load_action(conn, press.household.id, action_id, for_update=True)
    if person_of(action.proposal.scope) not in {None, press.member.id}:
        raise NotFoundError(f"there is no action {action_id!r}", action_id=action_id)
    reason = objection(action, press)
    if reason is None:
        return action
    count(conn, action, press, reason)
    return receipts.refused(action, reason)


def count(conn: Connection, action: PendingAction, press: Press, reason: Refusal) -> None:
    """Count a press that changed nothing."""
    household = action.proposal.household
    record_refusal(conn, household, action.id, reason=reason, by=press.member.id, at=press.now)
