"""/remember and /forget: what a member wants kept, and what they want erased for good."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.memory_proposals import asked_to_remember
from kinkeeper.actions.model import ActionType, Choice, Proposal
from kinkeeper.actions.proposals import propose
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.setting_right import forgetting_of
from kinkeeper.channels.telegram.answers import Answer
from kinkeeper.channels.telegram.families import CHANNEL
from kinkeeper.conversation.told_audience import saved_for
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_scope
from kinkeeper.language.text import shorten
from kinkeeper.memory.browser import sharing_words
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.statements.secrecy import audience_of
from kinkeeper.messaging.outbound import Button, Verb

_ADULTS_ONLY = "Only an adult in the household can do this."
_WAITS = "I’ll remember that once an adult approves it in the inbox."
_HOW_TO_REMEMBER = "Tell me what to remember: /remember Leo is allergic to nuts"
_HOW_TO_FORGET = "Tell me what it's about: /forget nuts"
_NOTHING_FITS = "I don't remember anything about that for the household. Your private memories are on the Memory page."
_WHICH = "Which one should I erase for good? This can't be undone."

_MOST_OFFERED = 5
_MOST_COMPARED = 2000
_LONGEST_LABEL = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a member asks memory for.

    Attributes:
        household: Theirs.
        member: Who asks.
        text: What follows the command.
        chat_id: Where.
        is_private: Whether nobody else is there.
        source_id: What identifies the request, so that it counts once.
        now: Aware.
    """

    household: Household
    member: Member
    text: str
    chat_id: str
    is_private: bool
    source_id: str
    now: datetime


def remember(conn: Connection, wish: Wish) -> Sequence[Answer]:
    """Remember what a member says, at once and with a way back; the answer says who may see it.

    What a child or a guest says for everybody waits for an adult's approval.
    """
    if not wish.text:
        return [Answer(text=_HOW_TO_REMEMBER)]
    scope = HOUSEHOLD_SCOPE
    if wish.is_private and wish.member.is_adult:
        scope = audience_of(wish.text, wish.household, wish.member.id)
    elif wish.is_private:
        scope = person_scope(wish.member.id)
    proposal = asked_to_remember(
        wish.household, wish.member, wish.text, channel=CHANNEL, now=wish.now, scope=scope,
        source_id=f"{CHANNEL}:{wish.source_id}",
    )  # fmt: skip
    receipt = approvals.request(
        conn, proposal, member=wish.member, household=wish.household, now=wish.now
    )
    if receipt.outcome is Outcome.ASKED:
        return [Answer(text=_WAITS)]
    if receipt.outcome is not Outcome.DONE:
        return [Answer(text=receipt.message)]
    whose = (
        f" {saved_for(receipt.action.proposal.scope, wish.household)}" if wish.is_private else ""
    )
    undo = Button(label="Undo", verb=Verb.UNDO)
    return [
        Answer(
            text=f"Remembered: {shorten(wish.text, _LONGEST_LABEL)}{whose}", buttons=(undo,),
            action_id=receipt.action.id,
        )
    ]  # fmt: skip


def forget(conn: Connection, wish: Wish) -> Sequence[Answer]:
    """Offer what the household remembers about something, for a member to pick what is erased."""
    if not wish.text:
        return [Answer(text=_HOW_TO_FORGET)]
    if not wish.member.is_adult:
        return [Answer(text=_ADULTS_ONLY)]
    # What an offer holds can be read by all adults, so nobody's own memories are among it.
    viewer = Viewer.of(wish.household.id)
    known = list_facts(conn, viewer, now=wish.now, limit=_MOST_COMPARED)
    found = sharing_words(known, wish.text)[:_MOST_OFFERED]
    if not found:
        return [Answer(text=_NOTHING_FITS)]
    ways = [
        (f"{number}. {shorten(fact.narrative, _LONGEST_LABEL)}", forgetting_of(conn, viewer, fact))
        for number, fact in enumerate(found, 1)
    ]
    proposal = Proposal(
        household=wish.household.id, type=ActionType.MEMORY_FACT, source_type="FORGET",
        source_id=f"{CHANNEL}:{wish.source_id}", slot="0", chat_id=wish.chat_id, extraction={},
        extraction_confidence=1.0, summary="Forget something I remember", effects=(),
        choices=tuple(
            Choice(label=label, effects=(effect.frozen(),), result="It is erased.")
            for label, effect in ways
        ),
        merge_key=None, origin=Origin.SAID,
    )  # fmt: skip
    action = propose(conn, proposal, household=wish.household, now=wish.now).action
    buttons = [Button(label=label, verb=Verb.CHOOSE, choice=label) for label, _ in ways]
    buttons.append(Button(label="Keep all", verb=Verb.REJECT))
    return [Answer(text=_WHICH, buttons=tuple(buttons), action_id=action.id)]
