"""Accuracy of time expressions on public data must not drop."""

import pytest

from evals.when import measure
from floors import assert_floors_hold
from public_data import public_data

DATA = public_data()

pytestmark = pytest.mark.evaluation


@pytest.mark.skipif(
    not DATA.is_dir(), reason=f"NOT MEASURED: no data in {DATA}; set KINKEEPER_DATA"
)
def test_time_expressions_reach_their_floors():
    report = measure(DATA)

    assert_floors_hold(report)
