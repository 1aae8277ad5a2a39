"""The observer's benchmark runs both tiers on talk that is mostly ordinary."""

import pytest

from bench.suites import observer as benchmark

pytestmark = pytest.mark.slow


def test_every_figure_is_measured_on_a_realistic_share_of_coordination():
    cpu, wall, both, second = benchmark.measure()
    assert cpu.ratio is not None
    assert wall.ratio is not None
    assert min(cpu.ratio, wall.ratio) > 1
    assert both.ratio is not None
    assert both.ratio > 1
    share = int(both.name.split("%")[0].split()[-1])
    assert 5 <= share <= 10
    assert second.target is not None
