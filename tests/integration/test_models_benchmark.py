"""The benchmark of the gateway calls a server three ways and a process once."""

import pytest

from bench.suites import models as benchmark


@pytest.mark.slow
def test_every_way_is_held_against_a_bare_request() -> None:
    client, gateway, cold = benchmark.measure(calls=5, cold_starts=1)
    for ratio in (client, gateway, cold):
        assert ratio.ratio is not None
        assert ratio.microseconds > 0
    assert client.target == 3
