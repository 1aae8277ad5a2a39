"""A family and its bot, from what is said in the group to what is in the calendar, over real HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kinkeeper.actions.tables import pending_actions
from kinkeeper.calendar.tables import events
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
