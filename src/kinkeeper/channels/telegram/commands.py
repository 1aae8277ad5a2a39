"""Commands: who asks is answered, and nobody else where Telegram lets us; what they want kept or erased."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.memory_proposals import asked_to_remember
from kinkeeper.actions.model import ActionType, Choice, Proposal
from kinkeeper.actions.proposals import propose
from kinkeeper.actions.readers import Reader
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.setting_right import forgetting_of
from kinkeeper.channels.telegram.answers import Answer, Answers
from kinkeeper.channels.telegram.families import CHANNEL, Family
from kinkeeper.channels.telegram.updates import Chat
from kinkeeper.conversation.told_audience import saved_for
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.digest.repository import parse_time, set_digest_time
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_scope, viewer_for
from kinkeeper.language.text import shorten
from kinkeeper.memory.browser import sharing_words
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.statements.secrecy import audience_of
from kinkeeper.messaging import addresses, outbox
from kinkeeper.messaging.outbound import Button, Outbound, Verb
from kinkeeper.observer import feedback
from kinkeeper.observer.accounts.traces import load_trace
from kinkeeper.observer.quiet_requests import be_quiet, end_quiet, parse_duration

# /remember and /forget: what a member wants kept, and what they want erased for good.

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
        text: What follows the command.
        is_private: Whether nobody else is there.
        source_id: What identifies the request, so that it counts once.
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
        wish.household,
        wish.member,
        wish.text,
        channel=CHANNEL,
        now=wish.now,
        scope=scope,
        source_id=f"{CHANNEL}:{wish.source_id}",
    )
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
            text=f"Remembered: {shorten(wish.text, _LONGEST_LABEL)}{whose}",
            buttons=(undo,),
            action_id=receipt.action.id,
        )
    ]


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
        household=wish.household.id,
        type=ActionType.MEMORY_FACT,
        source_type="FORGET",
        source_id=f"{CHANNEL}:{wish.source_id}",
        slot="0",
        chat_id=wish.chat_id,
        extraction={},
        extraction_confidence=1.0,
        summary="Forget something I remember",
        effects=(),
        choices=tuple(
            Choice(label=label, effects=(effect.frozen(),), result="It is erased.")
            for label, effect in ways
        ),
        merge_key=None,
        origin=Origin.SAID,
    )
    action = propose(conn, proposal, household=wish.household, now=wish.now).action
    buttons = [Button(label=label, verb=Verb.CHOOSE, choice=label) for label, _ in ways]
    buttons.append(Button(label="Keep all", verb=Verb.REJECT))
    return [Answer(text=_WHICH, buttons=tuple(buttons), action_id=action.id)]


MENU: Mapping[str, str] = {
    "pending": "What is waiting for approval",
    "why": "Reply to a message with this to see why I did or didn't speak",
    "today": "What's on today",
    "week": "What's on in the next seven days",
    "remember": "Remember something: /remember Leo is allergic to nuts",
    "forget": "Erase something I remember: /forget nuts",
    "digest": "Show your daily digest; /digest 18:30 changes its time, /digest off stops it",
    "quiet": "Stop messages for a while: /quiet 2h, /quiet off",
    "help": "What you can ask me",
}
"""What people can ask, as the app lists it."""

ALONE = frozenset({"pending", "why", "forget", "digest"})
"""What nobody else needs to see asked."""

_ANSWER_WITHIN = timedelta(hours=1)
_WEEK = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A command, or something that stands for one.

    Attributes:
        update_id: Telegram's number of the update; it is answered once.
        account: Who, where that is known.
        message_id: The message; None where only the bot was shown it.
        about: The message it answers, if any.
    """

    update_id: int
    chat: Chat
    account: int | None
    message_id: str | None
    name: str
    argument: str
    about: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """A command with what is needed to answer it."""

    conn: Connection
    family: Family
    member: Member
    asked: Asked
    is_alone: bool
    now: datetime

    @property
    def household(self) -> str:
        return self.family.household.id

    @property
    def answers(self) -> Answers:
        household = self.family.household
        viewer = Viewer.of(household.id)
        if self.is_alone:
            viewer = viewer_for(household, self.member, now=self.now)
        reader = Reader(
            member=self.member, household=household, viewer=viewer, is_shared=not self.is_alone
        )
        return Answers(self.family.participants, reader, self.now)


def answer(conn: Connection, family: Family, asked: Asked, *, now: datetime) -> None:
    """Put the answer to a command of a member; others, and unknown commands in groups, get none."""
    member = family.member(asked.account)
    name = asked.name if asked.name in _ANSWERS or not asked.chat.is_private else "help"
    if member is None or name not in _ANSWERS:
        return
    is_alone = _can_be_alone(conn, family, member, asked)
    asking = _Asking(
        conn=conn, family=family, member=member, asked=asked, is_alone=is_alone, now=now
    )
    for number, each in enumerate(_ANSWERS[name](asking)):
        message = Outbound(
            channel=CHANNEL,
            chat_id=asked.chat.id,
            body=each.text,
            dedupe_key=f"command:{asked.update_id}:{number}",
            reply_to=asked.message_id,
            buttons=each.buttons,
            action_id=each.action_id,
            audience=member.id if is_alone else None,
            deliver_by=now + _ANSWER_WITHIN,
            is_unprompted=False,
            is_soundless=True,
        )
        outbox.put(conn, family.household.id, message, now=now)


