"""Lets a press through to its action, or counts it and tells why not."""

from sqlalchemy import Connection

from kinkeeper.actions import receipts
from kinkeeper.actions.audience import is_own_affair
from kinkeeper.actions.authority import Press, may_decide, objection
from kinkeeper.actions.journal import record_refusal
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.receipts import Receipt
from kinkeeper.actions.registry import read_effects
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.states import Refusal
from kinkeeper.core.errors import NotFoundError
from kinkeeper.household.viewers import is_hidden_from


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
    if is_hidden_from(action.proposal.scope, press.member.id):
        raise NotFoundError(f"there is no action {action_id!r}", action_id=action_id)
    reason = objection(action, press)
    if reason is None and not may_decide(press) and not _is_theirs(conn, action, press):
        reason = Refusal.DENIED
    if reason is None:
        return action
    count(conn, action, press, reason)
    return receipts.refused(action, reason)


def _is_theirs(conn: Connection, action: PendingAction, press: Press) -> bool:
    """Whether all that an action would write is one member's own affair; that only they see its card proves nothing.

    A card is also theirs alone because they asked to keep it secret.
    """
    proposal = action.proposal
    ways = [proposal.effects, *(each.effects for each in proposal.choices)]
    effects = [each for way in ways for each in read_effects(proposal.household, way)]
    return is_own_affair(conn, press.household, effects, press.member)


def count(conn: Connection, action: PendingAction, press: Press, reason: Refusal) -> None:
    """Count a press that changed nothing."""
    household = action.proposal.household
    record_refusal(conn, household, action.id, reason=reason, by=press.member.id, at=press.now)
