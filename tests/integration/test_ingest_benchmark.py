"""The server's benchmark: real processes on loopback, beside each other and under load."""

import pytest

from bench.report import Figure, Ratio
from bench.suites import ingest

pytestmark = pytest.mark.slow


def test_a_server_is_measured_and_loses_nothing_under_load() -> None:
    found = ingest.measure(seconds=5, rounds=1)
    ratios = [each for each in found if isinstance(each, Ratio) and each.ratio is not None]
    assert len(ratios) == 6
    # Of two waits either may be longer on a busy machine; the work is surely more than none.
    assert all(each.ratio > 1 for each in ratios if "CPU" in each.name)
    counts = {each.name: each for each in found if isinstance(each, Figure)}
    exact = [each for each in counts.values() if each.target == 0]
    assert len(exact) == 4
    assert [each.value for each in exact] == [0] * 4
    storm = next(each for name, each in counts.items() if "storm" in name)
    assert 0 < storm.value <= storm.target
