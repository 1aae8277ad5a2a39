"""Who hears and sees what: privacy mode, private chats, messages for one person, lost answers."""

import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from botapi import BotApi, Group, Person
from botapi.accounts import Bot
from botapi.clients import BareClient, bare_client


@pytest.fixture
def api() -> Iterator[BotApi]:
    with BotApi() as api:
        yield api


@pytest.fixture
def bot(api: BotApi) -> Bot:
    return api.bot()


@pytest.fixture
def john(api: BotApi) -> Person:
    return api.user("John")


@pytest.fixture
def sarah(api: BotApi) -> Person:
    return api.user("Sarah")


@pytest.fixture
def group(api: BotApi, bot: Bot, john: Person, sarah: Person) -> Group:
    return api.group("Millers", john, sarah, bot)


@pytest.fixture
def client(api: BotApi, bot: Bot, group: Group) -> Iterator[BareClient]:
    with bare_client(api, bot) as client:
        client.news()
        yield client


def test_in_privacy_mode_a_bot_hears_only_what_is_meant_for_it(
    client: BareClient, john: Person, sarah: Person, group: Group
) -> None:
    john.says(group, "I pick up Leo")
    john.says(group, "/quiet 2h")
    john.says(group, "/quiet@other_bot 2h")
    command = john.says(group, "/quiet@kinkeeper_bot 2h")
    sarah.says(group, "thanks @kinkeeper_bot")
    john.says(group, "no, three", reply_to=command)
    assert client.heard() == ["/quiet@kinkeeper_bot 2h", "thanks @kinkeeper_bot", "no, three"]
    client.call("sendMessage", chat_id=group.id, text="Quiet until noon")
    said = [message for message in john.sees(group) if message.text == "Quiet until noon"]
    sarah.says(group, "why?", reply_to=said[0])
    john.says(group, "/why")
    john.says(group, "see you at 4")
    assert client.heard() == ["why?", "/why"]
    group.rename("The Millers")
    assert client.news()[-1]["message"]["new_chat_title"] == "The Millers"


def test_edits_of_what_a_bot_in_privacy_mode_did_not_hear_stay_unheard(
    client: BareClient, john: Person, group: Group
) -> None:
    unheard = john.says(group, "at 4")
    heard = john.says(group, "/why@kinkeeper_bot")
    john.edits(unheard, "at 5")
    john.edits(heard, "/why@kinkeeper_bot that")
    edits = [
        update["edited_message"]["text"] for update in client.news() if "edited_message" in update
    ]
    assert edits == ["/why@kinkeeper_bot that"]


def test_leaving_privacy_mode_needs_the_bot_to_come_again(
    client: BareClient, api: BotApi, john: Person, group: Group, bot: Bot
) -> None:
    api.set_privacy(bot, on=False)
    assert client.call("getMe")["can_read_all_group_messages"]
    john.says(group, "unheard")
    assert client.heard() == []
    group.remove(bot)
    group.add(bot)
    john.says(group, "heard")
    assert client.heard() == ["heard"]


def test_an_administrator_hears_everything(
    client: BareClient, john: Person, group: Group, bot: Bot
) -> None:
    group.promote(bot)
    john.says(group, "heard")
    assert client.heard() == ["heard"]
    group.demote(bot)
    john.says(group, "unheard")
    assert client.heard() == []


def test_a_private_chat_opens_with_start_and_shuts_with_a_block(
    client: BareClient, api: BotApi, sarah: Person, bot: Bot
) -> None:
    assert client.refused("sendMessage", chat_id=sarah.id, text="hi")["error_code"] == 403
    sarah.starts(bot, "join-77")
    started = client.news()[-1]["message"]
    assert started["text"] == "/start join-77"
    assert started["chat"] == {"id": sarah.id, "first_name": "Sarah", "type": "private"}
    assert started["entities"] == [{"type": "bot_command", "offset": 0, "length": 6}]
    client.call("sendMessage", chat_id=sarah.id, text="hi")
    assert [message.text for message in sarah.sees(bot)] == ["/start join-77", "hi"]
    sarah.blocks(bot)
    change = client.news()[-1]["my_chat_member"]
    assert (change["chat"]["type"], change["new_chat_member"]["status"]) == ("private", "kicked")
    refused = client.refused("sendMessage", chat_id=sarah.id, text="hi")
    assert refused["description"] == "Forbidden: bot was blocked by the user"
    sarah.starts(bot)
    kinds = [next(iter(set(update) - {"update_id"})) for update in client.news()]
    assert kinds == ["my_chat_member", "message"]
    client.call("sendMessage", chat_id=sarah.id, text="hi again")


