"""Two simulated years: what does not fade holds and is found; what fades leaves, and its words are still found."""

import pytest

from evals.memory_years import FADING, live, measure, sentences
from kinkeeper.memory import fact_sync


def test_after_two_years_nothing_lasting_is_gone_and_all_that_fades_has_left() -> None:
    report = measure(1)
    assert [floor for floor in report.floors if not floor.holds] == []
    assert report.worst == ()
    (table,) = report.tables
    gone = {str(row[0]): (row[1], row[2]) for row in table.rows}
    assert len(gone) == 10
    assert all(number > 0 for number, _ in gone.values())
    assert gone[FADING][0] == gone[FADING][1]
    assert sum(int(left) for kind, (_, left) in gone.items() if kind != FADING) == 0


def test_it_is_noticed_where_everything_fades(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_sync, "is_transient", lambda _: True)
    outcomes = live(sentences(1)[:6], days=150)
    assert not any(each.holds for each in outcomes)
