"""The play for somebody new: scenes in order, and a ledger that adds up."""

from datetime import datetime
from typing import Any

from kinkeeper.web.views.welcome import Heard, scenes
from page_samples import heard, home
from pending_samples import ZONE

EVENING, MORNING = datetime(2026, 5, 14, 23, 50, tzinfo=ZONE), datetime(2026, 5, 15, 7, tzinfo=ZONE)


def _heard(at: datetime, **line: Any) -> Heard:
    return Heard(at=at, household=home(), message=heard(1, "omar", "hi", at).message, line=line)


def test_the_ledger_counts_every_message_once_and_every_proposal_once() -> None:
    kept = {"id": "a", "summary": "Judo"}
    found = scenes(
        [
            _heard(EVENING),
            _heard(EVENING, redline_decision="SILENT", action=kept),
            _heard(MORNING, redline_decision="SILENT", action=kept),
            _heard(MORNING, event="deferred", redline_decision="SPEAK", reply="Who?", action=kept),
        ]
    )
    assert [scene.ledger for scene in found] == [
        (1, 0, 0, 0),
        (2, 1, 1, 0),
        (3, 2, 1, 0),
        (3, 2, 1, 1),
    ]
    assert [scene.day for scene in found] == ["Thursday", "", "Friday", ""]
    assert [scene.decision for scene in found] == ["drop", "silent", "silent", "speak"]


def test_time_alone_speaks_as_nobody() -> None:
    [scene] = scenes([_heard(MORNING, event="deferred", redline_decision="SPEAK", reply="Who?")])
    assert scene.person is None
    assert scene.text == "nobody has answered"
    assert scene.said == "Who?"
    assert not scene.kept


def test_nothing_heard_is_no_scene() -> None:
    assert scenes([]) == ()
