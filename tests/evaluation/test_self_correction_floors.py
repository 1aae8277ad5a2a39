"""How much less goes wrong in a month in which a household's way of talking drifts, and that a planted bad step is taken back."""

from pathlib import Path

import pytest

from evals import self_correction
from floors import assert_floors_hold

ROOT = Path(__file__).parents[2]


@pytest.mark.nightly
@pytest.mark.evaluation
def test_misroutes_fall_and_a_bad_step_is_taken_back() -> None:
    assert_floors_hold(self_correction.measure(root=ROOT))
