"""Accuracy of the tripwire on public data does not drop below its floors."""

from pathlib import Path

import pytest

from evals.tripwire import measure
from floors import assert_floors_hold
from public_data import public_data

ROOT = Path(__file__).parents[2]
DATA = public_data()


@pytest.mark.evaluation
@pytest.mark.slow
def test_tripwire_reaches_its_floors() -> None:
    if not (DATA / "coordination_real_dev.jsonl").exists():
        pytest.skip(f"NOT MEASURED: no public data in {DATA}; set KINKEEPER_DATA to its folder")
    report = measure(DATA, chats=ROOT / "evals" / "data")
    assert_floors_hold(report)
