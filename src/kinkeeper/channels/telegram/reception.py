"""Takes in what Telegram says happened, presses of buttons too: each update in one transaction.

What our own code fails on is kept whole and counts as taken in, so that it blocks nothing. What the
database does not take is not taken in: Telegram sends it again.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog
from sqlalchemy import Connection

from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.press_tokens import PressedButton
from kinkeeper.channels.telegram import bot_status, commands, private_chat, progress
from kinkeeper.channels.telegram.commands import Asked
from kinkeeper.channels.telegram.families import CHANNEL, Families, Family
from kinkeeper.channels.telegram.inbound import heard, heard_reactions
from kinkeeper.channels.telegram.updates import (
    Commanded,
    Moved,
    Nothing,
    Pressed,
    Reacted,
    Said,
    StandingChanged,
    Unknown,
    Update,
    parse_update,
)
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.conversation.turns import Accepted
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Member
from kinkeeper.messaging import addresses, inbox, outbox
from kinkeeper.messaging.outbound import Outbound, OutboundKind
from kinkeeper.observer.button_presses import press
from kinkeeper.observer.cards.private_cards import card_buttons
from kinkeeper.store.locks import lock
from kinkeeper.store.store import Store

# Presses on buttons: carried out, and answered with a line that only who pressed sees.

# After about this long Telegram takes no answer to a press any more.
_ANSWER_WITHIN = timedelta(seconds=150)


def carry_out(conn: Connection, family: Family, pressed: Pressed, *, now: datetime) -> None:
    """Carry out a press and put its answer; a press that is refused changes nothing and is told why.

    Args:
        family: In whose name the button was shown.
    """
    button = PressedButton(
        data=pressed.data,
        chat_id=pressed.chat.id,
        message_key=pressed.message_key,
        member=family.member(pressed.account),
    )
    answer = press(conn, button, household=family.household, now=now)
    notice = Outbound(
        channel=CHANNEL,
        chat_id=pressed.chat.id,
        body=answer.message,
        dedupe_key=f"press:{pressed.query_id}",
        kind=OutboundKind.NOTICE,
        answer_to=pressed.query_id,
        deliver_by=now + _ANSWER_WITHIN,
        is_unprompted=False,
        is_soundless=True,
    )
    outbox.put(conn, family.household.id, notice, now=now)
    if answer.restored is not None and button.member is not None:
        _show_again(conn, family, pressed, button.member, answer.restored, now=now)


def _show_again(  # noqa: PLR0917 - one card and who gets it
    conn: Connection,
    family: Family,
    pressed: Pressed,
    member: Member,
    action: PendingAction,
    *,
    now: datetime,
) -> None:
    """Put the card of what was brought back, with its buttons, for who pressed alone."""
    card = Outbound(
        channel=CHANNEL,
        chat_id=pressed.chat.id,
        body=action.proposal.summary,
        dedupe_key=f"restored:{action.id}:{member.id}",
        audience=member.id,
        buttons=card_buttons(action),
        action_id=action.id,
        deliver_by=action.expires_at,
        is_unprompted=False,
        is_soundless=True,
    )
    outbox.put(conn, family.household.id, card, now=now)


log = structlog.get_logger()

Expect = Callable[[Conversation, str, str], None]
"""Takes who makes an answer, the id of the turn, and the chat in which it is waited for."""

Begin = Callable[[], None]
"""Begins in this process what an update led to, once that is committed."""


@dataclass(slots=True, kw_only=True)
class Identity:
    """Who the bot is, as far as Telegram has told.

    Attributes:
        bot: Telegram's number of it, from its token.
        username: What people write behind an @, in small letters; None until it was asked for.
    """

    bot: str
    username: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What is to be done about an update outside the database.

    Attributes:
        update_id: Telegram's number of it; None where it has none.
        is_standing_changed: Whether the bot's rights somewhere are to be looked at anew.
    """

    update_id: int | None
    is_standing_changed: bool = field(default=False)


