"""How many questions about days are answered with what was asked for."""

from pathlib import Path

import pytest

from evals import questions
from floors import assert_floors_hold

ROOT = Path(__file__).parents[2]


@pytest.mark.evaluation
def test_questions_are_answered_with_what_was_asked_for() -> None:
    assert_floors_hold(questions.measure(ROOT))