def _can_be_alone(conn: Connection, family: Family, member: Member, asked: Asked) -> bool:
    """Whether the answer reaches nobody else; what was asked unseen is never answered aloud."""
    if asked.chat.is_private or asked.message_id is None:
        return True
    found = addresses.address_for(
        conn, family.household.id, CHANNEL, asked.chat.id, member=member.id
    )
    return found is not None


def _pending(asking: _Asking) -> Sequence[Answer]:
    may_decide = asking.is_alone and asking.member.is_adult
    return asking.answers.pending(asking.conn, with_buttons=may_decide)


_WHY_HOW = "In the group, reply to a message with /why and I'll explain what I did with it."


def _why(asking: _Asking) -> Sequence[Answer]:
    about, chat = asking.asked.about, asking.asked.chat
    if about is None or chat.is_private:
        return [Answer(text=_WHY_HOW)]
    ours = outbox.find_by_channel_id(
        asking.conn, asking.household, CHANNEL, chat.id, message_id=about
    )
    if ours is not None and ours.message.reply_to is None:
        return [Answer(text=_WHY_HOW)]
    wanted = about if ours is None else ours.message.reply_to
    try:
        trace = load_trace(
            asking.conn, asking.family.household, wanted or "", chat_id=chat.id, is_exact=True
        )
    except NotFoundError:
        return [Answer(text="I didn't see that message.")]
    if ours is not None:
        feedback.wonder(
            asking.conn, asking.household, trace.row.id, by=asking.member.id, now=asking.now
        )
    return [asking.answers.why(trace)]


def _today(asking: _Asking) -> Sequence[Answer]:
    return [asking.answers.agenda(asking.conn, days=1)]


def _week(asking: _Asking) -> Sequence[Answer]:
    return [asking.answers.agenda(asking.conn, days=_WEEK)]


def _quiet(asking: _Asking) -> Sequence[Answer]:
    conn, household, now = asking.conn, asking.household, asking.now
    if not asking.asked.argument:
        return [asking.answers.quiet(conn)]
    if not asking.member.is_adult:
        return [Answer(text="Only an adult in the household can ask for quiet.")]
    try:
        length = parse_duration(asking.asked.argument)
    except InputError as error:
        return [Answer(text=f"{error}.")]
    if length is None:
        end_quiet(conn, household)
        return [Answer(text="Quiet is off.")]
    be_quiet(conn, household, until=now + length, by=asking.member.id, now=now)
    return [Answer(text=f"Quiet until {asking.answers.moment(now + length)}.")]


def _digest(asking: _Asking) -> Sequence[Answer]:
    household, member = asking.family.household, asking.member
    if not member.is_adult:
        return [Answer(text="Only adults in the household get a digest.")]
    if not asking.is_alone:
        return [Answer(text="Please ask me for your digest in our private chat.")]
    if not asking.asked.argument:
        return [asking.answers.digest(asking.conn, member)]
    try:
        at = parse_time(asking.asked.argument)
    except InputError as error:
        return [Answer(text=f"{error}.")]
    set_digest_time(asking.conn, household.id, member.id, at, now=asking.now)
    if at is None:
        return [Answer(text="You won't get a digest any more. /digest 18:00 turns it back on.")]
    return [Answer(text=f"You'll get your digest every day at {at:%H:%M}.")]


def _remember(asking: _Asking) -> Sequence[Answer]:
    return remember(asking.conn, _wish(asking))


def _forget(asking: _Asking) -> Sequence[Answer]:
    return forget(asking.conn, _wish(asking))


def _wish(asking: _Asking) -> Wish:
    asked = asking.asked
    return Wish(
        household=asking.family.household,
        member=asking.member,
        text=asked.argument,
        chat_id=asked.chat.id,
        is_private=asked.chat.is_private,
        source_id=str(asked.update_id),
        now=asking.now,
    )


def _help(_asking: _Asking) -> Sequence[Answer]:
    lines = [f"/{name}: {words}" for name, words in MENU.items()]
    return [Answer(text="\n".join(lines))]


def _start(asking: _Asking) -> Sequence[Answer]:
    greeting = f"Hello {asking.member.name}. I can now send you things to approve here."
    return [Answer(text=greeting), *_help(asking)]


_ANSWERS: Mapping[str, Callable[[_Asking], Sequence[Answer]]] = {
    "pending": _pending,
    "why": _why,
    "today": _today,
    "week": _week,
    "remember": _remember,
    "forget": _forget,
    "digest": _digest,
    "quiet": _quiet,
    "help": _help,
    "start": _start,
}
