"""`kinkeeper serve` as people run it, on a group of the Bot API emulator."""

import time
from pathlib import Path

import pytest

from botapi import BotApi, Group, Message
from botapi.accounts import Bot
from cli_program import Program
from kinkeeper.core.time import SystemClock
from running_server import running, where
from telegram_family import write_household

pytestmark = pytest.mark.slow


def first_line(api: BotApi, bot: Bot, group: Group) -> Message:
    """Return what the bot says first in the group, once it does."""
    lines = api.wait_for(
        lambda: [each for each in api.messages_in(group) if each.sender is bot],
        within=60,
        what="a line of the bot",
    )
    return lines[0]


def test_serve_listens_speaks_takes_a_press_and_logs_no_word_of_it(
    program: Program, tmp_path: Path
) -> None:
    with BotApi(clock=SystemClock()) as api:
        bot = api.bot()
        john, sarah = api.user("John"), api.user("Sarah")
        group = api.group("The Millers", john, sarah, bot, supergroup=True)
        group.promote(bot)
        file = write_household(tmp_path, "miller", group.id, john, sarah)
        (program.home / "household.toml").write_bytes(file.read_bytes())
        settings = {"TELEGRAM_BOT_TOKEN": bot.token, "TELEGRAM_API_URL": api.url}
        with running(program, **settings) as server:
            api.wait_for(lambda: bot.updates.waiting, within=60, what="a poll")
            john.says(group, "I'll pick up Leo tomorrow at 4pm")
            sarah.says(group, "I'm picking up Leo tomorrow at 4pm")
            said = first_line(api, bot, group)
            assert said.buttons == ["John", "Sarah", "Both"]
            assert sarah.presses(said, "Sarah").shown(within=30)
            api.wait_for(lambda: said.buttons == ["Undo"], within=30, what="the result")
            began = time.monotonic()
            assert server.end() == 0
            assert time.monotonic() - began < 30, "it waited for the long poll"
        log = server.log.read_text()
    assert "Traceback" not in log
    assert bot.token not in log
    assert "Leo" not in log
    assert "pick" not in log
    listed = program.bare("events", "--json", *where(program))
    assert listed.code == 0, listed.err
    assert "OBSERVER" in listed.out


def test_serve_takes_what_is_posted_to_it_through_a_proxy_and_nothing_from_others(
    program: Program, tmp_path: Path
) -> None:
    public, secret = "https://family.example", "only-telegram-knows-this"
    with BotApi(clock=SystemClock()) as api:
        bot = api.bot()
        john, sarah = api.user("John"), api.user("Sarah")
        group = api.group("The Millers", john, sarah, bot, supergroup=True)
        group.promote(bot)
        api.proxy(public, to="")
        file = write_household(tmp_path, "miller", group.id, john, sarah)
        (program.home / "household.toml").write_bytes(file.read_bytes())
        settings = {
            "TELEGRAM_BOT_TOKEN": bot.token,
            "TELEGRAM_API_URL": api.url,
            "TELEGRAM_WEBHOOK_URL": f"{public}/telegram/webhook",
            "TELEGRAM_WEBHOOK_SECRET": secret,
        }
        with running(program, **settings) as server:
            api.wait_for(lambda: bot.updates.webhook.url, within=60, what="the webhook")
            assert bot.updates.webhook.secret_token == secret
            api.proxy(public, to=server.address)
            john.says(group, "I'll pick up Leo tomorrow at 4pm")
            sarah.says(group, "I'm picking up Leo tomorrow at 4pm")
            said = first_line(api, bot, group)
            assert sarah.presses(said, "Sarah").shown(within=30)
            api.wait_for(lambda: said.buttons == ["Undo"], within=30, what="the result")
            api.wait_for(lambda: not bot.updates.pending, within=30, what="all taken in")
            with server.client() as client:
                forged = {"X-Telegram-Bot-Api-Secret-Token": "guessed"}
                for headers in ({}, forged):
                    told = client.post("/telegram/webhook", json={"update_id": 1}, headers=headers)
                    assert told.status_code in {401, 403}
            assert server.end() == 0
        log = server.log.read_text()
    assert secret not in log
    assert "Traceback" not in log
