"""Second thoughts about a time that was just said."""

from dataclasses import replace
from itertools import product

import pytest

from kinkeeper.conversation.model import Exchange
from kinkeeper.conversation.planning.rule_planner import plan_of
from planning import context, done, exchange, planned


def reminded(text: str, deadline: str) -> Exchange:
    return exchange(text, done("task.create", id="t1", title="ring the bank", deadline=deadline))


def new_deadline(text: str, *history: Exchange) -> str:
    ((name, params),) = planned(text, history=history)
    assert name == "task.update"
    return str(params["changes"]["deadline"]).removesuffix(":00-05:00")


@pytest.mark.parametrize(
    ("text", "deadline"),
    [
        ("make that 10", "2026-03-11T09:15"),
        ("no, half an hour", "2026-03-11T09:35"),
        ("sorry, 2 hours", "2026-03-11T11:05"),
    ],
)
def test_a_length_is_counted_from_when_the_first_one_was_said(text: str, deadline: str) -> None:
    first = reminded("remind me in 20 minutes to ring the bank", "2026-03-11T09:25:00-05:00")

    assert new_deadline(text, first) == deadline


def test_a_second_length_after_a_second_one() -> None:
    first = reminded("remind me in 20 minutes to ring the bank", "2026-03-11T09:25:00-05:00")
    second = reminded("make that 10", "2026-03-11T09:15:00-05:00")

    assert new_deadline("no, 15", first, second) == "2026-03-11T09:20"


@pytest.mark.parametrize(
    ("text", "old", "deadline"),
    [
        ("make it ten past", "16:00", "2026-03-11T16:10"),
        ("no, quarter to", "16:00", "2026-03-11T15:45"),
        ("half past", "15:15", "2026-03-11T15:30"),
        ("make that 5", "15:45", "2026-03-11T17:00"),
        ("make it 12", "11:00", "2026-03-11T12:00"),
        ("make that half 6", "17:00", "2026-03-11T18:30"),
    ],
)
def test_an_hour_is_the_one_near_the_old_one(text: str, old: str, deadline: str) -> None:
    first = reminded(f"remind me at {old} to ring the bank", f"2026-03-11T{old}:00-05:00")

    assert new_deadline(text, first) == deadline


def test_hours_of_tomorrow_morning_stay_in_the_morning() -> None:
    first = reminded("wake me at 7 tomorrow", "2026-03-12T07:00:00-05:00")

    assert new_deadline("make that half past 6", first) == "2026-03-12T06:30"


def test_where_nobody_can_tell_which_half_of_the_day_it_is_asked() -> None:
    first = reminded("remind me at 15:40 to ring the bank", "2026-03-11T15:40:00-05:00")
    said = context("make that 10", history=[first])
    later = replace(said.asked, now=said.asked.now.replace(hour=15, minute=30))

    asked = plan_of(replace(said, asked=later))

    assert not asked.actions
    assert asked.clarification is not None
    assert "am or pm" in asked.clarification


@pytest.mark.parametrize(
    ("first", "old", "text", "deadline"),
    [
        ("remind me tomorrow at 7 to ring the bank", "19:00", "no, in the morning", "07:00"),
        ("remind me tomorrow at 8.40 to ring the bank", "20:40", "in the morning", "08:40"),
        ("remind me tomorrow at 9 to ring the bank", "09:00", "make it the evening", "21:00"),
        ("remind me tomorrow at 7pm to ring the bank", "19:00", "no, in the morning", "08:00"),
    ],
)
def test_a_bare_hour_is_kept_in_the_part_of_the_day_that_is_told_later(
    first: str, old: str, text: str, deadline: str
) -> None:
    before = reminded(first, f"2026-03-12T{old}:00-05:00")

    assert new_deadline(text, before) == f"2026-03-12T{deadline}"


LASTS = {
    "calendar.create_event": {
        "id": "e1",
        "title": "lunch with Lucy",
        "start": "2026-03-12T12:00:00-05:00",
    },
    "task.create": {"id": "t1", "title": "ring the bank", "deadline": "2026-03-12T12:00:00-05:00"},
}
POINTS = ("that's", "thats", "it's", "its", "that is", "it is")
SIGNS = ("actually ", "sorry ", "oh wait, ", "no, ", "oops ", "")


@pytest.mark.parametrize("key", LASTS)
def test_another_day_is_of_what_was_made_last_and_no_event_called_that(key: str) -> None:
    for sign, points, on in product(SIGNS, POINTS, ("", "on ")):
        text = f"{sign}{points} {on}friday"
        steps = planned(text, history=[exchange("…", done(key, **LASTS[key]))])
        name = "calendar.update_event" if key.startswith("calendar") else "task.update"
        assert [each for each, _ in steps] == [name], text
        assert "2026-03-13T12:00" in str(steps[0][1]["changes"]), text


def test_what_only_points_is_no_title() -> None:
    for sign, points, on in product(SIGNS, POINTS, ("", "on ")):
        assert planned(f"{sign}{points} {on}friday") == []
