"""A time, day or child set right in passing: the card that stood is gone, the new one says what holds."""

from collections.abc import Iterator
from typing import Any

import pytest

from family_chat import Chat, chat
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.receipts import Outcome
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import Viewer

NOON = "Mon 2026-03-02 12:00"


@pytest.fixture
def family() -> Iterator[Chat]:
    with chat() as opened:
        yield opened


def cards(family: Chat) -> list[tuple[Any, ...]]:
    names = ("assigned_to", "child", "dates", "times")
    found = [action.proposal.extraction for action in family.pending(NOON)]
    return [tuple(record[name] for name in names) for record in found]


@pytest.mark.parametrize(
    ("words", "day", "clock"),
    [
        ("10am sorry", "2026-03-05", "10:00"),
        ("actually 10", "2026-03-05", "10:00"),
        ("no wait, it's half 10", "2026-03-05", "10:30"),
        ("10.15 not 11", "2026-03-05", "10:15"),
        ("10:30*", "2026-03-05", "10:30"),
        ("wrong day, friday", "2026-03-06", "11:00"),
        ("friday i mean", "2026-03-06", "11:00"),
        ("oops sry wednesday", "2026-03-04", "11:00"),
        ("just checked, 10.45", "2026-03-05", "10:45"),
        ("11:20", "2026-03-05", "11:20"),
    ],
)
def test_a_correction_takes_the_place_of_the_booking(
    family: Chat, words: str, day: str, clock: str
) -> None:
    first = family.say("Mon 2026-03-02 09:00", "sarah", "Mia has the dentist thursday at 11am")
    family.say("Mon 2026-03-02 09:02", "sarah", words)
    assert cards(family) == [(["unspecified"], ["mia"], [day], [clock])]
    late = family.confirm("Mon 2026-03-02 09:03", "john", first["action"]["id"])
    assert late.outcome is not Outcome.DONE
    assert family.events() == []


def test_the_other_child_was_meant(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "Mia has the dentist thursday at 11am")
    family.say("Mon 2026-03-02 09:02", "sarah", "sorry, Leo I mean")
    assert cards(family) == [(["unspecified"], ["leo"], ["2026-03-05"], ["11:00"])]


def test_whoever_had_answered_keeps_the_job(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "who can get Leo from school tomorrow at 3?")
    family.say("Mon 2026-03-02 09:02", "john", "me")
    family.say("Mon 2026-03-02 09:20", "sarah", "3.30 sorry")
    assert cards(family) == [(["john"], ["leo"], ["2026-03-03"], ["15:30"])]


def test_what_was_confirmed_is_replaced_once_the_correction_is_confirmed(family: Chat) -> None:
    first = family.say("Mon 2026-03-02 09:00", "sarah", "Mia has the dentist thursday at 11am")
    family.confirm("Mon 2026-03-02 09:01", "john", first["action"]["id"])
    second = family.say("Mon 2026-03-02 09:05", "sarah", "actually 10")
    family.confirm("Mon 2026-03-02 09:06", "john", second["action"]["id"])
    held = family.store.read_now(
        lambda conn: occurrences_between(
            conn,
            Viewer.whole(family.household.id),
            Interval(family.at("Thu 2026-03-05 00:00"), family.at("Thu 2026-03-05 16:00")),
        )
    )
    assert [each.interval.start for each in held] == [family.at("Thu 2026-03-05 10:00")]


def test_another_may_set_right_what_was_announced(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "Mia has the dentist thursday at 11am")
    family.say("Mon 2026-03-02 09:02", "john", "no, it's at 10")
    assert cards(family) == [(["unspecified"], ["mia"], ["2026-03-05"], ["10:00"])]


@pytest.mark.parametrize(
    "words",
    [
        "sorry 10 mins late today",
        "actually thursday works for me",
        "wait, 10 of them?",
        "sorry, I'm at work till 10",
        "no idea, 10 maybe?",
        "got 10 eggs, sorry it took so long",
    ],
)
def test_what_only_looks_like_a_correction_changes_no_card(family: Chat, words: str) -> None:
    first = family.say("Mon 2026-03-02 09:00", "sarah", "Mia has the dentist thursday at 11am")
    family.say("Mon 2026-03-02 09:02", "sarah", words)
    assert family.action(first["action"]["id"]).status is ActionStatus.PENDING
    assert cards(family) == [(["unspecified"], ["mia"], ["2026-03-05"], ["11:00"])]