def ephemeral(person: Person, **more: Any) -> dict[str, Any]:
    return {"ephemeral_message_parameters": {"receiver_user_id": person.id, **more}}


def test_a_message_for_one_person_is_seen_by_nobody_else(
    client: BareClient, api: BotApi, john: Person, sarah: Person, group: Group, bot: Bot
) -> None:
    group.promote(bot)
    buttons = {"inline_keyboard": [[{"text": "OK", "callback_data": "ok"}]]}
    sent = client.call(
        "sendMessage", chat_id=group.id, text="For you", reply_markup=buttons, **ephemeral(sarah)
    )
    assert sent["message_id"] == 0
    assert sent["receiver_user"]["id"] == sarah.id
    named = {
        "chat_id": group.id,
        "receiver_user_id": sarah.id,
        "ephemeral_message_id": sent["ephemeral_message_id"],
    }
    shown = sarah.sees(group)[-1]
    assert shown.text == "For you"
    assert shown not in john.sees(group)
    assert shown not in api.messages_in(group)
    sarah.presses(shown, "OK")
    query = client.news()[-1]["callback_query"]
    assert query["message"]["ephemeral_message_id"] == sent["ephemeral_message_id"]
    assert client.refused("deleteMessage", chat_id=group.id, message_id=0)
    assert client.refused("editMessageText", chat_id=group.id, message_id=0, text="x")
    assert client.call("editEphemeralMessageText", **named, text="Done") is True
    assert (shown.text, shown.buttons) == ("Done", [])
    wrong = client.refused("deleteEphemeralMessage", **{**named, "receiver_user_id": john.id})
    assert "MESSAGE_ID_INVALID" in wrong["description"]
    assert client.call("deleteEphemeralMessage", **named) is True
    assert shown not in sarah.sees(group)
    assert client.refused("deleteEphemeralMessage", **named)


def test_without_standing_only_a_fresh_press_allows_a_message_for_one_person(
    client: BareClient, api: BotApi, john: Person, sarah: Person, group: Group
) -> None:
    refused = client.refused("sendMessage", chat_id=group.id, text="x", **ephemeral(sarah))
    assert "CHAT_ADMIN_REQUIRED" in refused["description"]
    buttons = {"inline_keyboard": [[{"text": "Why?", "callback_data": "why"}]]}
    client.call("sendMessage", chat_id=group.id, text="Hm", reply_markup=buttons)
    press = sarah.presses(api.messages_in(group)[-1], "Why?")
    answer = {"chat_id": group.id, "text": "Because"}
    client.call("sendMessage", **answer, **ephemeral(sarah, callback_query_id=press.id))
    assert client.refused("sendMessage", **answer, **ephemeral(john, callback_query_id=press.id))
    api.advance(16)
    assert client.refused("sendMessage", **answer, **ephemeral(sarah, callback_query_id=press.id))


