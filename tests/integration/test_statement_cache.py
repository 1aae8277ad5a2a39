"""Statements that ask who may see their rows are compiled once, not at every execution."""

from pathlib import Path

from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import CacheStats

from kinkeeper.conversation.planning.planners import Planners
from talking import on_a_loop, talking

TURNS = (
    "add milk to the list",
    "what's on tomorrow?",
    "Mia's allergic to walnuts",
    "move the dentist to 5",
)


@on_a_loop
async def test_a_turn_runs_no_selection_that_cannot_be_cached(tmp_path: Path) -> None:
    found: set[str] = set()

    def note(_conn: object, _cursor: object, statement: str, *more: object) -> None:
        context = more[1]
        is_selection = statement.startswith("SELECT")
        if is_selection and getattr(context, "cache_hit", None) is CacheStats.NO_CACHE_KEY:
            found.add(statement)

    async with talking(tmp_path, Planners(None)) as talk:
        event.listen(Engine, "after_cursor_execute", note)
        try:
            for text in TURNS:
                await talk.answer(text)
        finally:
            event.remove(Engine, "after_cursor_execute", note)

    assert found == set()