def test_of_several_jobs_only_the_one_set_right_is_replaced(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "john", "I'll get Leo at 3 and Mia at 4 tomorrow")
    family.say("Mon 2026-03-02 09:02", "john", "4.30 for Mia sorry")
    assert sorted(cards(family)) == [
        (["john"], ["leo"], ["2026-03-03"], ["15:00"]),
        (["john"], ["mia"], ["2026-03-03"], ["16:30"]),
    ]


# A new time with the old one is a move, not a second booking


@pytest.mark.parametrize(
    "words",
    [
        "Leo soccer is at 5 tomorrow, not 4:30",
        "soccer's 5 instead of 4.30 tomorrow",
        "soccer tomorrow is at 5, usually 4.30",
        "soccer got preponed to 5 tomorrow",
    ],
)
def test_both_times_told_move_the_session(family: Chat, words: str) -> None:
    line = family.say("Mon 2026-03-02 09:00", "sarah", words)
    assert line["action"]["type"] == "schedule_change"
    family.confirm("Mon 2026-03-02 09:01", "john", line["action"]["id"])
    assert family.events() == []


@pytest.mark.parametrize(
    "words",
    [
        "Leo off soccer tomorrow, poorly",
        "Leo's out of soccer tomorrow",
        "keeping Leo off soccer tomorrow",
        "Leo can't do soccer tomorrow, he's got a cold",
    ],
)
def test_a_child_who_is_off_does_not_go(family: Chat, words: str) -> None:
    line = family.say("Mon 2026-03-02 09:00", "sarah", words)
    assert (line["action"]["type"], line["action"]["dates"]) == ("schedule_change", ["2026-03-03"])


def test_another_matter_leaves_what_was_announced_alone(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "Leo has the dentist at 5pm")
    family.say("Mon 2026-03-02 09:05", "john", "I'll pick up Leo from school tomorrow at 3pm")
    assert sorted(cards(family)) == [
        (["john"], ["leo"], ["2026-03-03"], ["15:00"]),
        (["unspecified"], ["leo"], ["2026-03-02"], ["17:00"]),
    ]


def test_fetching_from_an_appointment_leaves_the_appointment(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "Mia has the dentist thursday at 4pm")
    family.say("Mon 2026-03-02 09:05", "john", "I'll pick her up after")
    assert sorted(cards(family)) == [
        (["john"], ["mia"], ["2026-03-05"], []),
        (["unspecified"], ["mia"], ["2026-03-05"], ["16:00"]),
    ]


def test_taking_somebody_there_takes_the_place_of_the_announcement(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "Mia has the dentist thursday at 4pm")
    family.say("Mon 2026-03-02 09:05", "john", "I'll take her")
    assert cards(family) == [(["john"], ["mia"], ["2026-03-05"], ["16:00"])]


# Whose job it is


@pytest.mark.parametrize(
    ("words", "jobs"),
    [
        ("you take Leo, I do Mia on saturday", {("john", "leo"), ("sarah", "mia")}),
        ("you do soccer tomorrow and I'll do ballet", {("john", "leo"), ("sarah", "mia")}),
        ("John, you're on snacks for soccer tomorrow", {("john", "leo")}),
        ("you've got Leo tomorrow", {("john", "leo")}),
    ],
)
def test_a_job_told_to_the_other_is_theirs(
    family: Chat, words: str, jobs: set[tuple[str, str]]
) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", words)
    found = {(owner, child) for (owner,), (child,), _, _ in cards(family)}
    assert found == jobs


@pytest.mark.parametrize("words", ["you good to take Leo tomorrow", "have you got Leo tomorrow?"])
def test_a_question_hands_nothing_over(family: Chat, words: str) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", words)
    assert [owner for owner, *_ in cards(family)] in ([], [["unspecified"]])


def test_an_excuse_beside_a_request_takes_nothing_on(family: Chat) -> None:
    line = family.say(
        "Mon 2026-03-02 09:00",
        "sarah",
        "Leo has soccer tomorrow and I've got book club. Can either of you step in?",
    )
    assert line["extraction"]["assigned_to"] == ["unspecified"]


