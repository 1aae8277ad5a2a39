"""Two libraries written apart read every kind of update and answer of the emulator."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import telegram

from botapi import BotApi
from botapi.accounts import Bot
from botapi.clients import BareClient, bare_client
from botapi.updates_queue import KINDS

WANTED = {
    "message",
    "edited_message",
    "callback_query",
    "my_chat_member",
    "chat_member",
    "message_reaction",
}

# The API writes these beside their successors, and no longer documents them.
OLDER_FIELDS = {
    "all_members_are_administrators",
    "can_manage_voice_chats",
    "new_chat_member",
    "new_chat_participant",
    "left_chat_participant",
}


@pytest.fixture(scope="module")
def week() -> Iterator[tuple[Bot, list[dict[str, Any]], dict[str, Any]]]:
    """Yield what a bot got, and what it was answered, while everything happened once."""
    with BotApi() as api:
        bot = api.bot(privacy=False)
        with bare_client(api, bot) as client:
            client.call("getUpdates", allowed_updates=sorted(KINDS))
            answers = _everything(api, bot, client)
        yield bot, api.updates_of(bot), answers


def _everything(api: BotApi, bot: Bot, client: BareClient) -> dict[str, Any]:
    john = api.user("John", "Miller", username="johnm")
    sarah = api.user("Sarah", language_code="de")
    group = api.group("Millers", john, sarah, bot)
    group.promote(bot)
    sarah.starts(bot, "join-7")
    sarah.blocks(bot)
    sarah.starts(bot)
    first = john.says(group, "Leo: soccer at 5? @kinkeeper_bot #leo kids.example.com a@b.org")
    sarah.says(group, "ok 👍", reply_to=first)
    john.edits(first, "Leo: soccer at 6")
    for kind in ("photo", "voice", "document", "sticker", "location", "contact"):
        john.sends(group, kind, caption="" if kind != "photo" else "The list")
    john.forwards(group, "Practice is off", origin="Coach")
    sarah.reacts(first, "👍")
    sarah.reacts(first)
    tom = api.user("Tom")
    group.add(tom)
    group.promote(tom)
    tom.leaves(group)
    answers = _calls(client, group.id, sarah.id)
    question = api.messages_in(group)[-1]
    sarah.presses(question, "Me")
    sarah.presses(sarah.sees(group)[-1], "Why?")
    group.rename("The Millers")
    group.migrate()
    john.says(group, "Now as the group", anonymously=True)
    forum = api.group("Club", john, bot, forum=True)
    john.says(forum, "Who drives?", topic=forum.topic("Carpool"))
    group.remove(bot)
    return answers


def _calls(client: BareClient, group: int, sarah: int) -> dict[str, Any]:
    buttons = {"inline_keyboard": [[{"text": "Me", "callback_data": "me", "style": "success"}]]}
    private = {"inline_keyboard": [[{"text": "Why?", "callback_data": "why"}]]}
    hidden = {"receiver_user_id": sarah}
    sent = client.call(
        "sendMessage", chat_id=group, text="*Who*?", parse_mode="MarkdownV2", reply_markup=buttons
    )
    one = client.call(
        "sendMessage",
        chat_id=group,
        text="For you",
        reply_markup=private,
        ephemeral_message_parameters=hidden,
    )
    client.call("setMyCommands", commands=[{"command": "why", "description": "Why?"}])
    return {
        "getMe": client.call("getMe"),
        "sendMessage": sent,
        "ephemeral": one,
        "editMessageText": client.call(
            "editMessageText",
            chat_id=group,
            message_id=sent["message_id"],
            text="Who does?",
            reply_markup=buttons,
        ),
        "getChat": client.call("getChat", chat_id=group),
        "private chat": client.call("getChat", chat_id=sarah),
        "getChatMember": client.call("getChatMember", chat_id=group, user_id=sarah),
        "getChatAdministrators": client.call("getChatAdministrators", chat_id=group),
        "getMyCommands": client.call("getMyCommands"),
        "getWebhookInfo": client.call("getWebhookInfo"),
    }


def kinds_of(updates: list[dict[str, Any]]) -> set[str]:
    return {kind for update in updates for kind in update if kind != "update_id"}


def test_python_telegram_bot_reads_everything(week: Any) -> None:
    _, updates, answers = week
    assert kinds_of(updates) == WANTED
    for given in updates:
        read = telegram.Update.de_json(given)
        kind = (kinds_of([given])).pop()
        part = getattr(read, kind)
        assert part is not None, given
        assert "date" not in given[kind] or part.date.timestamp() == given[kind]["date"]
    types = {
        "getMe": telegram.User,
        "sendMessage": telegram.Message,
        "ephemeral": telegram.Message,
        "editMessageText": telegram.Message,
        "getChat": telegram.ChatFullInfo,
        "private chat": telegram.ChatFullInfo,
        "getChatMember": telegram.ChatMember,
        "getWebhookInfo": telegram.WebhookInfo,
    }
    for name, kind in types.items():
        assert kind.de_json(answers[name]) is not None
    assert telegram.ChatMember.de_list(answers["getChatAdministrators"])
    assert telegram.BotCommand.de_list(answers["getMyCommands"])


@pytest.mark.slow  # the library takes seconds to import
def test_aiogram_reads_everything_and_drops_nothing(week: Any) -> None:
    aiogram_types = pytest.importorskip("aiogram.types")
    _, updates, answers = week
    for given in updates:
        read = aiogram_types.Update.model_validate(given)
        assert read.event_type in WANTED
        assert _as_given(read) == given
        assert _unknown(read) <= OLDER_FIELDS
    types = {
        "getMe": aiogram_types.User,
        "sendMessage": aiogram_types.Message,
        "ephemeral": aiogram_types.Message,
        "editMessageText": aiogram_types.Message,
        "getChat": aiogram_types.ChatFullInfo,
        "private chat": aiogram_types.ChatFullInfo,
        "getChatMember": aiogram_types.ChatMemberMember,
        "getWebhookInfo": aiogram_types.WebhookInfo,
    }
    for name, kind in types.items():
        read = kind.model_validate(answers[name])
        assert _as_given(read) == answers[name], name
        assert _unknown(read) <= OLDER_FIELDS, name
    assert answers["ephemeral"]["ephemeral_message_id"]


def _as_given(read: Any) -> Any:
    """Return what was read as it was given: only what was set, under the API's names."""
    return read.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _unknown(read: Any) -> set[str]:
    """Return the names of fields that the library does not know: misspelled ones would show."""
    if isinstance(read, list):
        return set().union(*map(_unknown, read))
    if not hasattr(read, "model_extra"):
        return set()
    parts = [getattr(read, name) for name in type(read).model_fields]
    return set(read.model_extra or {}).union(*map(_unknown, parts))


