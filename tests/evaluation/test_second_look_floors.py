"""How rarely a model is asked, and that a bad one costs nothing that the rules had."""

import json
from pathlib import Path

import pytest

from evals.second_look import measure
from floors import assert_floors_hold
from kinkeeper.settings.model import Settings
from modelserver import model_server, says

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.evaluation, pytest.mark.slow]


LIE = {
    "is_arrangement": True,
    "stance": "claims",
    "task": "pickup",
    "owners": ["nobody"],
    "children": ["nobody"],
    "activity": "nothing",
    "place": "nowhere",
    "dates": ["d9"],
    "times": ["2026-01-01"],
}


@pytest.mark.nightly
def test_few_messages_need_a_model_and_one_that_lies_takes_nothing_away() -> None:
    with model_server() as server:
        server.will(says(json.dumps(LIE)))
        settings = Settings(model_url=server.url, model_name="bad")
        report = measure(ROOT, settings, data=None, sets=("dev",))
        assert server.calls
    assert_floors_hold(report)
    reading, questions = report.tables
    rules, helped, alone = (row for row in reading.rows if row[0] == "left open by the rules")
    assert rules[2:] == helped[2:]
    assert alone[3] < rules[3]
    assert [row[0] for row in questions.rows] == [rules[1], helped[1], alone[1]]
