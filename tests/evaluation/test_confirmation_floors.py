"""What is said and low in stakes runs at once, whether rules or a model plan it; and a model that was not trusted would ask."""

from pathlib import Path

import pytest

from evals import confirmations
from floors import assert_floors_hold
from kinkeeper.conversation.planning import model_planner, planners

ROOT = Path(__file__).parents[2]


@pytest.mark.evaluation
def test_what_is_said_is_rarely_asked_about() -> None:
    assert_floors_hold(confirmations.measure(None, root=ROOT, is_full=False))


@pytest.mark.evaluation
def test_a_model_alone_is_rarely_asked_about_and_without_own_words_always(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planners, "_same", lambda *_: False)

    alone = _run_at_once()
    monkeypatch.setattr(model_planner, "own_words", lambda *_: None)

    # Times that it worked out itself, as "an hour before", are offered: 6 of 67.
    assert alone["model: run at once"] > 0.9
    # Two only tell of an event ("mia has a playdate with zoe on friday at 3"): each becomes a card.
    assert _run_at_once() == {"rules: run at once": 1 - 2 / 67, "model: run at once": 0.0}


def _run_at_once() -> dict[str, float]:
    floors = confirmations.measure(None, root=ROOT, is_full=False).floors
    return {each.name: each.value for each in floors}
