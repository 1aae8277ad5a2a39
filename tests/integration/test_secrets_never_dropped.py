"""A secret with a wish in any words for not getting to know is kept for who tells it: neither shown to others nor dropped."""

from itertools import product
from pathlib import Path

import pytest
from sqlalchemy import select

from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.memory.tables import episodes
from talking import on_a_loop, talking

SECRETS = (
    "I bought the zorb",
    "the zorb is hidden at Bob's",
    "zorb's booked for the 14th",
    "zorb hidden at Bob's",
    "a zorb in the loft",
)
WISHES = (
    "he gets no inkling",
    "nobody gets an inkling of it",
    "she gets not one clue",
    "Mia is to get not a hint",
    "not a whisper in her direction",
    "no hint to anybody",
    "without a peep to Sarah",
    "not even a squeak near Mia",
    "Sarah must stay none the wiser",
    "keep Sarah blissfully unaware",
    "the kids catch not the slightest whiff",
)


@pytest.mark.parametrize("wish", WISHES)
@on_a_loop
async def test_it_is_kept_and_nobody_else_sees_it(tmp_path: Path, wish: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for number, (secret, joint) in enumerate(product(SECRETS, (", ", ". "))):
            text = f"{secret}{joint}{wish}"
            answer = await talk.answer(text, thread_id=f"t{number}")
            kept = select(episodes.c.scope).where(
                episodes.c.text == text, episodes.c.member == "john"
            )
            scopes = talk.system.store.read_now(
                lambda conn, query=kept: conn.execute(query).scalars().all()
            )
            is_on_card = answer.startswith("Shall I add") and "see it." in answer
            assert scopes or is_on_card, f"{text!r} was dropped: {answer}"
            assert HOUSEHOLD_SCOPE not in scopes, text
            assert "everyone at home." not in answer, text


@on_a_loop
async def test_other_words_for_knowing_nothing_keep_nothing_secret(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        for text in ("The zorb gets no air", "The kids get no homework on Fridays"):
            assert "everyone at home." in await talk.answer(text), text
