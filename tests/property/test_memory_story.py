"""Whatever happens to a memory, it stays sound, and the last change can be taken back to the letter."""

import pytest

from kinkeeper.memory.invariants import check
from kinkeeper.memory.journal import list_changes, why_not_undoable
from kinkeeper.memory.undo import undo
from memory_chains import MANY_CHAINS, NOW, memory, rows
from memory_story import step


def tell(story: int, steps: int) -> None:
    """Go through a story; after each step look whether all is sound, and what undoing it would leave."""
    with memory() as conn:
        for number in range(steps):
            before, known = rows(conn), {change.id for change in list_changes(conn, "h")}
            step(conn, story * 1000 + number)
            assert check(conn, "h") == []
            new = [change for change in list_changes(conn, "h") if change.id not in known]
            for change in new:
                if why_not_undoable(conn, change) is None:
                    with conn.begin_nested() as nested:
                        undo(conn, "h", change.id, by="john", at=NOW)
                        assert rows(conn) == before
                        nested.rollback()


@pytest.mark.parametrize("story", range(3))
def test_memory_stays_sound(story: int) -> None:
    tell(story, 20)


@pytest.mark.slow
@pytest.mark.parametrize("story", range(10, 10 + MANY_CHAINS // 50))
def test_memory_stays_sound_through_long_stories(story: int) -> None:
    tell(story, 60)
