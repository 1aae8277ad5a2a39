"""What a bot may send, change and ask, as python-telegram-bot reads the answers."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from telegram import BotCommand, InlineKeyboardButton, InlineKeyboardMarkup, ReplyParameters
from telegram.error import BadRequest, ChatMigrated, Conflict, Forbidden, InvalidToken, RetryAfter
from telegram.ext import ApplicationBuilder, CallbackQueryHandler, MessageHandler, filters

from botapi import BotApi, Group, Person
from botapi.accounts import Bot
from botapi.clients import BareClient, bare_client, ptb_bot


class Family:
    """A group of two parents and a bot."""

    def __init__(self, api: BotApi) -> None:
        self.api = api
        self.bot: Bot = api.bot(privacy=False)
        self.john: Person = api.user("John", "Miller", username="johnm")
        self.sarah: Person = api.user("Sarah")
        self.group: Group = api.group("Millers", self.john, self.sarah, self.bot)


@pytest.fixture
def family() -> Iterator[Family]:
    with BotApi() as api:
        yield Family(api)


@pytest.fixture
def client(family: Family) -> Iterator[BareClient]:
    with bare_client(family.api, family.bot) as client:
        client.news()
        yield client


def with_ptb(family: Family, work: Callable[[Any], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with ptb_bot(family.api, family.bot) as bot:
            return await work(bot)

    return asyncio.run(run())


def test_the_bot_is_told_who_it_is_and_who_it_may_hear(family: Family) -> None:
    me = with_ptb(family, lambda bot: bot.get_me())
    assert (me.is_bot, me.username, me.id) == (True, "kinkeeper_bot", family.bot.id)
    assert me.can_join_groups
    assert me.can_read_all_group_messages
    family.api.set_privacy(family.bot, on=True)
    assert not with_ptb(family, lambda bot: bot.get_me()).can_read_all_group_messages


def test_a_message_is_heard_answered_and_its_answer_edited_and_deleted(family: Family) -> None:
    said = family.john.says(family.group, "I pick up Leo at 4")

    async def work(bot: Any) -> None:
        updates = await bot.get_updates(timeout=0)
        heard = updates[-1].message
        assert (heard.text, heard.from_user.id, heard.chat.id) == (
            "I pick up Leo at 4",
            family.john.id,
            family.group.id,
        )
        assert heard.date == family.api.clock.now()
        assert not heard.from_user.is_bot
        answer = await bot.send_message(
            family.group.id,
            "<b>Who</b> else?",
            parse_mode="HTML",
            reply_parameters=ReplyParameters(heard.message_id),
            reply_markup=InlineKeyboardMarkup([[InlineKeyboardButton("Me", callback_data="me")]]),
        )
        assert answer.reply_to_message.text == "I pick up Leo at 4"
        assert [(entity.type, entity.offset, entity.length) for entity in answer.entities] == [
            ("bold", 0, 3)
        ]
        shown = family.api.messages_in(family.group)[-1]
        assert (shown.text, shown.buttons, shown.reply_to) == ("Who else?", ["Me"], said)
        edited = await answer.edit_text("Sarah covers")
        assert edited.edit_date is not None
        assert (shown.text, shown.buttons) == ("Sarah covers", [])
        assert await answer.delete()
        assert shown not in family.api.messages_in(family.group)

    with_ptb(family, work)


def test_every_refusal_reaches_the_library_as_its_own_error(family: Family) -> None:
    stranger = family.api.user("Eve")

    async def work(bot: Any) -> None:
        with pytest.raises(BadRequest, match="Chat not found"):
            await bot.send_message(stranger.id, "hello")
        with pytest.raises(Forbidden, match="can't initiate conversation"):
            await bot.send_message(family.sarah.id, "hello")
        with pytest.raises(BadRequest, match="Message to edit not found"):
            await bot.edit_message_text("x", chat_id=family.group.id, message_id=999)
        sent = await bot.send_message(family.group.id, "same")
        with pytest.raises(BadRequest, match="Message is not modified"):
            await sent.edit_text("same")
        with pytest.raises(BadRequest, match="Message to delete not found"):
            await bot.delete_message(family.group.id, 999)
        with pytest.raises(BadRequest, match="replied not found"):
            await bot.send_message(family.group.id, "x", reply_to_message_id=999)
        new_id = family.group.migrate()
        with pytest.raises(ChatMigrated) as moved:
            await bot.send_message(sent.chat_id, "x")
        assert moved.value.new_chat_id == new_id
        family.group.remove(family.bot)
        with pytest.raises(Forbidden, match="bot was kicked from the supergroup chat"):
            await bot.send_message(family.group.id, "x")

    with_ptb(family, work)


def test_a_token_of_nobody_is_refused(family: Family) -> None:
    async def work(bot: Any) -> None:
        family.api.revoke(family.bot)
        with pytest.raises(InvalidToken):
            await bot.get_me()

    with_ptb(family, work)
    assert with_ptb(family, lambda bot: bot.get_me()).id == family.bot.id


def test_methods_are_found_in_any_case_and_unknown_ones_refused(client: BareClient) -> None:
    assert client.call("GETME")["is_bot"]
    assert client.refused("sendMesage")["error_code"] == 404


def test_too_fast_is_refused_until_the_clock_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTB_TIMEDELTA", "true")  # the library warns of its older way
    with BotApi(flood_control=True) as api:
        family = Family(api)

        async def work(bot: Any) -> None:
            await bot.send_message(family.group.id, "1")
            with pytest.raises(RetryAfter) as early:
                await bot.send_message(family.group.id, "2")
            assert early.value.retry_after == timedelta(seconds=1)
            for number in range(2, 21):
                api.advance(1)
                await bot.send_message(family.group.id, str(number))
            api.advance(1)
            with pytest.raises(RetryAfter) as full:
                await bot.send_message(family.group.id, "21")
            assert full.value.retry_after == timedelta(seconds=40)
            api.advance(40)
            await bot.send_message(family.group.id, "21")

        with_ptb(family, work)
        assert len(api.messages_in(family.group)) == 22


def test_a_second_poller_ends_the_first(family: Family) -> None:
    async def work(bot: Any) -> None:
        await bot.get_updates()

        async def first() -> None:
            with pytest.raises(Conflict, match="terminated by other getUpdates"):
                await bot.get_updates(offset=-1, timeout=30)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(first())
            family.bot.updates.pending.clear()
            await family.api.until(lambda: family.bot.updates.waiting)
            async with ptb_bot(family.api, family.bot) as second:
                assert await second.get_updates(timeout=0) == ()

    with_ptb(family, work)


def test_commands_are_kept_by_scope_and_language(family: Family) -> None:
    async def work(bot: Any) -> None:
        await bot.set_my_commands([BotCommand("why", "Why that?")])
        await bot.set_my_commands(
            [BotCommand("quiet", "Be quiet")],
            scope={"type": "chat", "chat_id": family.group.id},
            language_code="de",
        )
        assert [command.command for command in await bot.get_my_commands()] == ["why"]
        in_group = {"type": "chat", "chat_id": family.group.id}
        german = await bot.get_my_commands(scope=in_group, language_code="de")
        assert [command.command for command in german] == ["quiet"]
        assert await bot.get_my_commands(scope=in_group) == ()

    with_ptb(family, work)


def test_chats_and_their_members_are_described(family: Family) -> None:
    family.group.promote(family.bot)
    left = family.api.user("Tom")
    family.group.add(left)
    left.leaves(family.group)

    async def work(bot: Any) -> None:
        chat = await bot.get_chat(family.group.id)
        assert (chat.title, chat.type) == ("Millers", "group")
        statuses = {
            person.first_name: (await bot.get_chat_member(family.group.id, person.id)).status
            for person in (family.john, family.sarah, left)
        }
        assert statuses == {"John": "creator", "Sarah": "member", "Tom": "left"}
        own = await bot.get_chat_member(family.group.id, family.bot.id)
        assert own.can_pin_messages
        admins = await bot.get_chat_administrators(family.group.id)
        assert {admin.user.id for admin in admins} == {family.john.id, family.bot.id}
        assert await bot.get_chat_member_count(family.group.id) == 3
        assert await bot.send_chat_action(family.group.id, "typing")
        assert await bot.leave_chat(family.group.id)
        with pytest.raises(Forbidden, match="not a member"):
            await bot.send_message(family.group.id, "x")

    with_ptb(family, work)


def test_a_document_comes_back_as_it_was_sent(family: Family) -> None:
    async def work(bot: Any) -> None:
        sent = await bot.send_document(
            family.group.id, b"BEGIN:VCALENDAR", filename="week.ics", caption="The week"
        )
        assert (sent.document.file_name, sent.caption) == ("week.ics", "The week")
        file = await bot.get_file(sent.document.file_id)
        assert bytes(await file.download_as_bytearray()) == b"BEGIN:VCALENDAR"

    with_ptb(family, work)


def test_topics_keep_their_messages_apart(family: Family) -> None:
    forum = family.api.group("Club", family.john, family.bot, forum=True)
    topic = forum.topic("Carpool")
    family.john.says(forum, "Who drives?", topic=topic)

    async def work(bot: Any) -> None:
        heard = (await bot.get_updates())[-1].message
        assert heard.is_topic_message
        assert heard.message_thread_id == topic.id
        answer = await bot.send_message(forum.id, "Noted", message_thread_id=topic.id)
        assert answer.message_thread_id == topic.id
        with pytest.raises(BadRequest, match="thread not found"):
            await bot.send_message(forum.id, "x", message_thread_id=999)

    with_ptb(family, work)


def test_a_whole_program_polls_answers_presses_and_comes_to_rest(family: Family) -> None:
    """The library's own loop in the test's event loop, which must not be held up by waiting."""

    async def ask(update: Any, context: Any) -> None:
        button = InlineKeyboardButton("Me", callback_data="me")
        await update.message.reply_text("Who?", reply_markup=InlineKeyboardMarkup([[button]]))

    async def settle(update: Any, context: Any) -> None:
        query = update.callback_query
        await query.answer("Noted")
        await query.edit_message_text(f"{query.from_user.first_name} does")

    async def run() -> None:
        program = ApplicationBuilder().bot(ptb_bot(family.api, family.bot)).build()
        program.add_handler(MessageHandler(filters.TEXT, ask))
        program.add_handler(CallbackQueryHandler(settle))
        async with program:
            await program.updater.start_polling(timeout=30)
            await program.start()
            family.john.says(family.group, "Somebody must take Leo")
            question = await family.api.until(
                lambda: next((m for m in family.john.sees(family.group) if m.buttons), None)
            )
            assert await family.sarah.presses(question, "Me").answered() == "Noted"
            await family.api.until(lambda: question.text == "Sarah does")
            await family.api.settled()
            await program.updater.stop()
            await program.stop()

    asyncio.run(run())
