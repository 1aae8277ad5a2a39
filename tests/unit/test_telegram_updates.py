"""What an update says, as a value."""

from typing import Any

import pytest

from kinkeeper.channels.telegram.updates import (
    Commanded,
    Moved,
    Nothing,
    Pressed,
    Reacted,
    Said,
    StandingChanged,
    Unknown,
    parse_update,
)

CHAT = {"id": -100123, "type": "supergroup", "title": "The Millers"}
PERSON = {"id": 5100000001, "is_bot": False, "first_name": "John"}
DATE = 1772460000


def message(kind: str = "message", **fields: Any) -> dict[str, Any]:
    plain = {"message_id": 12, "from": PERSON, "chat": CHAT, "date": DATE}
    return {"update_id": 411, kind: {**plain, **fields}}


def parsed(kind: str = "message", **fields: Any) -> Any:
    return parse_update(message(kind, **fields))


def test_words_are_said_by_an_account() -> None:
    said = parsed(text="Soccer at 5", reply_to_message={"message_id": 11})
    assert isinstance(said, Said)
    assert (said.chat.id, said.message_id, said.author.name) == ("-100123", "12", "5100000001")
    assert (said.text, said.reply_to, said.is_edit) == ("Soccer at 5", "11", False)


def test_what_stands_under_a_picture_is_said_and_a_picture_alone_is_nothing() -> None:
    assert parsed(caption="The list", photo=[{}]).text == "The list"
    assert isinstance(parsed(photo=[{}]), Nothing)
    assert isinstance(parsed(new_chat_title="Us"), Nothing)


def test_forwarded_words_are_nobodys_here() -> None:
    origin = {"type": "hidden_user", "sender_user_name": "John", "date": DATE}
    said = parsed(text="I'll pick up Leo", forward_origin=origin)
    assert said.author.name == "John (forwarded)"
    assert said.author.account is None
    named = {"type": "user", "sender_user": {**PERSON, "first_name": "Sarah"}}
    assert parsed(text="x", forward_origin=named).author.name == "Sarah (forwarded)"
    assert parsed(text="/pending", forward_origin=origin).text == "/pending"


def test_who_writes_as_the_group_or_a_channel_is_not_known() -> None:
    anonymous = {"id": 1087968824, "is_bot": True, "username": "GroupAnonymousBot"}
    said = parsed(text="Hi", sender_chat=CHAT, **{"from": anonymous})
    assert said.author.account is None
    assert said.author.name == "The Millers (not by name)"


@pytest.mark.parametrize("fields", [{"from": {**PERSON, "is_bot": True}}, {"via_bot": {"id": 5}}])
def test_other_bots_are_not_heard(fields: dict[str, Any]) -> None:
    assert isinstance(parsed(text="I'll pick up Leo", **fields), Nothing)


def test_a_topic_is_not_an_answer_to_the_message_that_opened_it() -> None:
    opened = {"message_id": 3, "forum_topic_created": {"name": "Carpool"}}
    topic = {"is_topic_message": True, "message_thread_id": 3}
    assert parsed(text="x", reply_to_message=opened, **topic).reply_to is None
    assert parsed(text="x", reply_to_message={"message_id": 3}, **topic).reply_to is None
    assert parsed(text="x", reply_to_message={"message_id": 9}, **topic).reply_to == "9"


@pytest.mark.parametrize(
    ("text", "name", "addressee", "argument"),
    [
        ("/why", "why", None, ""),
        ("/Quiet@Kinkeeper_Bot  2h ", "quiet", "kinkeeper_bot", "2h"),
        ("/start join-7", "start", None, "join-7"),
    ],
)
def test_a_slash_begins_a_command(
    text: str, name: str, addressee: str | None, argument: str
) -> None:
    found = parsed(text=text)
    assert isinstance(found, Commanded)
    assert (found.name, found.addressee, found.argument) == (name, addressee, argument)


@pytest.mark.parametrize("text", ["/etc/passwd is full", "5/3", "/", "//", "see /why"])
def test_not_every_slash_does(text: str) -> None:
    assert isinstance(parsed(text=text), Said)


def test_two_edits_within_a_second_differ_and_keep_their_order() -> None:
    first, second = (
        parse_update({**message("edited_message", text="x", edit_date=DATE), "update_id": number})
        for number in (411, 412)
    )
    assert isinstance(first, Said)
    assert isinstance(second, Said)
    assert first.is_edit
    assert first.at < second.at


def test_reactions_tell_what_came_and_what_went() -> None:
    signs = [[{"type": "emoji", "emoji": each}] for each in ("👍", "🙋")]
    found = parsed("message_reaction", user=PERSON, old_reaction=signs[0], new_reaction=signs[1])
    assert isinstance(found, Reacted)
    assert (found.added, found.removed, found.target) == (("🙋",), ("👍",), "12")
    own = [{"type": "custom_emoji", "custom_emoji_id": "7"}]
    assert parsed("message_reaction", user=PERSON, old_reaction=[], new_reaction=own).added == ()
    nobody = parsed("message_reaction", actor_chat=CHAT, old_reaction=[], new_reaction=signs[0])
    assert isinstance(nobody, Nothing)


def press(**fields: Any) -> Any:
    content = {"id": "77", "from": PERSON, "data": "k1:abc", "message": message()["message"]}
    return parse_update({"update_id": 411, "callback_query": {**content, **fields}})


def test_presses_name_their_message() -> None:
    assert isinstance(press(), Pressed)
    assert press().message_key == "12"
    alone = {**message()["message"], "message_id": 0, "ephemeral_message_id": 4}
    assert press(message=alone).message_key == "4"
    assert isinstance(press(message=None), Nothing)


@pytest.mark.parametrize("data", ["x" * 65, "ä", "\ud800", None, 7])
def test_data_that_is_no_button_of_ours_is_answered_all_the_same(data: object) -> None:
    found = press(data=data)
    assert isinstance(found, Pressed)
    assert found.data == ""


def test_the_bots_standing() -> None:
    def standing(**new: Any) -> Any:
        return parsed("my_chat_member", new_chat_member=new)

    assert standing(status="administrator").governs
    assert standing(status="member").is_present
    assert not standing(status="kicked").is_present
    assert standing(status="restricted", is_member=True).is_present
    assert not standing(status="restricted", is_member=False).is_present
    assert isinstance(standing(status="administrator"), StandingChanged)


def test_a_group_that_moves_says_so_from_both_sides() -> None:
    to, since = parsed(migrate_to_chat_id=-200), parsed(migrate_from_chat_id=-50)
    assert isinstance(to, Moved)
    assert (to.old, to.new) == ("-100123", "-200")
    assert isinstance(since, Moved)
    assert (since.old, since.new) == ("-50", "-100123")


def test_what_databases_do_not_store_is_replaced() -> None:
    assert parsed(text="a\ud83d\x00b").text == "a��b"


@pytest.mark.parametrize(
    "value", [None, 7, "x", [], {}, {"update_id": True}, {"update_id": 1, "poll": {}}]
)
def test_what_is_not_asked_for_is_unknown(value: object) -> None:
    found = parse_update(value)
    assert isinstance(found, Unknown)
    assert found.kind is None


@pytest.mark.parametrize("fields", [{"chat": None}, {"date": "x"}, {"date": 10**18}, {"chat": {}}])
def test_what_was_asked_for_and_cannot_be_read_says_so(fields: dict[str, Any]) -> None:
    found = parsed(text="x", **fields)
    assert isinstance(found, Unknown)
    assert found.kind == "message"
    assert found.update_id == 411
