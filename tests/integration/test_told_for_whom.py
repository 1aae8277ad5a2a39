"""Whatever was just made is kept from somebody of whom it is said right after that it is theirs."""

from itertools import product
from pathlib import Path

import pytest

from kinkeeper.conversation.planning.planners import Planners
from talking import on_a_loop, seen_by, talking

MADE = (
    ("add a chess set to the list", ("chess set",)),
    ("add a task: collect the telescope", ("telescope",)),
    ("remind me to fetch the kayak on Friday", ("kayak",)),
    ("put drum kit delivery on Friday at 3pm in the calendar", ("drum kit",)),
    ("make a note: the scooter is in the shed", ("scooter",)),
    ("remember that the trampoline is in the garage", ("trampoline",)),
    ("remind me to order the ukulele tomorrow and put ukulele pickup on Saturday at 2pm in the calendar", ("ukulele",)),
)  # fmt: skip
AFTER = (
    "it's Leo's present, so don't let him see",
    "that's for Leo's birthday",
    "keep that one from Leo",
    "oh, it's Leo's Christmas present",
    "that one's a gift for Leo",
    "it's a surprise for Leo",
)


@pytest.mark.parametrize("after", AFTER)
@on_a_loop
async def test_each_thing_that_was_made_is_kept(tmp_path: Path, after: str) -> None:
    wrong = []
    for number, (text, words) in enumerate(MADE):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            await talk.answer(text, thread_id="t")
            talk.later(seconds=20)
            await talk.answer(after, thread_id="t")
            leo, sarah = await seen_by(talk, "leo"), await seen_by(talk, "sarah")
            wrong += [each for each in words if each in leo or each not in sarah]
    assert wrong == []


@pytest.mark.parametrize("after", AFTER[:3])
@on_a_loop
async def test_lines_leave_a_list_that_others_read_and_come_back(
    tmp_path: Path, after: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("add milk to the shopping list", by="sarah", thread_id="s")
        await talk.answer("add a chess set and a jigsaw to the shopping list", thread_id="t")
        talk.later(seconds=20)
        answer = await talk.answer(after, thread_id="t")
        assert "Everyone but Leo can see a chess set, a jigsaw now" in answer
        seen = {who: await seen_by(talk, who) for who in ("leo", "sarah")}
        for who, line in product(seen, ("milk", "chess set", "jigsaw")):
            assert (line in seen[who]) is (who == "sarah" or line == "milk")
        await talk.answer("undo that", thread_id="t")
        assert "chess set" in await seen_by(talk, "leo")
