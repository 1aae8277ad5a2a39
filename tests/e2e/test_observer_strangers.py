"""What families unlike the sample write: nothing is said aloud, and no value taken, that they did not mean."""

from collections.abc import Iterator

import pytest

from family_chat import Chat, Line, chat

MON = "Mon 2026-03-02"


@pytest.fixture
def family() -> Iterator[Chat]:
    with chat() as opened:
        yield opened


def spoken(line: Line) -> str | None:
    return line["redline_trigger_rule"] if line["redline_decision"] == "SPEAK" else None


def test_the_school_run_and_a_lift_to_an_activity_are_two_jobs(family: Chat) -> None:
    family.say(f"{MON} 07:00", "sarah", "I'll take Mia to school on Wednesday")
    line = family.say(f"{MON} 07:05", "john", "I'll drop Mia at ballet on Wednesday")
    assert spoken(line) is None


def test_a_day_that_nobody_named_is_nobodys_mistake(family: Chat) -> None:
    line = family.say(f"{MON} 09:00", "sarah", "chess will take the 4 pm group then")
    assert spoken(line) is None


@pytest.mark.parametrize(
    "text",
    ["ok soccer Friday at 5 it is", "coach confirmed, soccer Thursday they can come at 6.30"],
)
def test_what_was_agreed_is_no_mistake(family: Chat, text: str) -> None:
    assert spoken(family.say(f"{MON} 09:00", "sarah", text)) is None


def test_an_edit_after_the_fact_asks_nothing(family: Chat) -> None:
    asked = family.say(f"{MON} 09:00", "sarah", "who's taking Mia to ballet today")
    line = family.edit(
        "Tue 2026-03-03 16:00", "sarah", "who is taking Mia to ballet today", asked["message_id"]
    )
    assert spoken(line) is None
    assert not family.pending("Tue 2026-03-03 16:01")


def test_who_steps_back_does_so_even_where_they_are_asked_how(family: Chat) -> None:
    family.say(f"{MON} 09:00", "john", "I'll take Mia to ballet on Wednesday")
    family.say(f"{MON} 09:10", "sarah", "how will you do ballet on Wednesday then")
    family.say(f"{MON} 09:12", "john", "sorry, can't do ballet Wednesday")
    held = [action.proposal.extraction["assigned_to"] for action in family.pending(f"{MON} 09:13")]
    assert ["john"] not in held


def test_a_hand_on_the_job_is_no_second_job(family: Chat) -> None:
    family.say(f"{MON} 09:00", "john", "I'll pick up Mia from ballet today")
    family.say(f"{MON} 16:40", "john", "leaving to get Mia")
    assert len(family.pending(f"{MON} 16:41")) == 1


def test_a_time_for_this_week_is_for_the_next_session(family: Chat) -> None:
    line = family.say("Sun 2026-03-01 10:00", "sarah", "ballet is at half four this week not four")
    assert spoken(line) is None
    assert line["action"]["dates"] == ["2026-03-02"]
    assert line["action"]["type"] == "schedule_change"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("chess is an hour earlier next week, three o'clock", ["2026-03-11"]),
        ("chess 3pm next week", ["2026-03-11"]),
        ("ballet starts half an hour earlier on Wednesday", ["2026-03-04"]),
    ],
)
def test_earlier_than_usual_is_not_counted_from_now(
    family: Chat, text: str, days: list[str]
) -> None:
    line = family.say("Fri 2026-03-06 10:00" if "next" in text else f"{MON} 09:00", "sarah", text)
    assert spoken(line) is None
    assert line["action"]["dates"] == days


def test_of_several_days_of_a_coming_week_none_is_made_up(family: Chat) -> None:
    line = family.say(f"{MON} 09:00", "sarah", "soccer is at 6 next week")
    assert spoken(line) is None
    assert line["action"] is None


def test_a_run_just_done_is_no_second_claim_on_another_day(family: Chat) -> None:
    family.say(
        f"{MON} 09:00",
        "john",
        "plumber is coming Thursday between 8 and 12, someone needs to be in",
    )
    family.say(f"{MON} 09:05", "sarah", "I'm working from home Thursday so I'm in")
    line = family.say(f"{MON} 15:40", "john", "got them both. Leo has a sore throat")
    assert spoken(line) is None
    assert not (line["action"] or {}).get("dates")


@pytest.mark.parametrize(
    "text",
    [
        "who's got Mia friday while I'm at soccer with Leo",
        "can somebody have Mia while we are at soccer with Leo on friday",
    ],
)
def test_what_somebody_is_at_meanwhile_is_not_the_job(family: Chat, text: str) -> None:
    line = family.say(f"{MON} 09:00", "john", text)
    assert line["redline_trigger_rule"] != "time_mismatch"
    assert line["action"]["child"] == ["mia"]
    assert line["action"]["dates"] == ["2026-03-06"]
    assert line["action"]["activity"] is None
