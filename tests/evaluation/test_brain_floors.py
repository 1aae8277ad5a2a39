"""How well the brain answers what nothing was fitted on must not drop."""

from pathlib import Path

import pytest

from evals.brain import measure
from floors import assert_floors_hold

pytestmark = pytest.mark.evaluation


def test_answers_of_the_brain_reach_their_floors() -> None:
    report = measure(embedders={"words": None}, root=Path(__file__).parents[2])

    assert_floors_hold(report)
    assert len([row for table in report.tables for row in table.rows]) == 2
