"""Accuracy of time expressions on public data must not drop."""

import os
from pathlib import Path

import pytest

from kinkeeper.evaluation.when import measure

DATA = Path(os.environ.get("KINKEEPER_DATA", Path(__file__).parents[3] / "shared" / "data"))

pytestmark = pytest.mark.evaluation


@pytest.mark.skipif(
    not DATA.is_dir(), reason=f"NOT MEASURED: no data in {DATA}; set KINKEEPER_DATA"
)
def test_time_expressions_reach_their_floors():
    report = measure(DATA)

    assert report.floors
    assert [
        f"{floor.name}: {floor.value:.3f} < {floor.minimum}"
        for floor in report.floors
        if not floor.holds
    ] == []
