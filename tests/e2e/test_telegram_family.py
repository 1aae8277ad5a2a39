"""A family and its bot, from what is said in the group to what is in the calendar, over real HTTP."""

import pytest

from botapi import Message, Person
from kinkeeper.actions.tables import pending_actions
from kinkeeper.calendar.tables import events
from kinkeeper.channels.telegram.bot_status import NOBODY
from kinkeeper.memory.tables import facts
from kinkeeper.messaging.tables import outbox
from telegram_family import Family, run

pytestmark = pytest.mark.slow


def test_a_conflict_is_spoken_pressed_written_edited_and_taken_back(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.running() as program:
            millers.john.says(millers.group, "I'll pick up Leo on Thursday at 4pm")
            millers.api.advance(60)
            millers.sarah.says(millers.group, "I'm picking up Leo Thursday at 4pm")
            asked = await program.spoken()
            assert asked.buttons == ["John", "Sarah", "Both"], asked.text
            assert asked.silent is False
            press = millers.sarah.presses(asked, "Sarah")
            told = await press.answered()
            await program.until(lambda: asked.edited_at, "the result")
            assert asked.buttons == ["Undo"], (asked.text, told)
            assert "Sarah" in asked.text
            assert "\n" not in asked.text
            written = [r for r in program.rows(events) if r.source_type == "OBSERVER"]
            assert written, told
            back = millers.john.presses(asked, "Undo")
            await back.answered()
            await program.until(lambda: not asked.buttons, "the end of the button")
            assert asked.text.startswith("Undone")
            [action] = [r for r in program.rows(pending_actions) if r.status == "done"]
            assert action.undone_by == "john"

    run(scenario)


def test_a_stranger_is_answered_through_no_households_outbox(millers: Family) -> None:
    async def scenario() -> None:
        tom = millers.api.user("Tom")
        async with millers.running() as program:
            tom.says(millers.bot, "/pending")
            await program.until(lambda: millers.alone_with(tom), "the stranger's number")
            assert [row.household for row in program.rows(outbox)] == [NOBODY]
            [told] = millers.alone_with(tom)
            assert str(tom.id) in told.text

    run(scenario)


def test_something_is_remembered_taken_back_and_another_thing_erased(millers: Family) -> None:
    async def scenario() -> None:
        async with millers.running() as program:
            millers.sarah.says(millers.group, "/remember Leo is allergic to peanuts")
            told = await program.until(
                lambda: _with_button(millers, millers.sarah, "Undo"), "the answer"
            )
            assert told.text.startswith("Remembered: Leo is allergic to peanuts")
            assert told.buttons == ["Undo"]
            assert [row.narrative for row in program.rows(facts)] == ["Leo is allergic to peanuts"]
            await millers.sarah.presses(told, "Undo").answered()
            await program.until(lambda: not told.buttons, "the end of the button")
            assert program.rows(facts) == []

            millers.api.advance(60)
            millers.john.says(millers.group, "/remember Mia plays the cello")
            await program.until(lambda: program.rows(facts), "the cello")
            millers.api.advance(60)
            millers.john.says(millers.group, "/forget cello")
            offer = await program.until(
                lambda: _with_button(millers, millers.john, "Keep all"), "the offer"
            )
            assert offer.buttons == ["1. Mia plays the cello", "Keep all"]
            await millers.john.presses(offer, "1. Mia plays the cello").answered()
            await program.until(lambda: not program.rows(facts), "the end of the cello")
            kept = [row.effects for row in program.rows(pending_actions)]
            assert "cello" not in str([row.summary for row in program.rows(pending_actions)])
            assert "cello" not in str(kept)

    run(scenario)


def _with_button(millers: Family, person: Person, label: str) -> Message | None:
    """Return the bot's latest message in the group with a button, as a person sees it."""
    found = [
        each
        for each in person.sees(millers.group)
        if each.sender is millers.bot and label in each.buttons
    ]
    return found[-1] if found else None
