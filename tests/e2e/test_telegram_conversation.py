"""What members say to the bot itself is answered: alone with it, or where they call it in their group."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from botapi import Message
from kinkeeper.actions.tables import pending_actions
from kinkeeper.conversation.tables import stage_failures, turns
from kinkeeper.memory.tables import episodes, facts
from kinkeeper.messaging.tables import messages
from kinkeeper.tasks.repository import task_reminders, tasks
from modelserver import hangs, model_server
from telegram_family import Family, Running, run

pytestmark = pytest.mark.slow


GREETING = 2
"""Messages that answer a start."""


@asynccontextmanager
async def greeted(millers: Family, **settings: Any) -> AsyncIterator[Running]:
    """Run the program, and begin once the bot has said hello to Sarah."""
    async with millers.running(**settings) as program:
        millers.sarah.starts(millers.bot)
        await told_alone(millers, program, 0)
        yield program


async def told_alone(millers: Family, program: Running, count: int) -> Message:
    """Return the latest of so many messages that Sarah got alone behind the greeting."""
    await program.until(
        lambda: len(millers.alone_with(millers.sarah)) >= GREETING + count,
        f"message {count} to Sarah",
        within=40,
    )
    return millers.alone_with(millers.sarah)[-1]


def test_a_private_chat_is_a_conversation(millers: Family):
    async def scenario() -> None:
        async with greeted(millers) as program:
            millers.sarah.says(millers.bot, "remind me to call mom tomorrow at 5pm")
            answer = await told_alone(millers, program, 1)
            assert "call mom" in answer.text
            assert answer.buttons == []
            assert millers.said_by_bot == []

    run(scenario, within=180)


def test_what_matters_is_asked_with_all_of_it_and_done_by_a_press(millers: Family):
    async def scenario() -> None:
        async with greeted(millers) as program:
            millers.sarah.says(millers.bot, "cancel soccer on Thursday")
            asked = await told_alone(millers, program, 1)
            assert "soccer" in asked.text
            assert asked.buttons == ["Yes, do it", "No"]
            press = millers.sarah.presses(asked, "Yes, do it")
            await program.until(lambda: press.answer, "an answer to the press")
            millers.sarah.says(millers.bot, "what is on on Thursday?")
            calendar = await told_alone(millers, program, 2)
            assert "soccer" not in calendar.text.lower()

    run(scenario, within=180)


@pytest.mark.parametrize(
    ("told", "word", "button", "answer"),
    [
        (
            "The stopcock is behind the washing machine",
            "stopcock",
            "Just for me",
            "Only you can see that now.",
        ),
        (
            "I have been diagnosed with asthma",
            "asthma",
            "Share it",
            "The whole family can see that now.",
        ),
        (
            "Keep it to yourself: there is a kite in the shed",
            "kite",
            "Share it",
            "The whole family can see that now.",
        ),
    ],
)
def test_one_tap_changes_who_may_see_what_was_told(
    millers: Family, told: str, word: str, button: str, answer: str
):
    def scopes(program: Running) -> set[str]:
        rows = [*program.rows(episodes), *program.rows(facts)]
        return {row.scope for row in rows if word in str(row)}

    async def scenario() -> None:
        async with greeted(millers) as program:
            millers.sarah.says(millers.bot, "hello")  # what is slow to load is loaded then
            await told_alone(millers, program, 1)
            millers.sarah.says(millers.bot, told)
            saved = await told_alone(millers, program, 2)
            assert saved.buttons == [button]
            millers.sarah.says(millers.bot, "what is on tomorrow?")
            await told_alone(millers, program, 3)
            kept, wanted = (
                ("household", "person:sarah")
                if button == "Just for me"
                else ("person:sarah", "household")
            )
            assert scopes(program) == {kept}
            press = millers.sarah.presses(saved, button)
            await program.until(lambda: press.answer, "an answer to the press")
            assert (press.answer or {})["text"] == answer
            assert scopes(program) == {wanted}
            again = millers.sarah.presses(saved, button)
            await program.until(lambda: again.answer, "an answer to the press")
            assert (again.answer or {})["text"] == answer
            assert len([row for row in program.rows(pending_actions) if row.undone_at is None]) == 1

    run(scenario, within=180)


@pytest.mark.parametrize("origin", ["Sarah", "School office"])
def test_what_is_forwarded_to_the_bot_is_nobodys_request(millers: Family, origin: str):
    async def scenario() -> None:
        wish = "remind me to pay Mallory tomorrow at 5pm"
        async with greeted(millers) as program:
            millers.sarah.forwards(millers.bot, wish, origin=origin)
            answer = await told_alone(millers, program, 1)
            assert "Mallory" not in answer.text
            called = f"@{millers.bot.username} {wish}"
            millers.sarah.forwards(millers.group, called, origin=origin)
            await program.quiet_now()
            assert program.rows(turns) == []
            assert program.rows(tasks) == []

    run(scenario, within=180)


def test_in_a_group_only_who_calls_it_is_answered_and_others_are_heard(millers: Family):
    async def scenario() -> None:
        async with millers.running() as program:
            name = millers.bot.username
            millers.john.says(millers.group, "what a day")
            called = millers.john.says(millers.group, f"@{name} what is on tomorrow?")
            answer = await program.spoken(within=40)
            assert answer.reply_to is called
            assert "soccer" in answer.text.lower()
            millers.john.says(millers.group, "and on Wednesday?", reply_to=answer)
            await program.spoken(2, within=40)
            millers.sarah.says(millers.group, "Icarus, what is on on Thursday?")
            await program.spoken(3, within=40)
            await program.quiet_now()
            heard = [row.text for row in program.rows(messages)]
            assert heard == ["what a day"]

    run(scenario, within=180)


def test_what_is_private_is_never_told_where_others_read_along(millers: Family):
    async def scenario() -> None:
        name = millers.bot.username
        async with greeted(millers) as program:
            millers.sarah.says(millers.bot, "just for me: remember that my locker code is 4711")
            await told_alone(millers, program, 1)
            millers.sarah.says(millers.group, f"@{name} what is my locker code?")
            answer = await program.spoken(within=40)
            assert "4711" not in answer.text

    run(scenario, within=180)


def test_an_update_that_comes_again_is_answered_once(millers: Family):
    async def scenario() -> None:
        async with greeted(millers) as program:
            millers.sarah.says(millers.bot, "add oat milk to the shopping list")
            await told_alone(millers, program, 1)
        async with millers.running() as program:
            await program.quiet_now()
            assert len(program.rows(turns)) == 1
            assert len(millers.alone_with(millers.sarah)) == GREETING + 1

    run(scenario, within=180)


def test_a_stranger_gets_no_conversation(millers: Family):
    async def scenario() -> None:
        tom = millers.api.user("Tom")
        async with millers.running() as program:
            tom.says(millers.bot, "what is on tomorrow?")
            await program.quiet_now()
            assert program.rows(turns) == []
            assert not any("soccer" in each.text for each in millers.alone_with(tom))

    run(scenario, within=180)


def signs(millers: Family, chat_id: int) -> int:
    """How often the bot showed in a chat that it is writing."""
    calls = millers.api.calls("sendChatAction", bot=millers.bot)
    return sum(int(str(each.arguments["chat_id"])) == chat_id for each in calls)


def test_who_waits_sees_that_an_answer_is_made_and_may_stop_it(millers: Family):
    with model_server() as models:
        models.will(hangs())

        async def scenario() -> None:
            async with greeted(millers, model_url=models.url, model_name="test-model") as program:
                millers.john.says(millers.group, "what a long day it was, the moon is so bright")
                millers.sarah.says(millers.bot, "why is the moon bright?")
                await program.until(
                    lambda: signs(millers, millers.sarah.id) >= 2, "it is shown again", within=40
                )
                millers.sarah.says(millers.bot, "stop")
                stopped = await told_alone(millers, program, 2)
                assert {each.text for each in millers.alone_with(millers.sarah)[-2:]} >= {
                    "Okay, stopped."
                }, stopped.text
                assert signs(millers, millers.group.id) == 0

        run(scenario, within=180)


def test_a_chat_that_takes_no_sign_is_counted_and_gets_its_answer(millers: Family):
    with model_server() as models:
        models.will(hangs())
        millers.api.faults.internal_error("sendChatAction")

        async def scenario() -> None:
            async with greeted(millers, model_url=models.url, model_name="test-model") as program:
                millers.sarah.says(millers.bot, "why is the moon bright?")
                failed = await program.until(
                    lambda: program.rows(stage_failures, stage="typing"), "it is counted", within=40
                )
                assert [each.reason for each in failed] == ["NetworkError"]
                millers.sarah.says(millers.bot, "stop")
                await told_alone(millers, program, 2)

        run(scenario, within=180)


def test_who_left_the_household_hears_and_decides_nothing_more(millers: Family):
    async def scenario() -> None:
        async with greeted(millers) as program:
            millers.sarah.says(millers.bot, "remind me to call mom tomorrow at 5pm")
            await told_alone(millers, program, 1)
            millers.sarah.says(millers.bot, "cancel soccer on Thursday")
            asked = await told_alone(millers, program, 2)
        file = millers.folder / "households" / "miller.toml"
        account = f"telegram_id = {millers.sarah.id}"
        file.write_text(file.read_text().replace(account, "telegram_id = 77"))
        millers.clock.advance_to(millers.clock.now() + timedelta(hours=34))
        async with millers.running() as program:
            await program.until(lambda: program.rows(task_reminders, next_at=None), "reminder")
            millers.sarah.presses(asked, "Yes, do it")
            millers.sarah.says(millers.bot, "what is on tomorrow?")
            await program.quiet_now()
            (cancelling,) = program.rows(pending_actions, type="schedule_change")
            assert cancelling.status == "pending"
            assert any("mom" in each.answer for each in program.rows(turns, channel="web"))
            told = millers.alone_with(millers.sarah)[GREETING + 2 :]
            assert not any("mom" in each.text or "soccer" in each.text for each in told)

    run(scenario, within=180)
