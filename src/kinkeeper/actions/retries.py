"""Another try of what failed: the same frozen payload, as a new action that needs a new yes."""

from dataclasses import replace
from typing import Unpack

from sqlalchemy import Connection

from kinkeeper.actions import receipts
from kinkeeper.actions.authority import Press, PressDetails, admit
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.proposals import propose
from kinkeeper.actions.receipts import Receipt
from kinkeeper.core.errors import ConflictError

SOURCE = "RETRY"
"""Type of the source of what is tried again; its id is that of the action that failed."""


def try_again(conn: Connection, action_id: str, **press: Unpack[PressDetails]) -> Receipt:
    """Ask once more about an action that failed; asked again, it gives back the same new action.

    Args:
        **press: Who wants it, and what they were shown.

    Returns:
        The receipt of the new action, which awaits a yes.

    Raises:
        NotFoundError: The household has no action with that id.
        ConflictError: The action did not fail, or its words are no longer kept.
    """
    by = Press(**press)
    action = admit(conn, action_id, by)
    if isinstance(action, Receipt):
        return action
    if action.status is not ActionStatus.FAILED:
        raise ConflictError("this did not fail, so there is nothing to retry")
    if not (action.proposal.effects or action.proposal.choices):
        raise ConflictError("its details have been deleted; ask again")
    wanted = replace(
        action.proposal, source_type=SOURCE, source_id=action.id, slot="0", merge_key=None
    )
    again = propose(conn, wanted, household=by.household, now=by.now).action
    if again.status is ActionStatus.PENDING:
        return receipts.asked(again)
    return receipts.settled(again, by.household)
