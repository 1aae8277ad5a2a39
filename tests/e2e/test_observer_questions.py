"""Questions that nobody answers: when they are asked aloud, and when they are not."""

from collections.abc import Iterator

import pytest

from family_chat import Chat, Line, chat
from kinkeeper.actions.receipts import Outcome
from kinkeeper.messaging.tables import messages

ASK = "Who's picking up Leo at 3pm?"


@pytest.fixture
def family() -> Iterator[Chat]:
    with chat() as opened:
        yield opened


def asked(lines: list[Line]) -> list[tuple[str, str, str]]:
    return [(line["message_id"], line["event"], line["redline_trigger_rule"]) for line in lines]


# Questions that nobody answers


def test_a_question_is_asked_aloud_when_its_grace_ends_and_not_before(family: Chat) -> None:
    question = family.say("Wed 2026-03-04 09:00", "sarah", ASK)
    assert (question["redline_decision"], question["reason"]) == ("SILENT", "grace")
    assert family.until("Wed 2026-03-04 09:14") == []
    lines = family.until("Wed 2026-03-04 09:15")
    assert asked(lines) == [(question["message_id"], "deferred", "missing_variable")]
    assert lines[0]["redline_decision"] == "SPEAK"
    assert lines[0]["buttons"] == ["John", "Sarah"]
    assert lines[0]["action"]["id"] == question["action"]["id"]
    [said] = family.spoken()
    assert (said["body"], said["created_at"]) == (
        lines[0]["reply"],
        family.at("Wed 2026-03-04 09:15"),
    )
    assert set(lines[0]) == {*question, "event"}
    assert family.until("Thu 2026-03-05 09:00") == []


def test_what_time_brings_stands_among_the_lines_at_its_time(family: Chat) -> None:
    question = family.say("Wed 2026-03-04 09:00", "sarah", ASK)
    lines = family.feed(family.message("Wed 2026-03-04 09:40", "john", "lol"))
    assert next(line["message_id"] for line in lines) == question["message_id"]
    assert [line.get("event") for line in lines] == ["deferred", None]


def test_an_answer_at_the_very_end_of_the_grace_is_too_late_and_one_before_it_is_not(
    family: Chat,
) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", ASK)
    lines = family.feed(family.message("Wed 2026-03-04 09:14", "john", "I'll do it"))
    assert [line.get("event") for line in lines] == [None]
    assert family.until("Wed 2026-03-04 18:00") == []


@pytest.mark.parametrize(
    ("clock", "asked_at"),
    [
        ("10:10", "09:10"),
        ("10:15", "09:15"),
        ("10:16", "09:15"),
        ("10:01", "09:01"),
        ("13:00", "09:15"),
    ],
)
def test_the_grace_never_reaches_into_the_last_hour(
    family: Chat, clock: str, asked_at: str
) -> None:
    family.say(
        "Wed 2026-03-04 09:00",
        "sarah",
        f"Who's picking up Leo at {clock}am?".replace("13:00am", "1pm"),
    )
    family.until("Wed 2026-03-04 12:00")
    assert [row["created_at"] for row in family.spoken()] == [
        family.at(f"Wed 2026-03-04 {asked_at}")
    ]


@pytest.mark.parametrize("clock", ["9:40am", "10am", "9:05am"])
def test_a_question_within_its_last_hour_is_asked_at_once(family: Chat, clock: str) -> None:
    line = family.say("Wed 2026-03-04 09:00", "sarah", f"Who's picking up Leo at {clock}?")
    assert (line["redline_decision"], line["redline_trigger_rule"]) == ("SPEAK", "missing_variable")


@pytest.mark.parametrize(
    ("words", "is_asked"),
    [
        ("Who's picking up Leo tomorrow at 8am?", True),
        ("Who's picking up Leo tomorrow at 10am?", False),
        ("Who's picking up Leo on Friday at 3pm?", False),
    ],
)
def test_only_what_is_due_within_a_day_is_asked_about_however_long_time_runs_on(
    family: Chat, words: str, is_asked: bool
) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", words)
    assert bool(family.until("Mon 2026-03-09 09:00")) == is_asked


@pytest.mark.parametrize("grace", [0, 60, 1800])
def test_the_grace_is_a_setting(grace: int) -> None:
    with chat(open_question_grace_seconds=grace) as family:
        family.say("Wed 2026-03-04 09:00", "sarah", ASK)
        family.until("Wed 2026-03-04 12:00")
        [said] = family.spoken()
        assert (said["created_at"] - family.at("Wed 2026-03-04 09:00")).total_seconds() == grace


def test_a_confirmed_question_is_not_asked(family: Chat) -> None:
    """A parent who presses their own button on the list has settled it."""
    question = family.say("Wed 2026-03-04 09:00", "sarah", ASK)
    receipt = family.resolve("Wed 2026-03-04 09:05", "john", question["action"]["id"], "John")
    assert receipt.outcome is Outcome.DONE
    assert family.until("Wed 2026-03-04 12:00") == []


def test_a_rejected_question_is_not_asked(family: Chat) -> None:
    question = family.say("Wed 2026-03-04 09:00", "sarah", ASK)
    family.reject("Wed 2026-03-04 09:05", "john", question["action"]["id"])
    assert family.until("Wed 2026-03-04 12:00") == []


def test_a_question_stays_answerable_for_an_hour_and_no_longer(family: Chat) -> None:
    question = family.say("Wed 2026-03-04 09:00", "sarah", "Who's picking up Leo on Friday?")
    late = family.say("Wed 2026-03-04 10:01", "john", "I'll do it")
    assert late["attribution_source"] is None
    assert late["extraction"]["attribution"]["attribution_confidence"] == 0.3
    again = family.say("Wed 2026-03-04 10:02", "sarah", "Who's picking up Leo on Friday?")
    taken = family.say("Wed 2026-03-04 11:01", "john", "I'll do it")
    assert taken["attribution_source"] == again["message_id"] != question["message_id"]


def test_a_question_whose_time_has_passed_is_not_answered(family: Chat) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", "Who's picking up Leo at 9:20am?")
    line = family.say("Wed 2026-03-04 09:30", "john", "I'll do it")
    assert line["attribution_source"] is None


def test_an_interrupted_replay_still_asks_at_the_right_time(family: Chat) -> None:
    question = family.say("Wed 2026-03-04 09:00", "sarah", ASK)
    family.restart()
    lines = family.until("Wed 2026-03-04 12:00")
    assert asked(lines) == [(question["message_id"], "deferred", "missing_variable")]
    assert family.spoken()[0]["created_at"] == family.at("Wed 2026-03-04 09:15")


def test_nothing_is_kept_twice(family: Chat) -> None:
    for said in [("Wed 2026-03-04 09:00", "sarah", ASK), ("Wed 2026-03-04 09:30", "john", "lol")]:
        family.say(*said)
    assert len(family.rows(messages)) == len(family.decisions()) == 2
