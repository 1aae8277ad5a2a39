"""A person decides: confirm, choose or reject. The first decision counts, later ones are told so.

Whoever presses, and whatever became of it, the answer is a receipt: an exception would undo the
caller's transaction, and with it the count of the press.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Unpack

from sqlalchemy import Connection

from kinkeeper.actions import receipts
from kinkeeper.actions.action_writes import advance
from kinkeeper.actions.authority import (
    Press,
    PressDetails,
    admit,
    count,
    is_own_affair,
    may_decide,
    open_up,
)
from kinkeeper.actions.consent import Audience, Author, Consent, Origin, decide, highest
from kinkeeper.actions.executor import execute
from kinkeeper.actions.model import ActionStatus, Cause, Choice, PendingAction, Proposal, Refusal
from kinkeeper.actions.proposals import expire_if_due, propose
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.registry import read_effects, stakes_of
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.written_audience import kept_as_written
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import as_utc
from kinkeeper.household.model import Household, Member

_SETTLED_WITHOUT_DECISION = frozenset(
    {ActionStatus.EXPIRED, ActionStatus.SUPERSEDED, ActionStatus.WITHDRAWN}
)


def confirm(conn: Connection, action_id: str, **press: Unpack[PressDetails]) -> Receipt:
    """Say yes to an action and execute it, in the caller's transaction.

    An action without effects of its own but with several choices is not settled: its receipt lists
    them. With one choice, that one is meant.

    Args:
        **press: Who decides, and what they were shown.

    Raises:
        NotFoundError: The household has no action with that id.
    """
    return _decide(conn, action_id, Press(**press), _confirm)


def resolve(
    conn: Connection, action_id: str, choice_label: str, **press: Unpack[PressDetails]
) -> Receipt:
    """Choose one of an action's ways and execute it, in the caller's transaction.

    Args:
        choice_label: Of the choice; letter case does not matter.
        **press: Who decides, and what they were shown.

    Raises:
        NotFoundError: The household has no action with that id.
        InputError: The action has no such choice; the message lists those it has.
    """
    return _decide(conn, action_id, Press(**press), partial(_resolve, choice_label))


def reject(
    conn: Connection, action_id: str, *, reason: str | None = None, **press: Unpack[PressDetails]
) -> Receipt:
    """Say no to an action; nothing of it is written.

    Args:
        reason: In their words, for the journal.
        **press: Who decides, and what they were shown.

    Raises:
        NotFoundError: The household has no action with that id.
    """
    return _decide(conn, action_id, Press(**press), partial(_reject, reason))


def request(
    conn: Connection,
    proposal: Proposal,
    *,
    member: Member,
    household: Household,
    now: datetime,
    is_group: bool = False,
) -> Receipt:
    """Store what somebody asked for, and run it at once where no question is due.

    Whatever they write, and by whatever way, is kept from those from whom its words ask to keep it.

    A question is due unless an adult said it directly and the stakes are low. Somebody who is no adult is
    asked about nothing that is low and only their own; all else awaits an adult.

    Args:
        member: Who asks, as the channel identified them.
        household: Theirs, as its file has it now.
        is_group: Whether it was said in a chat of several people: they all know it.

    Raises:
        InputError: The proposal could never be executed, or others would read what it keeps from them.
    """
    press = Press(member=member, household=household, now=now)
    if proposal.origin is not Origin.IMPORTED:  # whoever brings in a file reads its words
        proposal = kept_as_written(conn, proposal, household, member, now=now, is_group=is_group)
    action = propose(conn, proposal, household=household, now=now).action
    if action.status is not ActionStatus.PENDING:
        return receipts.settled(action, household)
    effects = action.proposal.effects
    author = Author(is_adult=may_decide(press), origin=action.proposal.origin)
    is_own = is_own_affair(conn, household, read_effects(household.id, effects), member)
    audience = Audience.OWN if is_own else Audience.HOUSEHOLD
    consent = decide(author, audience, highest(action.proposal.stakes, stakes_of(effects)))
    if consent is Consent.RUN_AT_ONCE and effects:
        return _run(conn, action, press, Cause.SAID)
    return receipts.asked(action)


def _decide(
    conn: Connection,
    action_id: str,
    press: Press,
    settle: Callable[[Connection, PendingAction, Press], Receipt],
) -> Receipt:
    """Settle an action that this press may decide and nobody has decided yet."""
    action = admit(conn, action_id, press)
    if isinstance(action, Receipt):
        return action
    action = expire_if_due(conn, action, press.now)
    if action.status is not ActionStatus.PENDING:
        return _too_late(conn, action, press)
    return settle(conn, action, press)


def _confirm(conn: Connection, action: PendingAction, press: Press) -> Receipt:
    choices = action.proposal.choices
    if action.proposal.effects or not choices:
        return _run(conn, action, press, Cause.CONFIRM)
    if len(choices) > 1:
        return receipts.choose(action)
    return _run(conn, action, press, Cause.CONFIRM, choice=choices[0])


def _resolve(label: str, conn: Connection, action: PendingAction, press: Press) -> Receipt:
    wanted = label.strip().casefold()
    choices = action.proposal.choices
    found = [choice for choice in choices if choice.label.strip().casefold() == wanted]
    if not found:
        listed = ", ".join(choice.label for choice in choices)
        raise InputError(
            f"{label!r} is not one of: {listed}"
            if choices
            else "there is nothing to choose here; confirm or reject it"
        )
    return _run(conn, action, press, Cause.CONFIRM, choice=found[0])


def _reject(reason: str | None, conn: Connection, action: PendingAction, press: Press) -> Receipt:
    by = press.member.id
    rejected = advance(
        conn,
        action,
        Cause.REJECT,
        at=press.now,
        by=by,
        detail=reason,
        decided_at=as_utc(press.now),
        decided_by=by,
    )
    if rejected is None:
        return _too_late(conn, action, press)
    return Receipt(
        action=rejected,
        outcome=Outcome.REJECTED,
        message=f"Declined: {rejected.proposal.summary}",
        is_change=True,
    )


def _run(
    conn: Connection,
    action: PendingAction,
    press: Press,
    cause: Cause,
    *,
    choice: Choice | None = None,
) -> Receipt:
    label = None if choice is None else choice.label
    by = press.member.id
    confirmed = advance(
        conn,
        action,
        cause,
        at=press.now,
        by=by,
        detail=label,
        decided_at=as_utc(press.now),
        decided_by=by,
        choice=label,
    )
    if confirmed is None:
        return _too_late(conn, action, press)
    effects = action.proposal.effects if choice is None else choice.effects
    open_up(conn, action, press.household, read_effects(press.household.id, effects))
    return receipts.executed(execute(conn, press.household.id, action.id, now=press.now))


def _too_late(conn: Connection, action: PendingAction, press: Press) -> Receipt:
    now_stored = load_action(conn, press.household.id, action.id)
    is_late = now_stored.status in _SETTLED_WITHOUT_DECISION
    count(conn, now_stored, press, Refusal.LATE if is_late else Refusal.DUPLICATE)
    return receipts.settled(now_stored, press.household)
