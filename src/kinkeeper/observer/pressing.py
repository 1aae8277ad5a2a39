"""A press on a button under one of the assistant's messages: checked, carried out, answered with one line."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.actions import approvals, undo
from kinkeeper.actions.authority import PressDetails
from kinkeeper.actions.model import RejectReason
from kinkeeper.actions.press_tokens import (
    PressedButton,
    PressRefusal,
    Redeemed,
    Refused,
    note_answer,
    redeem,
)
from kinkeeper.actions.receipts import Receipt
from kinkeeper.core.errors import InvariantError
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
    """

    message: str
    is_change: bool
    refusal: PressRefusal | None = None


def press(
    conn: Connection, pressed: PressedButton, *, household: Household, now: datetime
) -> PressAnswer:
    """Carry out a press; the messages with its buttons change by themselves.

    Args:
        conn: In a write transaction.
        pressed: As the channel tells it.
        household: Whose chat it happened in.
        now: Aware.
    """
    redeemed = redeem(conn, pressed, household=household, now=now)
    if isinstance(redeemed, Refused):
        return PressAnswer(message=redeemed.message, is_change=False, refusal=redeemed.reason)
    if redeemed.answer is not None:
        return PressAnswer(message=redeemed.answer, is_change=False)
    if redeemed.verb is Verb.REASON:
        answer = _reason(conn, redeemed, now)
    else:
        receipt = _decide(conn, redeemed, household, now)
        answer = PressAnswer(message=receipt.message, is_change=receipt.is_change)
    note_answer(conn, redeemed, answer.message)
    return answer


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
        case Verb.UNDO:
            return undo.undo(conn, action_id, member=redeemed.member, household=household, now=now)
        case _:
            raise InvariantError(f"a button with the verb {redeemed.verb!r} decides nothing")


def _reason(conn: Connection, redeemed: Redeemed, now: datetime) -> PressAnswer:
    action = redeemed.action
    feedback.say_not_right(
        conn, action.proposal.household, action.id, RejectReason(redeemed.choice or ""),
        by=redeemed.member.id, now=now,
    )  # fmt: skip
    return PressAnswer(message="Thank you, noted.", is_change=True)
