"""A time alone moves what can be moved, and where nothing of that kind was spoken of it changes and keeps nothing."""

from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.actions.repository import open_actions
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import list_facts
from talking import Talking, on_a_loop, talking

TIMELESS = (
    "put nappies on the list",
    "note: the plumber has a key",
    "remember that the wifi password is swordfish",
    "what's on the shopping list?",
    "thanks",
    "",
)
TIMES = (
    "make it friday",
    "wednesday",
    "tomorrow at 5",
    "oh sorry, the 13th",
    "move it to thursday",
    "actually saturday",
)


async def stored(talk: Talking) -> tuple[int, int]:
    """Return how many facts there are, and how many actions wait."""
    viewer, now = Viewer.of(talk.system.household.id, "john"), talk.clock.now()
    return await talk.system.store.read(
        lambda conn: (
            len(list_facts(conn, viewer, now=now)),
            len(open_actions(conn, viewer, now=now)),
        )
    )


@pytest.mark.parametrize("time", TIMES)
@on_a_loop
async def test_a_time_after_what_has_none_changes_and_keeps_nothing(
    tmp_path: Path, time: str
) -> None:
    wrong = []
    for number, (before,) in enumerate(combined(TIMELESS)):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            if before:
                await talk.answer(before, thread_id="t")
                talk.later(seconds=20)
            had = await stored(talk)
            told = await talk.answer(time, thread_id="t")
            is_claim = any(each in told for each in ("Saved", "Shall I", "Which one", "couldn't"))
            if is_claim or await stored(talk) != had:
                wrong.append((before, told))
    assert not wrong
