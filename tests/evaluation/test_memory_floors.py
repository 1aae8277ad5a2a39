"""What memory finds in public conversations must not get worse."""

from pathlib import Path

import pytest

from evals import memory_retrieval
from evals.memory_gold import own
from floors import assert_floors_hold
from public_data import public_data

DATA = public_data()
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.evaluation


@pytest.mark.skipif(
    not DATA.is_dir(), reason=f"NOT MEASURED: no data in {DATA}; set KINKEEPER_DATA"
)
def test_finding_by_words_reaches_its_floors() -> None:
    """Meaning takes minutes to compute: `kinkeeper eval memory` holds its floors."""
    assert_floors_hold(memory_retrieval.measure(DATA, embedder=None, beside_others=False))


def test_our_own_conversations_are_whole() -> None:
    conversations = own(ROOT / "evals" / "data")

    assert len(conversations) >= 10
    for conversation in conversations:
        keys = [turn.key for turn in conversation.turns]
        assert len(keys) == len({*keys}) >= 100
        assert [*conversation.turns] == sorted(conversation.turns, key=lambda turn: turn.said_at)
        assert len(conversation.questions) >= 40
        for question in conversation.questions:
            assert question.evidence <= {*keys}
