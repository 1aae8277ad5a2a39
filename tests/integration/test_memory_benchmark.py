"""The benchmark of memory measures what it says, on few rows."""

import pytest

from bench.report import Figure, Ratio
from bench.suites import memory

pytestmark = pytest.mark.slow


def test_searches_are_held_against_the_full_text_index_and_the_last_import_against_the_first(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(memory, "_FACTS", 300)
    monkeypatch.setattr(memory, "_FACTS_AT_ONCE", 50)
    found = memory.measure(2_000)
    searches, imports = [each for each in found if isinstance(each, Ratio)]
    assert "2,000" in searches.name
    assert searches.peer_microseconds
    assert searches.microseconds > 0
    assert imports.ratio is not None
    assert imports.ratio < 5
    figures = [each.unit for each in found if isinstance(each, Figure)]
    assert figures == ["ms of CPU", "s of CPU", "MB", "ms of CPU"]
