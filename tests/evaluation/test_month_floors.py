"""How well memory serves two households over three months must not drop."""

from pathlib import Path

import pytest

from evals.months import measure
from floors import assert_floors_hold

pytestmark = pytest.mark.evaluation


@pytest.mark.nightly
def test_three_months_of_two_households_reach_their_floors() -> None:
    assert_floors_hold(measure(root=Path(__file__).parents[2]))
