"""Who may read an action, and whether it is one member's own affair.

What is changed is judged by who sees it before the change and by who made it, never by who alone sees it afterwards.
"""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect, Touched
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.repository import actions_touching, narrow_scope
from kinkeeper.core.errors import InputError
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, narrowest, person_of, surprise_scope


def scope_of(conn: Connection, household: Household, effects: Iterable[Effect]) -> str:
    """Return the scope of those who may read and decide an action: all who see what it touches, before and after.

    What one member hides from those who see it by now, or changes although another made it, an adult reads and can
    take back: who hides it decides alone only where they are an adult and nobody else made it.

    Args:
        conn: Open connection.
        household: Whose it is.
        effects: Typed.

    Raises:
        InputError: They touch what is private to different members: nobody could read all of it.
    """
    rows = _rows(conn, household.id, effects)
    found = [_scope_of(row, household) for row in rows]
    shared = None if None in found else narrowest(each for each in found if each is not None)
    if shared is None:
        raise InputError("items that are private to different people cannot be changed together")
    return shared


def is_own_affair(
    conn: Connection, household: Household, effects: Iterable[Effect], member: Member
) -> bool:
    """Whether somebody who is no adult may do all this alone: it is theirs, and nobody else loses sight of anything.

    Args:
        conn: Open connection.
        household: Theirs.
        effects: Typed.
        member: Who wants it.
    """
    rows = _rows(conn, household.id, effects)
    return household.knows(member) and bool(rows) and all(row.is_own(member.id) for row in rows)


def hidden_by(conn: Connection, household: str, effects: Iterable[Effect]) -> frozenset[str]:
    """Return the ids of the rows and memories that some see by now who no longer will.

    Args:
        conn: Open connection.
        household: Tenant key.
        effects: Typed, not yet written.
    """
    known = [*effects]
    rows = {row.id for row in _rows(conn, household, known) if row.hides and row.id is not None}
    return frozenset(rows.union(*(each.words_hidden for each in known)))


def narrow(conn: Connection, done: PendingAction, hidden: Collection[str]) -> None:
    """Let nobody else read earlier actions about what was just hidden, nor what waits about it.

    Args:
        conn: In the transaction that did it.
        done: The action, done.
        hidden: Ids of the rows that it hid.
    """
    proposal = done.proposal
    if not hidden or proposal.scope == HOUSEHOLD_SCOPE:
        return
    found = actions_touching(conn, proposal.household, proposal.type, hidden)
    narrow_scope(conn, proposal.household, [each.id for each in found], proposal.scope)


def _rows(conn: Connection, household: str, effects: Iterable[Effect]) -> list[Touched]:
    return [row for each in effects for row in each.touches(conn, household)]


def _scope_of(row: Touched, household: Household) -> str | None:
    scope = narrowest(row.scopes)
    owner = household.member(person_of(scope or "") or "")
    is_own_making = owner is not None and owner.is_adult and row.whose == owner.id
    # What others never saw stays where it is; a maker who is an adult hides it alone.
    if owner is None or row.before is None or not row.hides or is_own_making:
        return scope
    return narrowest({row.before, _adults_and(owner, household)})


def _adults_and(member: Member, household: Household) -> str:
    """Return the scope of what the adults of a household and one of its members may see."""
    others = [each.id for each in household.members if not each.is_adult and each != member]
    return surprise_scope(others) if others else HOUSEHOLD_SCOPE
