"""What reaches a bot: in which order, how often, by which way, and what does not."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from botapi import BotApi, Group, Person
from botapi.accounts import Bot
from botapi.clients import BareClient, bare_client

SHARED = "known-To_both"


@pytest.fixture
def api() -> Iterator[BotApi]:
    with BotApi() as api:
        yield api


@pytest.fixture
def bot(api: BotApi) -> Bot:
    return api.bot(privacy=False)


@pytest.fixture
def john(api: BotApi) -> Person:
    return api.user("John")


@pytest.fixture
def group(api: BotApi, bot: Bot, john: Person) -> Group:
    return api.group("Millers", john, bot)


@pytest.fixture
def client(api: BotApi, bot: Bot, group: Group) -> Iterator[BareClient]:
    with bare_client(api, bot) as client:
        client.news()
        client.news()
        yield client


def texts(updates: list[dict[str, Any]]) -> list[str]:
    return [update["message"]["text"] for update in updates]


def test_updates_come_again_until_they_are_acknowledged(
    client: BareClient, john: Person, group: Group, api: BotApi, bot: Bot
) -> None:
    for text in ("one", "two", "three"):
        john.says(group, text)
    first = client.call("getUpdates", limit=2)
    assert texts(first) == ["one", "two"]
    assert client.call("getUpdates", limit=2) == first, "the same again, to the byte"
    rest = client.call("getUpdates", offset=first[0]["update_id"] + 1)
    assert texts(rest) == ["two", "three"]
    assert texts(client.call("getUpdates", offset=-1)) == ["three"]
    assert texts(client.call("getUpdates")) == ["three"], "those before the last are forgotten"
    assert client.call("getUpdates", offset=rest[-1]["update_id"] + 1) == []
    assert client.call("getUpdates") == []
    assert len(api.updates_of(bot, "message")) == 4


def test_a_poll_waits_until_something_happens(
    client: BareClient, john: Person, group: Group, api: BotApi, bot: Bot
) -> None:
    got: list[str] = []
    poll = threading.Thread(target=lambda: got.extend(texts(client.news(timeout=30))))
    poll.start()
    api.wait_for(lambda: bot.updates.waiting)
    john.says(group, "now")
    poll.join(5)
    assert got == ["now"]


def test_a_poll_ends_empty_when_the_clock_passes_its_time(
    client: BareClient, api: BotApi, bot: Bot
) -> None:
    got: list[Any] = []
    poll = threading.Thread(target=lambda: got.append(client.news(timeout=30)))
    poll.start()
    api.wait_for(lambda: bot.updates.waiting)
    api.advance(30)
    poll.join(5)
    assert got == [[]]


def test_reactions_come_only_to_administrators_who_ask(
    client: BareClient, john: Person, group: Group, bot: Bot
) -> None:
    message = john.says(group, "Soccer moved")
    asked = ["message", "message_reaction", "chat_member"]
    john.reacts(message, "👍")
    client.news()
    group.promote(bot)
    john.reacts(message, "👎")
    assert [set(update) - {"update_id"} for update in client.news()] == [{"my_chat_member"}]
    client.news(allowed_updates=asked)
    john.reacts(message, "👍")
    john.reacts(message)
    group.rename("The Millers")
    changed = [update["message_reaction"] for update in client.news()[:2]]
    emoji = [
        [[kind["emoji"] for kind in change[side]] for side in ("old_reaction", "new_reaction")]
        for change in changed
    ]
    assert emoji == [[["👎"], ["👍"]], [["👍"], []]]
    john.edits(message, "Soccer moved to 5")
    john.says(group, "ok")
    assert texts(client.news()) == ["ok"], "the kinds asked for last are remembered"
    client.news(allowed_updates=[])
    john.edits(message, "Soccer moved to 6")
    edited = client.news()[-1]["edited_message"]
    assert (edited["text"], edited["message_id"]) == ("Soccer moved to 6", message.id_for(bot))
    assert edited["edit_date"] >= edited["date"]


def test_members_come_to_administrators_who_ask_and_as_service_messages(
    client: BareClient, api: BotApi, group: Group, bot: Bot
) -> None:
    group.promote(bot)
    client.news(allowed_updates=["message", "chat_member"])
    tom = api.user("Tom")
    group.add(tom)
    tom.leaves(group)
    updates = client.news()
    changes = [update["chat_member"] for update in updates if "chat_member" in update]
    assert [
        (change["old_chat_member"]["status"], change["new_chat_member"]["status"])
        for change in changes
    ] == [("left", "member"), ("member", "left")]
    service = [update["message"] for update in updates if "message" in update]
    assert service[0]["new_chat_members"][0]["id"] == tom.id
    assert service[1]["left_chat_member"]["id"] == tom.id


def test_deletions_and_other_bots_are_not_heard(
    client: BareClient, api: BotApi, john: Person, group: Group
) -> None:
    other = api.bot("Other", username="other_bot", privacy=False)
    group.add(other)
    message = john.says(group, "Never mind")
    client.news()
    john.deletes(message)
    with bare_client(api, other) as second:
        second.call("sendMessage", chat_id=group.id, text="beep")
    assert client.news() == []
    assert message not in api.messages_in(group)


def test_unfetched_updates_are_gone_after_a_day(
    client: BareClient, john: Person, group: Group, api: BotApi
) -> None:
    john.says(group, "early")
    api.advance(12 * 3600)
    john.says(group, "late")
    api.advance(12 * 3600)
    assert client.heard() == ["late"]


def test_each_bot_counts_the_messages_of_a_basic_group_for_itself(
    client: BareClient, api: BotApi, john: Person, group: Group, bot: Bot
) -> None:
    other = api.bot("Other", username="other_bot", privacy=False)
    for text in ("/start", "one", "two"):
        john.says(other, text)
    group.add(other)
    message = john.says(group, "Hello both")
    assert message.id_for(bot) != message.id_for(other)
    with bare_client(api, other) as second:
        sent = second.call(
            "sendMessage",
            chat_id=group.id,
            text="hi",
            reply_parameters={"message_id": message.id_for(other)},
        )
    assert sent["reply_to_message"]["text"] == "Hello both"


def test_a_group_that_becomes_a_supergroup_goes_by_a_new_id(
    client: BareClient, john: Person, group: Group
) -> None:
    old = group.id
    new = group.migrate()
    news = [update["message"] for update in client.news()]
    assert [message.get("migrate_to_chat_id") for message in news] == [new, None]
    assert [message.get("migrate_from_chat_id") for message in news] == [None, old]
    refused = client.refused("sendMessage", chat_id=old, text="x")
    assert refused["parameters"] == {"migrate_to_chat_id": new}
    john.says(group, "Still here")
    heard = client.news()[-1]["message"]
    assert heard["chat"] == {"id": new, "title": "Millers", "type": "supergroup"}
    assert client.call("sendMessage", chat_id=new, text="x")["chat"]["id"] == new


class Hook:
    """A webhook that answers as it is told, and keeps what it got."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.got: list[tuple[dict[str, Any], str | None]] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                secret = self.headers["X-Telegram-Bot-Api-Secret-Token"]
                hook.got.append((json.loads(body), secret))
                self.send_response(hook.answers.pop(0) if hook.answers else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"
        self.thread = threading.Thread(target=lambda: self.server.serve_forever(0.02))


@pytest.fixture
def hook() -> Iterator[Hook]:
    hook = Hook()
    hook.thread.start()
    yield hook
    hook.server.shutdown()
    hook.server.server_close()
    hook.thread.join()


def test_a_webhook_gets_updates_in_order_with_its_secret(
    client: BareClient, api: BotApi, john: Person, group: Group, hook: Hook
) -> None:
    john.says(group, "waited")
    client.call("setWebhook", url=hook.url, secret_token=SHARED)
    john.says(group, "one")
    john.says(group, "two")
    api.wait_settled()
    assert texts([update for update, _ in hook.got]) == ["waited", "one", "two"]
    assert {secret for _, secret in hook.got} == {SHARED}
    refused = client.refused("getUpdates")
    assert "can't use getUpdates method while webhook is active" in refused["description"]
    client.call("deleteWebhook")
    assert client.call("getUpdates") == []


def test_a_webhook_that_fails_gets_the_same_again_before_anything_later(
    client: BareClient, api: BotApi, john: Person, group: Group, hook: Hook
) -> None:
    hook.answers = [500, 503]
    client.call("setWebhook", url=hook.url)
    john.says(group, "one")
    john.says(group, "two")
    api.wait_for(lambda: len(hook.got) == 2 and client_sees_error(client))
    info = client.call("getWebhookInfo")
    assert info["last_error_message"] == (
        "Wrong response from the webhook: 503 Service Unavailable"
    )
    assert info["pending_update_count"] == 2
    assert texts([update for update, _ in hook.got]) == ["one", "one"]
    api.advance(2)
    api.wait_settled()
    assert texts([update for update, _ in hook.got]) == ["one", "one", "one", "two"]


def client_sees_error(client: BareClient) -> bool:
    return "503" in client.call("getWebhookInfo").get("last_error_message", "")


def test_what_waits_can_be_dropped(client: BareClient, john: Person, group: Group) -> None:
    john.says(group, "old")
    client.call("deleteWebhook", drop_pending_updates=True)
    john.says(group, "new")
    assert client.heard() == ["new"]