class Reception:
    """Takes in the updates of one bot.

    Args:
        expect: Is told where somebody waits for an answer.
    """

    def __init__(
        self, store: Store, families: Families, *, identity: Identity, clock: Clock, expect: Expect
    ) -> None:
        # Updates of one bot are taken in one at a time; each also locks the household that it turns out to concern.
        self._store = store.locking(f"telegram/{identity.bot}")
        self._families = families
        self._identity = identity
        self._clock = clock
        self._expect = expect

    async def take_in(self, content: object, *, is_in_order: bool) -> Taken:
        """Take in one update; returns once it is durable.

        Args:
            content: Its JSON, whatever it is.
            is_in_order: Whether all updates before it were taken in; then its place is noted.

        Raises:
            UnavailableError: It was not taken in; try again later.
        """
        if self._identity.username is None:
            raise UnavailableError("the bot's identity is not known yet; try again")
        update, now = parse_update(content), self._clock.now()

        def work(conn: Connection) -> Sequence[Begin]:
            if is_in_order and update.update_id is not None:
                progress.note(conn, self._identity.bot, update.update_id, now=now)
            return self._handle(conn, update, content, now)

        try:
            for begin in await self._store.write(work):
                begin()
        except UnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - one update that we fail on must not block the others
            await self._set_aside(update, content, error, is_in_order=is_in_order)
        is_changed = isinstance(update, StandingChanged | Moved)
        return Taken(update_id=update.update_id, is_standing_changed=is_changed)

    def _handle(
        self, conn: Connection, update: Update, content: object, now: datetime
    ) -> Sequence[Begin]:
        """Write down all that an update leads to; return what is to begin once that is committed."""
        match update:
            case Said():
                return self._hear(conn, update, now)
            case Commanded():
                self._command(conn, update, now)
            case Reacted():
                self._react(conn, update, now)
            case Pressed():
                self._press(conn, update, now)
            case StandingChanged():
                self._stand(conn, update, now)
            case Moved():
                self._move(conn, update, now)
            case Unknown():
                self._keep_unread(conn, update, content, now)
            case Nothing():
                pass
        return ()

    def _hear(self, conn: Connection, said: Said, now: datetime) -> Sequence[Begin]:
        if said.chat.is_private:
            return () if said.is_edit else self._converse_alone(conn, said, now)
        family = self._family(conn, said.chat.id, now)
        if family is None:
            return ()
        if _is_why(said) and self._is_own(conn, family, said):
            commands.answer(conn, family, _asked(said, "why"), now=now)
            return ()
        begun = self._converse(conn, family, said)
        if begun is not None:
            return begun
        message = heard(conn, family, said)
        if message is not None:
            family.intake.receive(conn, message, now=now)
        return ()

    def _converse_alone(self, conn: Connection, said: Said, now: datetime) -> Sequence[Begin]:
        """Answer what is said in a private chat: the first household in which the person is somebody does."""
        theirs = self._families.of_account(said.author.account)
        speaking = next((each for each in theirs if each[0].conversation is not None), None)
        if speaking is None or speaking[0].conversation is None:
            self._talk(conn, _asked(said, "help"), now)
            return ()
        family, member = speaking
        lock(conn, family.household.id)
        addresses.remember_private_chat(
            conn, family.household.id, CHANNEL, member=member.id, chat_id=said.chat.id, now=now
        )
        talk = speaking[0].conversation
        accepted = private_chat.take_in(conn, talk, said, member=member, text=said.text)
        return (partial(self._begin, talk, accepted, said.chat.id),)

    def _converse(self, conn: Connection, family: Family, said: Said) -> Sequence[Begin] | None:
        """Answer what a member says to the bot in their group; None where it is not for the bot."""
        member, talk = family.member(said.author.account), family.conversation
        if member is None or talk is None or said.is_edit:
            return None
        text = private_chat.addressed(
            said, username=self._identity.username, bot_name=family.household.bot_name
        )
        if text is None and private_chat.answers_conversation(conn, family.household.id, said):
            text = said.text
        if text is None:
            return None
        accepted = private_chat.take_in(conn, talk, said, member=member, text=text)
        return (partial(self._begin, talk, accepted, said.chat.id),)

    def _begin(self, talk: Conversation, accepted: Accepted, chat_id: str) -> None:
        """Have a message answered, and show that if it takes long."""
        talk.begin(accepted)
        if accepted.is_new:
            self._expect(talk, accepted.turn_id, chat_id)

    def _react(self, conn: Connection, reacted: Reacted, now: datetime) -> None:
        family = self._family(conn, reacted.chat.id, now) if not reacted.chat.is_private else None
        if family is None:
            return
        for message in heard_reactions(conn, family, reacted):
            family.intake.receive(conn, message, now=now)

    def _command(self, conn: Connection, command: Commanded, now: datetime) -> None:
        if command.addressee not in {None, self._identity.username}:
            return
        asked = Asked(
            update_id=command.update_id,
            chat=command.chat,
            account=command.author.account,
            message_id=command.message_id,
            name=command.name,
            argument=command.argument,
            about=command.reply_to,
        )
        if command.chat.is_private:
            self._talk(conn, asked, now)
            return
        family = self._family(conn, command.chat.id, now)
        if family is not None:
            commands.answer(conn, family, asked, now=now)

    def _talk(self, conn: Connection, asked: Asked, now: datetime) -> None:
        """Answer in a private chat: to each household in which the person is somebody."""
        theirs = self._theirs(asked.account)
        if not theirs:
            bot_status.count_stranger(conn, self._identity.bot, asked.chat.id, now=now)
            bot_status.answer_stranger(conn, asked.chat.id, asked.account, now=now)
        for family, member in theirs:
            lock(conn, family.household.id)
            addresses.remember_private_chat(
                conn, family.household.id, CHANNEL, member=member.id, chat_id=asked.chat.id, now=now
            )
            commands.answer(conn, family, asked, now=now)

    def _press(self, conn: Connection, pressed: Pressed, now: datetime) -> None:
        family = self._families.of_press(
            conn, pressed.chat.id, pressed.account, pressed.data, is_private=pressed.chat.is_private
        )
        if family is None:
            bot_status.count_stranger(conn, self._identity.bot, pressed.chat.id, now=now)
            return
        lock(conn, family.household.id)
        carry_out(conn, family, pressed, now=now)

    def _stand(self, conn: Connection, changed: StandingChanged, now: datetime) -> None:
        if changed.chat.is_private:
            for own, member in self._theirs(changed.account):
                if not changed.is_present:
                    lock(conn, own.household.id)
                    addresses.forget_private_chat(conn, own.household.id, CHANNEL, member.id)
            return
        family = self._family(conn, changed.chat.id, now)
        if family is not None:
            addresses.set_member_only(
                conn,
                family.household.id,
                CHANNEL,
                changed.chat.id,
                may=changed.is_present and changed.governs,
                now=now,
            )

    def _move(self, conn: Connection, moved: Moved, now: datetime) -> None:
        family = self._families.of_chat(conn, moved.old)
        if family is None:
            bot_status.count_stranger(conn, self._identity.bot, moved.old, now=now)
            return
        lock(conn, family.household.id)
        addresses.record_move(
            conn, family.household.id, CHANNEL, old=moved.old, new=moved.new, now=now
        )

    def _family(self, conn: Connection, chat_id: str, now: datetime) -> Family | None:
        """Return whose a group is; of a group that is nobody's only its number is kept."""
        family = self._families.of_chat(conn, chat_id)
        if family is None:
            bot_status.count_stranger(conn, self._identity.bot, chat_id, now=now)
            return None
        lock(conn, family.household.id)
        return family

    def _theirs(self, account: int | None) -> Sequence[tuple[Family, Member]]:
        """Return the households in which somebody is a member, in the order in which they are locked."""
        return sorted(self._families.of_account(account), key=lambda each: each[0].household.id)

    def _is_own(self, conn: Connection, family: Family, said: Said) -> bool:
        """Whether a message answers one of ours."""
        return said.reply_to is not None and (
            outbox.find_by_channel_id(
                conn, family.household.id, CHANNEL, said.chat.id, message_id=said.reply_to
            )
            is not None
        )

    def _keep_unread(
        self, conn: Connection, unknown: Unknown, content: object, now: datetime
    ) -> None:
        """Keep an update of a kind we asked for that cannot be read, if it is from a chat of ours."""
        log.warning("telegram.update.unread", update=unknown.update_id, kind=unknown.kind)
        if unknown.kind is None or unknown.chat_id is None:
            return
        family = self._family(conn, unknown.chat_id, now)
        if family is not None:
            _keep(conn, family, unknown, content, error="cannot be read", now=now)

    async def _set_aside(
        self, update: Update, content: object, error: Exception, *, is_in_order: bool
    ) -> None:
        """Keep an update that our code failed on, and count it as taken in."""
        reason, now = type(error).__name__, self._clock.now()
        log.error("telegram.update.failed", update=update.update_id, error=reason)

        def work(conn: Connection) -> None:
            if is_in_order and update.update_id is not None:
                progress.note(conn, self._identity.bot, update.update_id, now=now)
            for family in self._concerned(conn, update):
                lock(conn, family.household.id)
                _keep(conn, family, update, content, error=reason, now=now)

        await self._store.write(work)

    def _concerned(self, conn: Connection, update: Update) -> Sequence[Family]:
        match update:
            case Said() | Commanded() | Reacted() | Pressed() | StandingChanged():
                chat = update.chat
            case _:
                return ()
        if chat.is_private:
            return [family for family, _ in self._theirs(int(chat.id))]
        family = self._families.of_chat(conn, chat.id)
        return () if family is None else (family,)


def _asked(said: Said, name: str) -> Asked:
    return Asked(
        update_id=said.update_id,
        chat=said.chat,
        account=said.author.account,
        message_id=said.message_id,
        name=name,
        argument="",
        about=said.reply_to,
    )


def _is_why(said: Said) -> bool:
    return not said.is_edit and said.text.strip().rstrip("?!. ").lower() == "why"


def _keep(
    conn: Connection, family: Family, update: Update, content: object, *, error: str, now: datetime
) -> None:
    inbox.keep_failed(
        conn,
        family.household.id,
        channel=CHANNEL,
        update_id=str(update.update_id),
        content=json.dumps(content),
        error=error,
        now=now,
    )
