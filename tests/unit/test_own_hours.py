"""Whose hour it is: the sender's own day says nothing of when the job is."""

from datetime import time
from functools import partial

import pytest

from growth import cpu_seconds, takes_too_long
from kinkeeper.observer.model import Stance, Task
from miller_words import said


@pytest.mark.parametrize(
    "text",
    [
        "can somebody grab Leo then, I'm in a call until 4",
        "my shift ends at 3, I'll fetch Mia",
        "John please drop the kids at school, I have to be in court by 9",
        "I get off at half 4 so I can pick Leo up",
        "boss scheduled a meeting at 2, can you get Leo today",
    ],
)
def test_the_senders_own_hour_is_not_the_jobs(text: str) -> None:
    assert said(text).times == ()


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("can anyone pick up Leo 12.30", time(12, 30)),
        ("half day Thursday, they finish 1.15, somebody has to pick them up", time(13, 15)),
        ("who can drop Mia 8.15", time(8, 15)),
    ],
)
def test_a_time_with_a_point_is_a_jobs_time(text: str, at: time) -> None:
    assert said(text).times == (at,)


@pytest.mark.parametrize(
    "text",
    [
        "who can pick up Leo, tickets are £12.30 on the day",
        "can anyone fetch Mia today, pizza is 4.30 off",
        "please fetch the twins, my cab comes 7.45 only",
    ],
)
def test_money_and_ones_own_cab_are_no_time_of_the_job(text: str) -> None:
    assert said(text).times == ()


def test_from_when_the_sender_is_there_is_not_the_day_of_the_job() -> None:
    assert said("I'm with you from Friday, I can fetch Mia").dates == ()


def test_of_two_days_the_one_that_was_taken_counts() -> None:
    found = said("dentist can do Thursday or the 20th at 9.10, taken the 20th", sender="sarah")
    assert [day.day for day in found.dates] == [20]


@pytest.mark.parametrize(
    "text",
    [
        "will ask the coach for the 4 pm group at soccer",
        "let me check if ballet is at 5 on Monday",
        "is soccer still on today?",
        "the doctor says no soccer till Friday",
        "Mia's dance photos money due friday",
    ],
)
def test_what_is_yet_to_be_asked_or_only_a_limit_arranges_nothing(text: str) -> None:
    assert not said(text).is_coordination or said(text).task is Task.CANCEL


def test_a_child_who_asks_for_leave_arranges_nothing() -> None:
    assert not said("can Ava sleep over on Saturday", sender="mia").is_coordination


@pytest.mark.parametrize("plea", ["please ", "so ", "hey "])
def test_however_long_a_child_pleads_it_is_read_at_once(plea: str) -> None:
    work = partial(said, f"{plea * 24}be quick", sender="mia")
    assert not takes_too_long(partial(cpu_seconds, work), 1.0)
    assert not said(f"{plea * 24}can Ava sleep over on Saturday", sender="mia").is_coordination


def test_who_is_helped_does_not_take_it_on() -> None:
    found = said("who can help me pick Leo up at 1 today", sender="sarah")
    assert (found.stance, found.owners) == (Stance.ASKS, ())


def test_a_refusal_that_turns_to_others_asks() -> None:
    assert said("Can't do soccer tonight. Anyone?", sender="john").stance is Stance.ASKS


def test_a_child_asked_to_see_to_another_is_not_whom_it_is_for() -> None:
    found = said("Leo can you walk her to ballet today? Mia is ready", sender="sarah")
    assert "leo" not in found.child
    assert not found.seeks_owner


def test_an_hour_for_this_week_moves_the_session_of_this_week() -> None:
    found = said("soccer is at half five this week not half four", sender="sarah")
    assert found.is_announced_change
