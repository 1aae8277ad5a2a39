"""What stands under and in a message: buttons, the answers to their presses, and measured text."""

from collections.abc import Iterator
from typing import Any

import pytest

from botapi import BotApi, Group, Person
from botapi.clients import BareClient, bare_client


@pytest.fixture
def api() -> Iterator[BotApi]:
    with BotApi() as api:
        yield api


@pytest.fixture
def john(api: BotApi) -> Person:
    return api.user("John")


@pytest.fixture
def sarah(api: BotApi) -> Person:
    return api.user("Sarah")


@pytest.fixture
def group(api: BotApi, john: Person, sarah: Person) -> Group:
    return api.group("Millers", john, sarah, api.bot())


@pytest.fixture
def client(api: BotApi, group: Group) -> Iterator[BareClient]:
    (bot,) = group.chat.bots()
    with bare_client(api, bot) as client:
        client.news()
        yield client


def keyboard(*labels: str, data: str = "") -> dict[str, Any]:
    return {
        "inline_keyboard": [
            [{"text": label, "callback_data": data or label.lower()} for label in labels]
        ]
    }


def test_a_press_is_shown_its_answer_once_and_in_time(
    client: BareClient, api: BotApi, group: Group, john: Person, sarah: Person
) -> None:
    client.call("sendMessage", chat_id=group.id, text="Who?", reply_markup=keyboard("Me"))
    question = api.messages_in(group)[-1]
    press = sarah.presses(question, "Me")
    query = client.news()[-1]["callback_query"]
    assert (query["data"], query["from"]["id"]) == ("me", sarah.id)
    assert query["message"]["text"] == "Who?"
    assert query["chat_instance"].lstrip("-").isdigit()
    assert query["chat_instance"] != str(group.id)
    long = client.refused("answerCallbackQuery", callback_query_id=query["id"], text="x" * 201)
    assert "MESSAGE_TOO_LONG" in long["description"]
    assert press.answer is None
    client.call("answerCallbackQuery", callback_query_id=query["id"], text="x" * 200)
    assert press.shown() == "x" * 200
    late = john.presses(question, "Me")
    api.advance(150)
    old = client.refused("answerCallbackQuery", callback_query_id=late.id)
    assert "query is too old" in old["description"]
    assert client.news() == [], "an old press is not delivered either"


def test_presses_by_two_people_carry_the_same_chat_and_their_own_names(
    client: BareClient, api: BotApi, group: Group, john: Person, sarah: Person
) -> None:
    client.call("sendMessage", chat_id=group.id, text="Who?", reply_markup=keyboard("Me"))
    question = api.messages_in(group)[-1]
    john.presses(question, "Me")
    sarah.presses(question, "Me")
    first, second = (update["callback_query"] for update in client.news())
    assert first["chat_instance"] == second["chat_instance"]
    assert (first["from"]["id"], second["from"]["id"]) == (john.id, sarah.id)


def test_a_button_holds_64_bytes_and_not_one_more(client: BareClient, group: Group) -> None:
    fits, too_long = "é" * 32, "é" * 33
    client.call("sendMessage", chat_id=group.id, text="x", reply_markup=keyboard("A", data=fits))
    refused = client.refused(
        "sendMessage", chat_id=group.id, text="x", reply_markup=keyboard("A", data=too_long)
    )
    assert refused["description"] == "Bad Request: BUTTON_DATA_INVALID"


def test_text_is_measured_in_characters_after_the_marks_are_read(
    client: BareClient, group: Group
) -> None:
    longest = "🦊" * 4096
    sent = client.call("sendMessage", chat_id=group.id, text=f"<b>{longest}</b>", parse_mode="HTML")
    assert sent["entities"] == [{"type": "bold", "offset": 0, "length": 8192}]
    over = client.refused("sendMessage", chat_id=group.id, text=longest + "!")
    assert over["description"] == "Bad Request: message is too long"
    for nothing in ("", " \n ", "\u200b\u2800"):
        assert client.refused("sendMessage", chat_id=group.id, text=nothing)
