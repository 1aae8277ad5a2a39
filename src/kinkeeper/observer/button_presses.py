"""A press on a button under one of the assistant's messages: checked, carried out, answered with one line."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.actions import approvals, reversal
from kinkeeper.actions.authority import PressDetails
from kinkeeper.actions.model import PendingAction, RejectReason
from kinkeeper.actions.press_tokens import (
    PressedButton,
    PressRefusal,
    Redeemed,
    RedeemedWords,
    Refused,
    note_answer,
    redeem,
)
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.reversal import restore
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.core.errors import ConflictError, InvariantError
from kinkeeper.household.model import Household
from kinkeeper.messaging.outbound import Verb
from kinkeeper.observer import feedback


@dataclass(frozen=True, slots=True, kw_only=True)
class PressAnswer:
    """What a press came to.

    Attributes:
        message: One line for who pressed.
        is_change: Whether this very press changed anything.
        refusal: Why it was refused, if it was.
        restored: What waits for a decision again because of this press, if anything.
    """

    message: str
    is_change: bool
    refusal: PressRefusal | None = None
    restored: PendingAction | None = None


def press(
    conn: Connection, pressed: PressedButton, *, household: Household, now: datetime
) -> PressAnswer:
    """Carry out a press; the messages with its buttons change by themselves.

    Args:
        pressed: As the channel tells it.
        household: Whose chat it happened in.
    """
    redeemed = redeem(conn, pressed, household=household, now=now)
    if isinstance(redeemed, Refused):
        return PressAnswer(message=redeemed.message, is_change=False, refusal=redeemed.reason)
    if redeemed.answer is not None:
        return PressAnswer(message=redeemed.answer, is_change=False)
    if isinstance(redeemed, RedeemedWords):
        answer = _set_audience(conn, redeemed, household, now)
    elif redeemed.verb is Verb.REASON:
        answer = _reason(conn, redeemed, now)
    else:
        receipt = _decide(conn, redeemed, household, now)
        restored = receipt.action if receipt.outcome is Outcome.RESTORED else None
        answer = PressAnswer(
            message=receipt.message, is_change=receipt.is_change, restored=restored
        )
    note_answer(conn, household.id, redeemed, answer.message)
    return answer


def _set_audience(
    conn: Connection, redeemed: RedeemedWords, household: Household, now: datetime
) -> PressAnswer:
    """Change who may see what was said; a button of what is gone or is so already changes nothing."""
    right = SettingRight(household=household, member=redeemed.member, now=now)
    is_private = redeemed.verb is Verb.KEEP
    receipt = right.set_told_scope(conn, redeemed.episode_id, is_private=is_private)
    if receipt is not None and not receipt.is_change:
        return PressAnswer(message=receipt.message, is_change=False)
    told = "Only you can see that now." if is_private else "The whole family can see that now."
    return PressAnswer(message=told, is_change=receipt is not None)


def _decide(conn: Connection, redeemed: Redeemed, household: Household, now: datetime) -> Receipt:
    # Without a chat: the button was bound to its own, which may be the member's private one.
    press = PressDetails(member=redeemed.member, household=household, now=now)
    action_id = redeemed.action.id
    match redeemed.verb:
        case Verb.CONFIRM:
            return approvals.confirm(conn, action_id, **press)
        case Verb.CHOOSE:
            return approvals.resolve(conn, action_id, redeemed.choice or "", **press)
        case Verb.REJECT:
            return approvals.reject(conn, action_id, **press)
        case Verb.RESTORE:
            return _brought_back(conn, action_id, press)
        case Verb.UNDO:
            return reversal.undo(
                conn, action_id, member=redeemed.member, household=household, now=now
            )
        case _:
            raise InvariantError(f"a button with the verb {redeemed.verb!r} decides nothing")


def _brought_back(conn: Connection, action_id: str, press: PressDetails) -> Receipt:
    try:
        return restore(conn, action_id, **press)
    except ConflictError as error:
        action = load_action(conn, press["household"].id, action_id)
        return Receipt(action=action, outcome=Outcome.CHANGED, message=f"Not possible: {error}.")


def _reason(conn: Connection, redeemed: Redeemed, now: datetime) -> PressAnswer:
    action = redeemed.action
    feedback.say_not_right(
        conn,
        action.proposal.household,
        action.id,
        RejectReason(redeemed.choice or ""),
        by=redeemed.member.id,
        now=now,
    )
    return PressAnswer(message="Thank you, noted.", is_change=True)
