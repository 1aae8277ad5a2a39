"""Who may read an action: whoever may see all that it touches, before and after."""

from collections.abc import Iterable

from sqlalchemy import Connection, update

from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.registry import read_effects
from kinkeeper.actions.repository import actions_touching
from kinkeeper.actions.tables import pending_actions
from kinkeeper.core.errors import InputError
from kinkeeper.household.viewing import HOUSEHOLD_SCOPE, person_of


def scope_of(conn: Connection, household: str, effects: Iterable[Effect]) -> str:
    """Return the narrowest scope of what effects touch.

    Args:
        conn: Open connection.
        household: Tenant key.
        effects: Typed.

    Raises:
        InputError: They touch what is private to different members: nobody could read all of it.
    """
    scopes = {scope for each in effects for scope in each.scopes(conn, household)}
    private = {scope for scope in scopes if person_of(scope) is not None}
    if len(private) > 1:
        raise InputError("what is private to several people cannot be changed together")
    return private.pop() if private else HOUSEHOLD_SCOPE


def narrow(conn: Connection, done: PendingAction) -> None:
    """Let nobody else read earlier actions about what was just made private, nor what waits about it.

    Args:
        conn: In the transaction that did it.
        done: The action, done.
    """
    proposal = done.proposal
    if person_of(proposal.scope) is None:
        return
    ids = {
        row_id
        for each in read_effects(proposal.household, proposal.effects)
        for row_id in each.touched
    }
    found = actions_touching(conn, proposal.household, proposal.type, ids)
    table = pending_actions.c
    mine = (table.household == proposal.household, table.id.in_([each.id for each in found]))
    conn.execute(
        update(pending_actions)
        .where(*mine, table.scope == HOUSEHOLD_SCOPE)
        .values(scope=proposal.scope)
    )
