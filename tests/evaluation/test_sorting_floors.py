"""Accuracy of routing, categories and likeness on held-out texts must not drop."""

from pathlib import Path

import pytest

from evals.__main__ import SUITES, Scope
from floors import assert_floors_hold
from public_data import public_data

DATA = public_data()

pytestmark = pytest.mark.evaluation


@pytest.mark.skipif(
    not DATA.is_dir(), reason=f"NOT MEASURED: no data in {DATA}; set KINKEEPER_DATA"
)
@pytest.mark.parametrize("suite", ["router", "planner", "category", "likeness"])
def test_sorting_reaches_its_floors(suite: str) -> None:
    (measure,) = SUITES[suite]
    report = measure(Scope(data=DATA, root=Path(__file__).parents[2], is_full=False))

    assert_floors_hold(report)
