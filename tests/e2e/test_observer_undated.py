"""A job of an activity that names no day is that of the activity's next one."""

from collections.abc import Iterator

import pytest

from family_chat import Chat, chat


@pytest.fixture
def family() -> Iterator[Chat]:
    with chat() as opened:
        yield opened


def test_a_question_without_a_day_is_not_asked_again_long_before_its_time(family: Chat) -> None:
    asked = family.say("Wed 2026-03-04 20:00", "sarah", "Who can do swimming?")
    assert asked["action"]["dates"] == ["2026-03-07"]
    assert family.until("Thu 2026-03-05 08:00") == []


def test_a_question_without_a_day_is_asked_when_its_time_is_near(family: Chat) -> None:
    family.say("Fri 2026-03-06 20:00", "sarah", "Who can do swimming?")
    spoken = family.until("Sat 2026-03-07 08:00")
    assert [line["redline_trigger_rule"] for line in spoken] == ["missing_variable"]


def test_two_claims_collide_though_one_names_no_day(family: Chat) -> None:
    family.say("Wed 2026-03-04 20:00", "sarah", "I'll drive Mia to swimming on Saturday")
    second = family.say("Wed 2026-03-04 20:30", "john", "I'll drive Mia to swimming")
    assert second["redline_trigger_rule"] == "resource_conflict"


def test_what_practice_may_mean_implies_no_day(family: Chat) -> None:
    line = family.say("Wed 2026-03-04 20:00", "sarah", "Who can do practice?")
    assert line["extraction"]["dates"] == []
