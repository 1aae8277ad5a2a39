"""Knowledge of how things work adds up; what only one sentence was taken for knowledge gives way to news."""

import pytest

from kinkeeper.memory.model import Category
from memory_chains import Said, memory, say, state

OLD, NEW = "The spare key is under the flowerpot.", "The spare key is in the shed now."
RULE, KNOWLEDGE = Category.CONSTRAINT, Category.TECHNICAL


@pytest.mark.parametrize(
    ("kinds", "held"),
    [((RULE, KNOWLEDGE), {NEW}), ((KNOWLEDGE, RULE), {NEW}), ((KNOWLEDGE, KNOWLEDGE), {OLD, NEW})],
)
def test_only_knowledge_beside_knowledge_adds_up(kinds: tuple[Category, Category], held: set[str]):
    with memory() as conn:
        for place, (text, kind) in enumerate(zip((OLD, NEW), kinds, strict=True)):
            say(conn, place, Said(text=text, day=place, category=kind))
        assert {row[0] for row in state(conn) if row[2] in {"active", "pending_embed"}} == held
