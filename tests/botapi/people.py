"""People: what somebody with the app can do, and sees."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from botapi import media
from botapi.accounts import Bot, User
from botapi.chats import Chat, Message, Topic
from botapi.entities import find, trimmed
from botapi.ephemeral import place_ephemeral
from botapi.groups import Group
from botapi.messages import shown_to
from botapi.posting import post, set_status, tell, tell_edit
from botapi.world import ButtonPress, World, chat_instance

FIRST_QUERY = 4_382_700_000_000_000_001


@dataclass(frozen=True, slots=True)
class Press:
    """A press of a button, and what the app then showed."""

    _world: World
    _press: ButtonPress

    @property
    def id(self) -> str:
        """The id of the callback query."""
        return self._press.id

    @property
    def answer(self) -> dict[str, Any] | None:
        """What the bot answered so far: `text`, `show_alert`, `url`."""
        with self._world.changed:
            return self._press.answer

    def shown(self, within: float = 5) -> str:
        """Return the text the app showed once the bot answered, which may be empty.

        Raises:
            AssertionError: The bot did not answer in time.
        """
        deadline = time.monotonic() + within
        with self._world.changed:
            while self._press.answer is None:
                left = deadline - time.monotonic()
                assert left > 0, "the press was not answered"
                self._world.changed.wait(left)
            return str(self._press.answer["text"])

    async def answered(self, within: float = 5) -> str:
        """Do as `shown`, for a test whose bot runs in the same event loop."""
        return await asyncio.to_thread(self.shown, within)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with the app."""

    world: World
    account: User

    @property
    def id(self) -> int:
        return self.account.id

    @property
    def first_name(self) -> str:
        return self.account.first_name

    def says(
        self,
        place: Group | Bot,
        text: str,
        *,
        reply_to: Message | None = None,
        topic: Topic | None = None,
        entities: list[dict[str, Any]] | None = None,
        anonymously: bool = False,
        only_to: Bot | None = None,
    ) -> Message:
        """Write to a group, or to a bot in private.

        Args:
            place: Where.
            text: Trimmed as the app does.
            reply_to: The message answered.
            topic: In a forum.
            entities: Marks the app made, such as the mention of a person without a handle; the
                others are found.
            anonymously: As the supergroup itself, as its administrators may.
            only_to: The bot that alone sees it: for commands whose menu entry says so.
        """
        kept, marked = trimmed(text, entities or [])
        assert kept, "the app sends no empty message"
        found = find(kept, marked)
        header: dict[str, Any] = {}
        if only_to is not None:
            return self._commands(place, only_to, kept)
        if anonymously:
            assert isinstance(place, Group), "only in a supergroup"
            assert place.chat.kind == "supergroup", "only in a supergroup"
            header["sender_chat"] = place.chat.as_json()
        return self._post(
            place, text=kept, entities=found, reply_to=reply_to, topic=topic, header=header
        )

    def sends(
        self,
        place: Group | Bot,
        kind: media.Kind,
        *,
        caption: str = "",
        reply_to: Message | None = None,
        topic: Topic | None = None,
    ) -> Message:
        """Send something else than text: a photo, a voice note, a document, a sticker, a place."""
        with self.world.changing():
            content = media.content(kind, len(self.world.files))
            self.world.files[f"sent{len(self.world.files)}"] = b""
        return self._post(
            place,
            text=caption,
            entities=find(caption),
            content=content,
            reply_to=reply_to,
            topic=topic,
        )

    def forwards(self, place: Group | Bot, text: str, *, origin: str) -> Message:
        """Forward the text of somebody whose account is hidden, and who is shown by this name."""
        date = self.world.date()
        hidden = {"type": "hidden_user", "sender_user_name": origin, "date": date - 3600}
        return self._post(place, text=text, entities=find(text), header={"forward_origin": hidden})

    def _post(self, place: Group | Bot, **fields: Any) -> Message:
        with self.world.changing():
            chat = self._chat(place)
            message = Message(chat=chat, sender=self.account, date=self.world.date(), **fields)
            return post(self.world, message)

    def _commands(self, place: Group | Bot, bot: Bot, text: str) -> Message:
        named = text.split(maxsplit=1)[0].removeprefix("/").split("@")[0]
        menu = [command for menu in bot.commands.values() for command in menu]
        secret = {command["command"] for command in menu if command.get("is_ephemeral")}
        assert named in secret, f"the bot's menu has no /{named} for its eyes only: {secret}"
        with self.world.changing():
            message = Message(
                chat=self._chat(place),
                sender=self.account,
                date=self.world.date(),
                text=text,
                entities=find(text),
                receiver=bot,
            )
            place_ephemeral(message)
            tell(self.world, bot, "message", message.chat, shown_to(bot, message))
            return message

    def _chat(self, place: Group | Bot) -> Chat:
        if isinstance(place, Group):
            member = place.chat.member(self.id)
            assert member is not None, f"{self.first_name} is not in {place.title}"
            assert member.present, f"{self.first_name} is no longer in {place.title}"
            assert place.chat.migrated_to is None, "the group became a supergroup"
            return place.chat
        chat = self.world.private_chat(place, self.account)
        chat.started = True
        assert not chat.blocked, "the bot is blocked"
        return chat

    def edits(self, message: Message, text: str) -> None:
        """Change the text, or the caption, of one's own message."""
        assert message.sender is self.account, "people edit their own messages only"
        with self.world.changing():
            kept, _ = trimmed(text, [])
            message.text, message.entities = kept, find(kept)
            message.edited_at = self.world.date()
            tell_edit(self.world, message)

    def deletes(self, message: Message) -> None:
        """Delete a message for everyone. No bot hears of it."""
        with self.world.changing():
            message.deleted = True

    def reacts(self, message: Message, *emoji: str) -> None:
        """React to a message in place of what one reacted before; without emoji, take it back."""
        with self.world.changing():
            before = message.reactions.get(self.id, [])
            if before == list(emoji):
                return
            message.reactions[self.id] = list(emoji)
            for bot in message.chat.bots():
                member = message.chat.member(bot.id)
                if member is not None and member.governs:
                    body = self._reaction(bot, message, before)
                    tell(self.world, bot, "message_reaction", message.chat, body)

    def _reaction(self, bot: Bot, message: Message, before: list[str]) -> dict[str, Any]:
        return {
            "chat": message.chat.as_json(),
            "message_id": message.id_for(bot),
            "user": self.account.as_json(),
            "date": self.world.date(),
            "old_reaction": [{"type": "emoji", "emoji": emoji} for emoji in before],
            "new_reaction": [
                {"type": "emoji", "emoji": emoji} for emoji in message.reactions[self.id]
            ],
        }

    def presses(self, message: Message, label: str) -> Press:
        """Press the button with this label, as it stands now."""
        button = message.button(label)
        assert "callback_data" in button, f"{label!r} is no button that a bot hears of"
        return self.presses_data(message, button["callback_data"])

    def presses_data(self, message: Message, data: str) -> Press:
        """Press a button that carries this, even where it is no longer shown, as a late tap does."""
        assert message.receiver in {None, self.account}, "nobody else sees this message"
        with self.world.changing():
            bot = message.keyboard_by or message.sender
            assert isinstance(bot, Bot), "no bot put a keyboard there"
            press = ButtonPress(
                id=str(FIRST_QUERY + len(self.world.presses)),
                user=self.account,
                bot=bot,
                message=message,
                made_at=self.world.seconds(),
            )
            self.world.presses[press.id] = press
            body = {
                "id": press.id,
                "from": self.account.as_json(),
                "message": shown_to(bot, message),
                "chat_instance": chat_instance(message.chat),
                "data": data,
            }
            queue, now = f"press{self.id}", self.world.seconds()
            bot.updates.add("callback_query", body, queue=queue, now=now)
        return Press(self.world, press)

    def starts(self, bot: Bot, parameter: str = "") -> Message:
        """Press Start in the chat with a bot, or unblock it so; it may write from then on."""
        with self.world.changing():
            chat = self.world.private_chat(bot, self.account)
            if chat.blocked:
                self._set_blocked(bot, blocked=False)
        return self.says(bot, f"/start {parameter}".strip())

    def blocks(self, bot: Bot) -> None:
        """Block a bot."""
        with self.world.changing():
            self._set_blocked(bot, blocked=True)

    def _set_blocked(self, bot: Bot, *, blocked: bool) -> None:
        chat = self.world.private_chat(bot, self.account)
        chat.blocked = blocked
        set_status(self.world, chat, bot, "kicked" if blocked else "member", by=self.account)

    def joins(self, group: Group) -> None:
        """Join a group."""
        group.add(self, by=self)

    def leaves(self, group: Group) -> None:
        """Leave a group."""
        group.remove(self, by=self)

    def sees(self, place: Group | Bot) -> list[Message]:
        """Return what stands in a chat for this person: all but what is for somebody else."""
        with self.world.changed:
            chat = (
                place.chat
                if isinstance(place, Group)
                else self.world.private_chat(place, self.account)
            )
            own = [
                message
                for message in chat.ephemerals
                if self.account in {message.receiver, message.sender}
            ]
            shown = [message for message in [*chat.messages, *own] if not message.deleted]
            return sorted(shown, key=lambda message: (message.date, message.number))
