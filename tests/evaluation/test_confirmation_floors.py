"""What is said and low in stakes runs at once, whether rules or a model plan it; and a model that was not trusted would ask."""

from pathlib import Path

import pytest

from evals import confirmations
from floors import assert_floors_hold
from kinkeeper.conversation.planning import model_planner

ROOT = Path(__file__).parents[2]


@pytest.mark.evaluation
def test_what_is_said_is_rarely_asked_about() -> None:
    assert_floors_hold(confirmations.measure(None, root=ROOT, is_full=False))


@pytest.mark.evaluation
def test_without_a_look_at_the_persons_own_words_all_would_be_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model_planner, "own_words", lambda *_: None)

    by = {
        each.name: each.value
        for each in confirmations.measure(None, root=ROOT, is_full=False).floors
    }

    # Of 67 requests two only tell of an event ("mia has a playdate with zoe on friday at 3"): each becomes a card.
    assert by == {"rules: run at once": 1 - 2 / 67, "model: run at once": 0.0}
