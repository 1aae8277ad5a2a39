"""A family and its bot, from what is said in the group to what is in the calendar, over real HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kinkeeper.actions.tables import pending_actions
from kinkeeper.calendar.tables import events
from kinkeeper.channels.telegram.strangers import NOBODY
from kinkeeper.messaging.tables import outbox
from telegram_family import Family, family, run

pytestmark = pytest.mark.slow


@pytest.fixture
def millers(tmp_path: Path) -> Iterator[Family]:
    with family(tmp_path) as found:
        yield found


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
            assert asked.text.startswith("Taken back")
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