def talking_to(api: BotApi, bot: Bot, work: Callable[[Any, Any], Awaitable[None]]) -> None:
    """Run `work` with the library and its client of the bot."""
    aiogram = pytest.importorskip("aiogram")
    server = importlib.import_module("aiogram.client.telegram").TelegramAPIServer
    session = importlib.import_module("aiogram.client.session.aiohttp").AiohttpSession

    async def run() -> None:
        connection = session(api=server.from_base(api.url))
        async with aiogram.Bot(bot.token, session=connection) as client:
            await work(aiogram, client)

    asyncio.run(run())


@pytest.mark.slow
def test_aiogram_hears_answers_and_edits_over_http() -> None:
    async def work(aiogram: Any, client: Any) -> None:
        assert (await client.get_me()).is_bot
        said = john.says(group, "Soccer at 5")
        updates = await client.get_updates(timeout=0)
        assert updates[-1].message.text == said.text
        button = aiogram.types.InlineKeyboardButton(text="Me", callback_data="me")
        answer = await client.send_message(
            group.id,
            "<i>Who?</i>",
            parse_mode="HTML",
            reply_to_message_id=updates[-1].message.message_id,
            reply_markup=aiogram.types.InlineKeyboardMarkup(inline_keyboard=[[button]]),
        )
        press = john.presses(api.messages_in(group)[-1], "Me")
        query = (await client.get_updates(offset=updates[-1].update_id + 1))[-1].callback_query
        await client.answer_callback_query(query.id, text="Noted")
        assert await press.answered() == "Noted"
        await client.edit_message_text("John", chat_id=group.id, message_id=answer.message_id)
        only = aiogram.types.EphemeralMessageParameters(receiver_user_id=john.id)
        hidden = await client.send_message(group.id, "psst", ephemeral_message_parameters=only)
        assert await client.edit_ephemeral_message_text(
            chat_id=group.id,
            receiver_user_id=john.id,
            ephemeral_message_id=hidden.ephemeral_message_id,
            text="hush",
        )
        assert john.sees(group)[-1].text == "hush"
        file = aiogram.types.BufferedInputFile(b"BEGIN:VCALENDAR", filename="week.ics")
        assert (await client.send_document(group.id, file)).document.file_name == "week.ics"

    with BotApi() as api:
        bot, john = api.bot(), api.user("John")
        group = api.group("Millers", john, bot)
        group.promote(bot)
        talking_to(api, bot, work)


@pytest.mark.slow
def test_aiogram_tells_the_refusals_apart() -> None:
    async def work(aiogram: Any, client: Any) -> None:
        errors = importlib.import_module("aiogram.exceptions")
        with pytest.raises(errors.TelegramBadRequest, match="not found"):
            await client.delete_message(group.id, 999)
        with pytest.raises(errors.TelegramForbiddenError):
            await client.send_message(john.id, "hi")
        api.faults.too_many("sendMessage", retry_after=3)
        with pytest.raises(errors.TelegramRetryAfter) as flood:
            await client.send_message(group.id, "x")
        assert flood.value.retry_after == 3
        api.faults.internal_error("sendMessage")
        with pytest.raises(errors.TelegramServerError):
            await client.send_message(group.id, "x")
        old, new = group.id, group.migrate()
        with pytest.raises(errors.TelegramMigrateToChat) as moved:
            await client.send_message(old, "x")
        assert moved.value.migrate_to_chat_id == new
        await client.set_webhook("http://127.0.0.1:9/hook")
        with pytest.raises(errors.TelegramConflictError):
            await client.get_updates()
        api.revoke(bot)
        with pytest.raises(errors.TelegramUnauthorizedError):
            await client.get_me()

    with BotApi() as api:
        bot, john = api.bot(), api.user("John")
        group = api.group("Millers", john, bot)
        talking_to(api, bot, work)
