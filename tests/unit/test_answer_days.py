"""What is asked of events is told in one sentence, and nothing else."""

from dataclasses import replace
from typing import Any

import pytest

from answered_turns import TOMORROW_AT_FIVE, outcome, turn
from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.answering.templates import told

PIANO = {
    "title": "Piano",
    "start": TOMORROW_AT_FIVE,
    "end": TOMORROW_AT_FIVE.replace("T17:00", "T17:45"),
    "who": ["ivo"],
    "responsible": ["abe"],
    "location": "Old Hall",
    "rrule": "FREQ=WEEKLY;BYDAY=TH",
}
CAMP = {
    "title": "Camp",
    "start": "2026-11-20",
    "end": "2026-11-22",
    "all_day": True,
    "who": ["ruth"],
}


def answer(wanted: str, *events: dict[str, Any], **params: Any) -> str:
    found = outcome(
        "calendar.list_events", params={"wanted": wanted, **params}, result={"events": [*events]}
    )
    return told(turn("x", replace(found, action_id=None))).text


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("start", "Piano starts tomorrow at 5pm (Ivo)."),
        ("end", "Piano ends tomorrow at 5:45pm (Ivo)."),
        ("length", "Piano: 45 minutes, tomorrow from 5pm to 5:45pm."),
        ("place", "Piano tomorrow from 5pm to 5:45pm is at Old Hall (Ivo)."),
        ("responsible", "Abe is down for Piano tomorrow from 5pm to 5:45pm (Ivo)."),
        ("who", "Piano tomorrow from 5pm to 5:45pm: Ivo; Abe is in charge."),
        ("days", "Piano is every Thursday at 5pm (Ivo)."),
        ("unowned", "Nobody is down yet for Piano tomorrow from 5pm to 5:45pm."),
    ],
)
def test_just_what_was_asked(wanted: str, sentence: str) -> None:
    assert answer(wanted, PIANO) == sentence


def test_whole_days_are_counted() -> None:
    assert answer("length", CAMP) == "Camp: 3 days, from November 20 to November 22."
    assert answer("next", CAMP).endswith("in 9 days.")


def test_what_is_not_there_is_said_of_what_was_looked_at() -> None:
    day = {"from": "2026-11-13", "days_ahead": 1}
    assert answer("whether", query="judo", **day) == (
        "I don't know: nobody has told me, and nothing about judo is in the calendar on Friday."
    )
    assert answer("unowned", **day) == (
        "Nothing in the calendar on Friday is without somebody in charge."
    )
    assert answer("clash", **day) == "No, nothing clashes on Friday."
    assert answer("next", query="judo") == "Nothing about judo is in the calendar."
    hours = {**day, "since": "17:00", "until": "19:00", "who": ["ivo"]}
    assert answer("whether", **hours) == (
        "I don't know: nobody has told me, and nothing with Ivo is in the calendar on Friday from 5pm to 7pm."
    )


def _free(**result: Any) -> ActionResult:
    span = {"start": TOMORROW_AT_FIVE, "end": TOMORROW_AT_FIVE.replace("T17:00", "T18:00")}
    found = outcome("calendar.find_free", result={"looked_at": span, "free": [], **result})
    return replace(found, action_id=None)


def test_who_has_time_is_said_by_name() -> None:
    yes = _free(is_free=True, who=["abe"])
    assert told(turn("x", yes)).text == (
        "Abe is free tomorrow from 5pm to 6pm as far as I know: nothing is in the calendar for Abe then."
    )
    no = _free(is_free=False, who=["ruth"], busy=[PIANO])
    assert told(turn("x", no)).text.startswith("You are not free tomorrow from 5pm to 6pm: Piano")
    each = _free(is_free=False, who=["ruth", "abe"], by_member={"ruth": [], "abe": [PIANO]})
    text = told(turn("x", each)).text
    assert text.startswith("You are free tomorrow from 5pm to 6pm as far as I know")
    assert "Abe is busy with Piano" in text


def test_whole_days_beside_free_hours_are_told() -> None:
    found = _free(is_free=True, who=["ruth"], all_day=[CAMP])
    text = told(turn("x", found)).text
    assert text.startswith("Camp from November 20 to November 22")
    assert text.endswith("nothing else is in the calendar for you tomorrow from 5pm to 6pm.")
