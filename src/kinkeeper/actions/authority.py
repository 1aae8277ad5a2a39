"""Who may read an action, who may decide it and from which card, and which press is let through to it."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NotRequired, TypedDict

from sqlalchemy import Connection

from kinkeeper.actions import receipts
from kinkeeper.actions.effects.contract import Effect, Touched
from kinkeeper.actions.effects.memory import remembered_lines, told_by
from kinkeeper.actions.journal import record_refusal
from kinkeeper.actions.model import (
    OPENS_TO,
    TOLD_TO_THE_ASSISTANT,
    ActionType,
    PendingAction,
    Refusal,
)
from kinkeeper.actions.receipts import Receipt
from kinkeeper.actions.registry import read_effects
from kinkeeper.actions.repository import actions_touching, load_action, narrow_scope, open_scope
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    is_hidden_from,
    narrowest,
    person_of,
    surprise_scope,
)
from kinkeeper.memory.statements.discretion import concerns_others, speaks_of_self


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """Who decides, and what they were shown.

    Attributes:
        member: As the channel identified them, with the rights of their login; never taken from text.
        household: Theirs, as its file has it now.
        chat_id: Chat of the card that was pressed; None where the person was identified otherwise
            (command line, web, private chat).
        expected_hash: Payload hash of what the card showed, where the card carries it.
    """

    member: Member
    household: Household
    now: datetime
    chat_id: str | None = None
    expected_hash: str | None = None


class PressDetails(TypedDict):
    """What a `Press` is made of, for functions that take it as named arguments."""

    member: Member
    household: Household
    now: datetime
    chat_id: NotRequired[str | None]
    expected_hash: NotRequired[str | None]


def may_decide(press: Press) -> bool:
    """Whether the person is an adult of that household by its own file, and their login does not say less."""
    return press.household.knows(press.member) and press.member.is_adult


def is_anothers(action: PendingAction, member: Member, household: Household) -> bool:
    """Whether an action is another's to read and decide: about what is private to them, or in their name.

    The mail of an adult is theirs to send; what a child told of itself is for its parents.

    Nobody speaks for who has left the household: what they asked for lapses.

    Args:
        member: Who looks or decides.
    """
    if action.proposal.scope != HOUSEHOLD_SCOPE:
        return is_hidden_from(action.proposal.scope, member.id)
    if _is_for_parents(action, household, member):
        return True
    asked_by = action.proposal.request.get("asked_by", member.id)
    if action.proposal.type is not ActionType.EMAIL or asked_by == member.id:
        return False
    asker = household.member(asked_by)
    return asker is None or asker.is_adult


def _is_for_parents(action: PendingAction, household: Household, member: Member) -> bool:
    """Whether an action would remember what a child told the assistant of itself, and who looks is no parent of it."""
    proposal = action.proposal
    child = told_by(proposal.effects)
    parents = household.guardians.get(child or "", ())
    return (
        bool(parents)
        and member.id not in {child, *parents}
        and proposal.chat_id is None
        and any(
            speaks_of_self(each) and not concerns_others(each)
            for each in remembered_lines(proposal.effects)
        )
    )


def objection(action: PendingAction, press: Press) -> Refusal | None:
    """Return why this press must not reach the action, or None."""
    if not may_decide(press) and not is_own(action, press.member, press.household):
        return Refusal.DENIED
    if is_anothers(action, press.member, press.household):
        return Refusal.NOT_YOURS
    chat_id = action.proposal.chat_id
    if press.chat_id is not None and chat_id is not None and press.chat_id != chat_id:
        return Refusal.WRONG_CHAT
    if press.expected_hash is not None and press.expected_hash != action.payload_hash:
        return Refusal.STALE_CARD
    return None


def is_own(action: PendingAction, member: Member, household: Household) -> bool:
    """Whether an action is about what only this member may see: nobody else could decide about it.

    Args:
        member: Who looks or decides, a child too.
    """
    return household.knows(member) and person_of(action.proposal.scope) == member.id


def is_told_by_another(action: PendingAction, member_id: str | None) -> bool:
    """Whether somebody else asked it of the assistant, or told it: what waits of that is for adults.

    Args:
        member_id: Who looks; None where it is nobody in particular.
    """
    proposal = action.proposal
    is_told = proposal.source_type in TOLD_TO_THE_ASSISTANT
    return is_told and proposal.request.get("asked_by") != member_id


# Who may read an action, and whether it is one member's own affair.
#
# What is changed is judged by who sees it before the change and by who made it, never by who alone
# sees it afterwards.


def scope_of(conn: Connection, household: Household, effects: Iterable[Effect]) -> str:
    """Return the scope of those who may read and decide an action: all who see what it touches, before and after.

    What one member hides from those who see it by now, or changes although another made it, an adult reads and can
    take back: who hides it decides alone only where they are an adult and nobody else made it.

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
    """Whether somebody who is no adult may do all this alone: it is theirs, and nobody else loses sight of anything."""
    rows = _rows(conn, household.id, effects)
    return household.knows(member) and bool(rows) and all(row.is_own(member.id) for row in rows)


def hidden_by(conn: Connection, household: str, effects: Iterable[Effect]) -> frozenset[str]:
    """Return the ids of the rows and memories that some see by now who no longer will.

    Args:
        effects: Typed, not yet written.
    """
    known = [*effects]
    rows = {row.id for row in _rows(conn, household, known) if row.hides and row.id is not None}
    return frozenset(rows.union(*(each.words_hidden for each in known)))


def narrow(conn: Connection, done: PendingAction, hidden: Collection[str]) -> None:
    """Let nobody else read earlier actions about what was just hidden, nor what waits about it.

    Args:
        conn: In the transaction that did it.
        hidden: Ids of the rows that it hid.
    """
    proposal = done.proposal
    if not hidden or proposal.scope == HOUSEHOLD_SCOPE:
        return
    found = actions_touching(conn, proposal.household, proposal.type, hidden)
    narrow_scope(conn, proposal.household, [each.id for each in found], proposal.scope)


def open_up(
    conn: Connection, action: PendingAction, household: Household, effects: Iterable[Effect]
) -> None:
    """Let those read a confirmed action who see what it touches, where only its person was shown it before.

    Args:
        effects: What is written by it.
    """
    opens = action.proposal.request.get("result", {}).get(OPENS_TO)
    if opens is not None and (scope := narrowest({opens, scope_of(conn, household, effects)})):
        open_scope(conn, action, scope)


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


# Lets a press through to its action, or counts it and tells why not.


def admit(conn: Connection, action_id: str, press: Press) -> PendingAction | Receipt:
    """Return the action if this press may reach it, otherwise the receipt that says why not.

    Args:
        conn: Open connection, in a write transaction; the action's row is held until its end.
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


def may_settle(conn: Connection, action: PendingAction, press: Press) -> bool:
    """Whether a press would reach an action; counts nothing."""
    if is_hidden_from(action.proposal.scope, press.member.id) or objection(action, press):
        return False
    return may_decide(press) or _is_theirs(conn, action, press)


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
