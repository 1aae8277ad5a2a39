"""A person decides: confirm, choose or reject. The first decision counts, later ones are told so.

Whoever presses, and whatever became of it, the answer is a receipt: an exception would undo the
caller's transaction, and with it the count of the press.
"""

from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.actions import receipts
from kinkeeper.actions.authority import Press, may_decide, objection
from kinkeeper.actions.consent import Consent, consent_for
from kinkeeper.actions.executor import execute
from kinkeeper.actions.journal import record_refusal
from kinkeeper.actions.model import ActionStatus, Choice, PendingAction, Proposal
from kinkeeper.actions.proposals import expire_if_due, propose
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.registry import stakes_of
from kinkeeper.actions.repository import advance, load_action
from kinkeeper.actions.states import Cause, Refusal
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import as_utc
from kinkeeper.household.model import Household, Member

_SETTLED_WITHOUT_DECISION = frozenset(
    {ActionStatus.EXPIRED, ActionStatus.SUPERSEDED, ActionStatus.WITHDRAWN}
)


def confirm(
    conn: Connection,
    action_id: str,
    *,
    member: Member,
    household: Household,
    now: datetime,
    chat_id: str | None = None,
    expected_hash: str | None = None,
) -> Receipt:
    """Say yes to an action and execute it, in the caller's transaction.

    An action without effects of its own but with several choices is not settled: its receipt lists
    them. With one choice, that one is meant.

    Args:
        conn: Open connection, in a write transaction.
        action_id: Full id.
        member: Who decides, as the channel identified them; never taken from text.
        household: Theirs, as its file has it now.
        now: Aware.
        chat_id: Chat of the card that was pressed; None where the person was identified otherwise
            (command line, web, private chat).
        expected_hash: Payload hash of what the card showed, where the card carries it.

    Raises:
        NotFoundError: The household has no action with that id.
    """
    press = Press(
        member=member, household=household, now=now, chat_id=chat_id, expected_hash=expected_hash
    )
    action = _admit(conn, action_id, press)
    if isinstance(action, Receipt):
        return action
    choices = action.proposal.choices
    if action.proposal.effects or not choices:
        return _run(conn, action, press, Cause.CONFIRM)
    if len(choices) > 1:
        return receipts.choose(action)
    return _run(conn, action, press, Cause.CONFIRM, choice=choices[0])


def resolve(
    conn: Connection,
    action_id: str,
    choice_label: str,
    *,
    member: Member,
    household: Household,
    now: datetime,
    chat_id: str | None = None,
    expected_hash: str | None = None,
) -> Receipt:
    """Choose one of an action's ways and execute it, in the caller's transaction.

    Args:
        conn: Open connection, in a write transaction.
        action_id: Full id.
        choice_label: Of the choice; letter case does not matter.
        member: Who decides, as the channel identified them; never taken from text.
        household: Theirs, as its file has it now.
        now: Aware.
        chat_id: Chat of the card that was pressed; None where the person was identified otherwise
            (command line, web, private chat).
        expected_hash: Payload hash of what the card showed, where the card carries it.

    Raises:
        NotFoundError: The household has no action with that id.
        InputError: The action has no such choice; the message lists those it has.
    """
    press = Press(
        member=member, household=household, now=now, chat_id=chat_id, expected_hash=expected_hash
    )
    action = _admit(conn, action_id, press)
    if isinstance(action, Receipt):
        return action
    wanted = choice_label.strip().casefold()
    choices = action.proposal.choices
    found = [choice for choice in choices if choice.label.strip().casefold() == wanted]
    if not found:
        listed = ", ".join(choice.label for choice in choices)
        raise InputError(
            f"{choice_label!r} is not one of: {listed}"
            if choices
            else "there is nothing to choose here; confirm or reject it"
        )
    return _run(conn, action, press, Cause.CONFIRM, choice=found[0])


def reject(
    conn: Connection,
    action_id: str,
    *,
    member: Member,
    household: Household,
    now: datetime,
    chat_id: str | None = None,
    expected_hash: str | None = None,
    reason: str | None = None,
) -> Receipt:
    """Say no to an action; nothing of it is written.

    Args:
        conn: Open connection, in a write transaction.
        action_id: Full id.
        member: Who decides, as the channel identified them; never taken from text.
        household: Theirs, as its file has it now.
        now: Aware.
        chat_id: Chat of the card that was pressed; None where the person was identified otherwise
            (command line, web, private chat).
        expected_hash: Payload hash of what the card showed, where the card carries it.
        reason: In their words, for the journal.

    Raises:
        NotFoundError: The household has no action with that id.
    """
    press = Press(
        member=member, household=household, now=now, chat_id=chat_id, expected_hash=expected_hash
    )
    action = _admit(conn, action_id, press)
    if isinstance(action, Receipt):
        return action
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


def request(
    conn: Connection, proposal: Proposal, *, member: Member, household: Household, now: datetime
) -> Receipt:
    """Store what somebody asked for, and run it at once where no question is due.

    A question is due unless an adult said it directly and the stakes are low.

    Args:
        conn: Open connection, in a write transaction.
        proposal: With its origin.
        member: Who asks, as the channel identified them.
        household: Theirs, as its file has it now.
        now: Aware.

    Raises:
        InputError: The proposal could never be executed.
    """
    press = Press(member=member, household=household, now=now)
    action = propose(conn, proposal, now=now).action
    if action.status is not ActionStatus.PENDING:
        return receipts.settled(action, household)
    effects = action.proposal.effects
    consent = consent_for(action.proposal.origin, stakes_of(effects))
    if consent is Consent.ASK or not effects or not may_decide(press):
        return receipts.asked(action)
    return _run(conn, action, press, Cause.SAID)


def _admit(conn: Connection, action_id: str, press: Press) -> PendingAction | Receipt:
    """Return the action if this press may decide it, otherwise the receipt that says why not."""
    action = load_action(conn, press.household.id, action_id, for_update=True)
    reason = objection(action, press)
    if reason is not None:
        _count(conn, action, press, reason)
        return receipts.refused(action, reason)
    action = expire_if_due(conn, action, press.now)
    if action.status is not ActionStatus.PENDING:
        return _too_late(conn, action, press)
    return action


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
    return receipts.executed(execute(conn, press.household.id, action.id, now=press.now))


def _too_late(conn: Connection, action: PendingAction, press: Press) -> Receipt:
    now_stored = load_action(conn, press.household.id, action.id)
    is_late = now_stored.status in _SETTLED_WITHOUT_DECISION
    _count(conn, now_stored, press, Refusal.LATE if is_late else Refusal.DUPLICATE)
    return receipts.settled(now_stored, press.household)


def _count(conn: Connection, action: PendingAction, press: Press, reason: Refusal) -> None:
    """Count a press that changed nothing."""
    household = action.proposal.household
    record_refusal(conn, household, action.id, reason=reason, by=press.member.id, at=press.now)