def test_a_command_for_the_bot_alone_may_be_answered_so(
    client: BareClient, api: BotApi, john: Person, sarah: Person, group: Group, bot: Bot
) -> None:
    entry = {"command": "why", "description": "Why?", "is_ephemeral": True}
    client.call("setMyCommands", commands=[entry])
    asked = sarah.says(group, "/why", only_to=bot)
    heard = client.news()[-1]["message"]
    assert (heard["message_id"], heard["text"], heard["receiver_user"]["id"]) == (0, "/why", bot.id)
    assert asked in sarah.sees(group)
    assert asked not in john.sees(group)
    reply = {"reply_parameters": {"ephemeral_message_id": heard["ephemeral_message_id"]}}
    answer = {"chat_id": group.id, "text": "Because", **reply}
    client.call("sendMessage", **answer, **ephemeral(sarah))
    assert sarah.sees(group)[-1].text == "Because"
    assert client.refused("sendMessage", **answer, **ephemeral(john))
    api.advance(16)
    assert client.refused("sendMessage", **answer, **ephemeral(sarah))


def test_a_lost_answer_leaves_the_message_sent_and_a_lost_call_does_not(
    client: BareClient, api: BotApi, group: Group
) -> None:
    before = len(api.messages_in(group))
    api.faults.drop_before("sendMessage")
    with pytest.raises(httpx.TransportError):
        client.raw("sendMessage", chat_id=group.id, text="lost")
    assert len(api.messages_in(group)) == before
    api.faults.drop_after("sendMessage")
    with pytest.raises(httpx.TransportError):
        client.raw("sendMessage", chat_id=group.id, text="sent, unknown to the bot")
    assert len(api.messages_in(group)) == before + 1


def test_broken_answers_are_given_on_demand(client: BareClient, api: BotApi, group: Group) -> None:
    api.faults.internal_error("sendMessage")
    assert client.refused("sendMessage", chat_id=group.id, text="x")["error_code"] == 500
    api.faults.bad_gateway("sendMessage")
    gateway = client.raw("sendMessage", chat_id=group.id, text="x")
    assert (gateway.status_code, gateway.text[:6]) == (502, "<html>")
    api.faults.too_many("sendMessage", retry_after=7)
    flood = client.refused("sendMessage", chat_id=group.id, text="x")
    assert flood["parameters"] == {"retry_after": 7}
    api.faults.garble("sendMessage")
    garbled = client.raw("sendMessage", chat_id=group.id, text="x")
    assert garbled.status_code == 200
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        garbled.json()
    assert client.call("sendMessage", chat_id=group.id, text="x")["text"] == "x"


def test_a_call_stands_still_until_it_is_released(
    client: BareClient, api: BotApi, group: Group, john: Person
) -> None:
    before = api.messages_in(group)
    held = api.faults.hold("sendMessage")
    sending = threading.Thread(
        target=lambda: client.call("sendMessage", chat_id=group.id, text="late")
    )
    sending.start()
    held.wait_until_held()
    assert api.messages_in(group) == before
    first = john.says(group, "first")
    held.release()
    sending.join(5)
    assert [message.text for message in api.messages_in(group)[len(before) :]] == [
        first.text,
        "late",
    ]


def test_rest_is_only_when_everything_was_acknowledged(
    client: BareClient, api: BotApi, group: Group, john: Person
) -> None:
    john.says(group, "/why@kinkeeper_bot")
    for _ in range(2):
        with pytest.raises(AssertionError, match="rest did not come"):
            api.wait_settled(within=0)
        client.news()
    api.wait_settled(within=0)


def test_everything_asked_is_kept_for_tests_to_see(
    client: BareClient, api: BotApi, group: Group, bot: Bot
) -> None:
    client.call("sendChatAction", chat_id=group.id, action="typing")
    client.refused("deleteMessage", chat_id=group.id, message_id=99)
    actions = api.calls("sendChatAction", bot=bot)
    assert [call.arguments["action"] for call in actions] == ["typing"]
    assert [call.answer["error_code"] for call in api.calls("deleteMessage") if call.answer] == [
        400
    ]


def test_an_administrator_may_write_as_the_group(
    client: BareClient, api: BotApi, john: Person, bot: Bot
) -> None:
    big = api.group("Street", john, bot, supergroup=True)
    big.promote(bot)
    john.says(big, "From the board", anonymously=True)
    heard = client.news()[-1]["message"]
    assert heard["sender_chat"]["id"] == big.id
    assert heard["from"]["username"] == "GroupAnonymousBot"
