"""What a model that lies gets shown, in a sample of turns with faults."""

from pathlib import Path

import pytest

from evals import answers
from floors import assert_floors_hold

ROOT = Path(__file__).parents[2]


@pytest.mark.evaluation
def test_no_lie_of_a_thousand_turns_is_shown() -> None:
    assert_floors_hold(answers.measure(ROOT, is_full=False))
