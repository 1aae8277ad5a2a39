"""Who may decide about an action, and from which card. Pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import NotRequired, TypedDict

from kinkeeper.actions.model import TOLD_TO_THE_ASSISTANT, ActionType, PendingAction
from kinkeeper.actions.states import Refusal
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, is_hidden_from, person_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """Who decides, and what they were shown.

    Attributes:
        member: As the channel identified them, with the rights of their login; never taken from text.
        household: Theirs, as its file has it now.
        now: Aware.
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

    The mail of an adult is theirs to send.

    Nobody speaks for who has left the household: what they asked for lapses.

    Args:
        action: As stored.
        member: Who looks or decides.
        household: Theirs.
    """
    if action.proposal.scope != HOUSEHOLD_SCOPE:
        return is_hidden_from(action.proposal.scope, member.id)
    asked_by = action.proposal.request.get("asked_by", member.id)
    if action.proposal.type is not ActionType.EMAIL or asked_by == member.id:
        return False
    asker = household.member(asked_by)
    return asker is None or asker.is_adult


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
        action: As stored.
        member: Who looks or decides, a child too.
        household: Theirs.
    """
    return household.knows(member) and person_of(action.proposal.scope) == member.id


def is_told_by_another(action: PendingAction, member_id: str | None) -> bool:
    """Whether somebody else asked it of the assistant, or told it: what waits of that is for adults.

    Args:
        action: As stored.
        member_id: Who looks; None where it is nobody in particular.
    """
    proposal = action.proposal
    is_told = proposal.source_type in TOLD_TO_THE_ASSISTANT
    return is_told and proposal.request.get("asked_by") != member_id
