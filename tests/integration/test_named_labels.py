"""A wish for secrecy that names what was made before it is about that thing, and about nothing made beside it."""

from pathlib import Path

import pytest

from kinkeeper.conversation.planning.planners import Planners
from talking import on_a_loop, seen_by, talking


@pytest.mark.parametrize(
    ("made", "wish", "hidden", "word"),
    [
        (
            "add a telescope to the shopping list",
            "the telescope is for Mia so keep it hidden from her",
            "mia",
            "telescope",
        ),
        (
            "note: the trampoline delivery code is 5521",
            "that's a secret from Leo, the trampoline is his",
            "leo",
            "trampoline",
        ),
        (
            "remind me to collect the necklace on friday at 4pm",
            "the necklace is for Sarah, don't let her find out",
            "sarah",
            "necklace",
        ),
    ],
)
@on_a_loop
async def test_what_was_made_is_kept_from_whom_a_wish_that_names_it_says(
    tmp_path: Path, made: str, wish: str, hidden: str, word: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer(made, thread_id="a")
        await talk.answer(wish, thread_id="a")
        assert word not in await seen_by(talk, hidden)
        assert word in await seen_by(talk, "john")


@pytest.mark.parametrize(
    "said", ["the bread is for Mia's class", "I bought Mia a globe, don't let her know"]
)
@on_a_loop
async def test_what_no_wish_names_stays_as_it_was(tmp_path: Path, said: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        await talk.answer("add bread to the shopping list", thread_id="a")
        await talk.answer(said, thread_id="a")
        assert "bread" in await seen_by(talk, "mia")
