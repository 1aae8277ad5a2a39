"""Facts about one person are alike in meaning; each is found, and only what is said twice makes room."""

from datetime import UTC, datetime

import numpy as np
import pytest

from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.memory.finding.ranker import distinct
from kinkeeper.memory.finding.visible_results import Hit, HitKind
from kinkeeper.memory.model import Category
from memory_nights import LIKENESS

NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)


def hit(text: str, confidence: float) -> Hit:
    return Hit(
        id=text,
        kind=HitKind.FACT,
        text=text,
        category=Category.RELATIONSHIP,
        confidence=confidence,
        at=NOW,
        created_at=NOW,
        speaker=None,
        session=None,
        scope=HOUSEHOLD_SCOPE,
        provenance=(),
    )


@pytest.mark.parametrize(
    ("other", "kept"), [("Nia is allergic to bees", 2), ("nia takes the bus to school!", 1)]
)
def test_only_the_same_words_make_room(other: str, kept: int):
    hits = [hit("Nia takes the bus to school", 0.7), hit(other, 0.9)]
    alike = np.ones(4, np.float32) / 2
    found = distinct(hits, {each.key: alike for each in hits}, LIKENESS)
    assert len(found) == kept
    assert other in {each.text for each in found}