def test_you_take_him_then_yields_to_whom_it_is_said(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "john", "I'll pick up Leo from soccer tomorrow")
    family.say("Mon 2026-03-02 09:02", "sarah", "I'm closer, I can do it")
    family.say("Mon 2026-03-02 09:03", "john", "ok then you take him")
    assert [owner for owner, *_ in cards(family)] == [["sarah"]]


def test_never_mind_one_another_has_it(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "who's getting Leo from soccer tomorrow?")
    family.say("Mon 2026-03-02 09:02", "john", "I can")
    family.say("Mon 2026-03-02 09:09", "sarah", "never mind John, I'm early so I'll get him")
    assert [owner for owner, *_ in cards(family)] == [["sarah"]]


def test_who_has_a_job_and_asks_the_other_to_do_it_instead_is_out_of_it(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "I'll get Leo from soccer tomorrow")
    family.say("Mon 2026-03-02 11:00", "sarah", "stuck in Tulsa, can you pick up instead?")
    family.say("Mon 2026-03-02 11:02", "john", "yep that's on my way home no worries")
    assert [owner for owner, *_ in cards(family)] == [["john"]]


def test_a_day_with_the_children_is_no_second_drive(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "john", "I have the kids all weekend")
    line = family.say("Mon 2026-03-02 09:05", "sarah", "I'll take Mia to swim Saturday")
    assert line["redline_decision"] == "SILENT"
    assert len(cards(family)) == 2


def test_one_thought_in_two_messages(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "Leo soccer tomorrow is at 4.45")
    family.say("Mon 2026-03-02 09:01", "sarah", "who's grabbing him")
    line = family.say("Mon 2026-03-02 09:05", "john", "that can be me")
    job = {key: line["action"][key] for key in ("assigned_to", "child", "activity", "dates")}
    assert job == {
        "assigned_to": ["john"],
        "child": ["leo"],
        "activity": "soccer",
        "dates": ["2026-03-03"],
    }


def test_the_other_way_of_the_same_trip(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "john", "I'll do soccer drop-off tomorrow")
    family.say("Mon 2026-03-02 09:02", "sarah", "and I'll do the pickup")
    assert sorted(owner for owner, *_ in cards(family)) == [["john"], ["sarah"]]
    assert {tuple(child) for _, child, *_ in cards(family)} == {("leo",)}


def test_somebody_is_wanted_at_home(family: Chat) -> None:
    family.say(
        "Mon 2026-03-02 09:00", "sarah", "can someone be home for the plumber tomorrow at 10?"
    )
    family.say("Mon 2026-03-02 09:02", "john", "I can")
    assert [(owner, times) for owner, _, _, times in cards(family)] == [(["john"], ["10:00"])]


def test_who_waves_the_other_off_and_then_claims_takes_over(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "john", "I can take Leo to soccer on Tuesday")
    family.say("Mon 2026-03-02 09:01", "sarah", "oh it's fine, I've got Tuesday off!")
    family.say("Mon 2026-03-02 09:02", "sarah", "so I'll take him")
    assert [owner for owner, *_ in cards(family)] == [["sarah"]]


@pytest.mark.parametrize(
    "words", ["moved it to friday same time", "ah no it's 10.30 they changed it"]
)
def test_news_of_a_change_means_what_was_just_announced(family: Chat, words: str) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "Mia has the dentist thursday at 11am")
    family.say("Mon 2026-03-02 09:10", "sarah", words)
    ((owner, child, dates, times),) = cards(family)
    assert (owner, child) == (["unspecified"], ["mia"])
    assert (dates, times) != (["2026-03-05"], ["11:00"])


@pytest.mark.parametrize(
    "words", ["I don't think I can do soccer tomorrow", "ok I lied. can't. sorry"]
)
def test_second_thoughts_about_an_own_claim_leave_it_open(family: Chat, words: str) -> None:
    family.say("Mon 2026-03-02 09:00", "john", "I'll get Leo from soccer tomorrow")
    family.say("Mon 2026-03-02 09:30", "john", words)
    assert [owner for owner, *_ in cards(family)] == [["unspecified"]]


def test_nobody_is_asked_to_confirm_what_says_nothing(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "who's watching the finale tonight, no spoilers")
    family.say("Mon 2026-03-02 09:01", "john", "me!!")
    assert cards(family) == []
