"""What was announced and then set right holds at no time, also before the day that was announced."""

from datetime import timedelta

import pytest

from kinkeeper.memory.model import Correction
from memory_chains import START, Said, memory, say, state

ANNOUNCED, RIGHT = "I live in York.", "I live in Hull."


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_was_set_right_before_it_began_is_superseded_at_once(order: tuple[int, int]) -> None:
    chain = (
        Said(text=ANNOUNCED, day=0, from_day=30),
        Said(text=RIGHT, day=5, correction=Correction()),
    )
    with memory() as conn:
        for place in order:
            say(conn, place, chain[place], at=START + timedelta(days=6))
        assert {row[0]: row[2] for row in state(conn)} == {
            ANNOUNCED: "superseded",
            RIGHT: "pending_embed",
        }
