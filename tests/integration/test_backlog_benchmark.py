"""The benchmark of many open cards settles the same messages in both families."""

import pytest

from bench.suites import backlog

pytestmark = pytest.mark.slow


def test_many_open_cards_are_held_against_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "_MESSAGES", 14)
    monkeypatch.setattr(backlog, "_MANY", 50)
    monkeypatch.setattr(backlog, "_ROUNDS", 1)
    (found,) = backlog.measure()
    assert found.ratio is not None
    assert found.target is not None
    assert 0.2 < found.ratio < 5
