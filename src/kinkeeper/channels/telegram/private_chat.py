"""What members say to the bot itself goes to conversation; what is answered goes out by the outbox."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import Connection

from kinkeeper.actions.repository import load_action
from kinkeeper.actions.requests.model import ActionResult, Decider, ResultStatus
from kinkeeper.channels.telegram.families import CHANNEL
from kinkeeper.channels.telegram.updates import Said
from kinkeeper.conversation.commit import Ending
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.conversation.told_audience import KEEP, SHARE, replies_to
from kinkeeper.conversation.turn import (
    Turn,
    TurnOutcome,
    card_in_words,
    paragraphs,
    question_in_words,
)
from kinkeeper.conversation.turns import Accepted
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household, Member
from kinkeeper.memory.sessions import find_turn_message
from kinkeeper.messaging import outbox
from kinkeeper.messaging.outbound import Button, Outbound, Verb

_KEY = "turn"
_BROKE = "Something went wrong, and nothing more was done. Please try again."
_ADULTS_ONLY = "An adult has to approve this."
_ANSWER_WITHIN = timedelta(hours=1)
_OF_WORDS = {SHARE: Verb.SHARE, KEEP: Verb.KEEP}
_BUTTONS = (Button(label="Yes, do it", verb=Verb.CONFIRM), Button(label="No", verb=Verb.REJECT))


def addressed(said: Said, *, username: str | None, bot_name: str) -> str | None:
    """Return what somebody says to the bot in a group, without its name; None where it is not called.

    Args:
        username: What people write behind an @, in small letters.
        bot_name: What the family calls it.
    """
    names = [re.escape(f"@{username}")] if username else []
    mention = re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", re.IGNORECASE) if names else None
    if mention is not None and mention.search(said.text):
        return mention.sub("", said.text).strip(" ,:;") or None
    called = re.compile(
        rf"\s*(?:(?:hey|hi|hello|ok|okay)\s+{re.escape(bot_name)}\b[\s,:!]*|{re.escape(bot_name)}\s*[,:!]\s*)",
        re.IGNORECASE,
    ).match(said.text)
    if called is None:
        return None
    return said.text[called.end() :].strip() or None


def answers_conversation(conn: Connection, household: str, said: Said) -> bool:
    """Whether a message in a group replies to an answer of a conversation."""
    if said.reply_to is None:
        return False
    found = outbox.find_by_channel_id(
        conn, household, CHANNEL, said.chat.id, message_id=said.reply_to
    )
    return found is not None and found.message.dedupe_key.startswith(f"{_KEY}:")


def take_in(
    conn: Connection, conversation: Conversation, said: Said, *, member: Member, text: str
) -> Accepted:
    """Take in what a member says to the bot; it is answered once that is committed.

    Args:
        conversation: Of the household whose chat it is.
        said: Where, and under which id.
        text: What, without the bot's name.
    """
    return conversation.take_in(
        conn,
        member,
        text,
        channel=CHANNEL,
        chat_id=said.chat.id,
        client_message_id=said.message_id,
        is_shared=not said.chat.is_private,
    )


class ChatOutlet:
    """Puts what a household's conversations have to say into its outbox."""

    def __init__(self, household: Household, clock: Clock) -> None:
        self._household = household
        self._clock = clock

    def ended(self, conn: Connection, turn: Turn, ending: Ending) -> None:
        """Hand on what a turn came to; see `kinkeeper.conversation.parts.Outlet`."""
        member = turn.speaker(self._household)
        if turn.chat_id is None or member is None:
            return
        messages = _messages(conn, turn, ending, is_adult=member.is_adult)
        # What comes late, or where others talk, too, says what it is about.
        is_reply = turn.is_shared or ending.is_late
        for number, (text, action_id) in enumerate(messages):
            has_buttons = action_id is not None and member.is_adult
            of_words = (
                _of_words(conn, turn, ending) if action_id is None and member.is_adult else ()
            )
            message = replace(
                self._message(turn, turn.chat_id, text, key=str(number), is_reply=is_reply),
                buttons=_BUTTONS if has_buttons else of_words,
                action_id=action_id if has_buttons else None,
            )
            outbox.put(conn, self._household.id, message, now=self._clock.now())

    def goes_on(self, conn: Connection, turn: Turn, text: str) -> None:
        """Say that a turn takes a while; see `kinkeeper.conversation.parts.Outlet`."""
        if turn.chat_id is None:
            return
        message = self._message(turn, turn.chat_id, text, key="goes_on", is_reply=True)
        outbox.put(conn, self._household.id, message, now=self._clock.now())

    def _message(
        self, turn: Turn, chat_id: str, text: str, *, key: str, is_reply: bool
    ) -> Outbound:
        return Outbound(
            channel=CHANNEL,
            chat_id=chat_id,
            body=text,
            dedupe_key=f"{_KEY}:{turn.id}:{key}",
            reply_to=turn.client_message_id if is_reply else None,
            deliver_by=self._clock.now() + _ANSWER_WITHIN,
            is_unprompted=False,
            is_soundless=False,
        )


def _of_words(conn: Connection, turn: Turn, ending: Ending) -> tuple[Button, ...]:
    """Return the button that changes who may see what was told, where nobody else reads along."""
    if turn.is_shared:
        return ()
    episode = find_turn_message(
        conn, turn.household, turn.id, member=turn.member, thread=turn.thread_id
    )
    if episode is None:
        return ()
    return tuple(
        Button(label=reply.capitalize(), verb=_OF_WORDS[reply], choice=episode)
        for reply in replies_to(ending.answer.text)
    )


def _messages(
    conn: Connection, turn: Turn, ending: Ending, *, is_adult: bool
) -> Iterator[tuple[str, str | None]]:
    """Yield what is said: the answer with what was found, and each question with all that a yes would do."""
    if ending.outcome is TurnOutcome.FAILED:
        yield _BROKE, None
        return
    parts = [*_cards(ending.results), ending.answer.text]
    questions = [
        (_question(conn, turn, each, is_adult=is_adult), each.action_id)
        for each in ending.results
        if each.status is ResultStatus.AWAITING and each.action_id is not None
    ]
    if len(questions) == 1:
        ((text, action_id),) = questions
        yield paragraphs([*parts, text]), action_id
        return
    if told := paragraphs(parts):
        yield told, None
    yield from questions


def _question(conn: Connection, turn: Turn, result: ActionResult, *, is_adult: bool) -> str:
    proposal = load_action(conn, turn.household, result.action_id or "").proposal
    by_role = Decider.ASKER if is_adult else Decider.ADULT
    more = (_ADULTS_ONLY,) if (result.decider or by_role) is Decider.ADULT else ()
    return question_in_words(proposal.summary, proposal.request.get("shown"), *more)


def _cards(results: Sequence[ActionResult]) -> Iterator[str]:
    for result in results:
        if result.card is not None and result.card.items:
            yield card_in_words(result.card.title, result.card.items)
