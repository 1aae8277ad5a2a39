"""What the rules read out of one message: jobs, times, who is wanted, and what is nobody's business."""

from datetime import date, time

import pytest

from kinkeeper.observer.extraction.rules_extractor import extract
from kinkeeper.observer.model import CoordinationType, Stance, Task
from kinkeeper.observer.wording.message_parts import segments
from miller_words import HOUSEHOLD, PARTICIPANTS, read, said


@pytest.mark.parametrize(
    "text",
    [
        "nobody ever picks up the receiver over there",
        "pick up some bread on the way",
        "get her a cardigan at 5",
        "could you get me a stapler",
        "get them started on the puzzle",
    ],
)
def test_things_are_not_fetched_like_children(text: str) -> None:
    assert said(text).task is None


@pytest.mark.parametrize(
    "text",
    [
        "can you get her at five",
        "pick up at half four please",
        "who collects him after chess",
        "got him, on our way back",
        "handover saturday at 10 as always",
        "I'll pick you up at ten past six",
    ],
)
def test_children_and_people_are_fetched(text: str) -> None:
    assert said(text).task is Task.PICKUP


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("the hospital wants to see Mia on Friday at 2", Task.APPOINTMENT),
        ("they fitted Leo in for Thursday 3pm", Task.APPOINTMENT),
        ("Mia is getting her teeth cleaned wednesday at 5", Task.APPOINTMENT),
        ("Leo needs to be vaccinated, friday 9:15", Task.APPOINTMENT),
        ("I'll do Leo's chess pickup Wednesday", Task.PICKUP),
        ("does Mia need a lift on Saturday", Task.DROPOFF),
        ("need to swap weekends, the 21st is bad", Task.MOVE),
    ],
)
def test_what_is_done_names_the_task(text: str, task: Task) -> None:
    assert said(text).task is task


@pytest.mark.parametrize(
    "text", ["it's now twenty past three so hurry up", "I can't move Leo's dentist, friday at 4"]
)
def test_telling_the_time_and_what_stands_is_no_move(text: str) -> None:
    assert said(text).task is not Task.MOVE


def test_what_cannot_be_moved_is_no_refusal_and_keeps_its_time() -> None:
    standing = said("can't change Mia's checkup, it's Thursday quarter past four")
    assert standing.stance is not Stance.DECLINES
    assert (standing.dates, standing.times) == ((date(2026, 3, 5),), (time(16, 15),))


def test_a_move_from_a_day_to_another_leaves_the_first() -> None:
    moved = said("ballet has been moved from Wednesday to Friday this week")
    assert (moved.moved_from, moved.dates) == (date(2026, 3, 4), (date(2026, 3, 6),))


def test_a_time_at_which_the_sender_is_done_is_not_the_childs() -> None:
    assert said("driving Leo home from soccer Thursday, finished at noon").times == ()


@pytest.mark.parametrize(
    "text",
    [
        "collecting Mia from ballet wednesday",
        "Early finish on Friday! Fetching Leo and Mia myself",
        "leave Mia's swim to me on saturday",
        "soccer run thursday = me",
    ],
)
def test_claims_without_a_verb_of_willingness(text: str) -> None:
    claimed = said(text)
    assert (claimed.stance, claimed.assigned_to) == (Stance.CLAIMS, ("sarah",))


@pytest.mark.parametrize(
    "text",
    ["I'd get started on the shelves", "we could make a start on Friday", "they'd have some"],
)
def test_doing_something_else_claims_nothing(text: str) -> None:
    assert said(text).stance is not Stance.CLAIMS


@pytest.mark.parametrize(
    "text",
    [
        "who's taking Leo to chess wednesday",
        "can you fetch Mia today?",
        "somebody free for Mia's swim?",
        "Leo must be picked up at 3:15 today",
        "Leo dentist tomorrow 4pm",
        "chess pickup tomorrow?",
        "soccer tonight, nobody available?",
        "Mia has to be at swim tomorrow by ten",
        "John are you still taking Leo to chess wednesday?",
        "how are we getting Mia to ballet today",
        "Leo without a driver for chess today",
    ],
)
def test_somebody_is_wanted(text: str) -> None:
    assert said(text).seeks_owner


@pytest.mark.parametrize(
    "text",
    [
        "swimming again tomorrow hooray",
        "did Mia like the lesson today?",
        "Leo has soccer tomorrow",
        "is Leo's chess at four today?",
        "who would be a parent, soccer in this weather tonight",
        "John brought Leo home from chess",
    ],
)
def test_nobody_is_wanted(text: str) -> None:
    assert not said(text).seeks_owner


@pytest.mark.parametrize(
    "text",
    [
        "my class starts at 5",
        "I've got practice later",
        "geology lesson at nine",
        "giving my lesson until 6",
        "want to play soccer saturday?",
    ],
)
def test_other_peoples_lessons_and_games_are_not_the_childrens(text: str) -> None:
    assert said(text).is_special


@pytest.mark.parametrize("text", ["the lesson is at 5", "Leo has practice at 4", "no class today"])
def test_the_childrens_own_lessons_stay_theirs(text: str) -> None:
    assert not said(text).is_special


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Leo soccer Tue, Mia ballet Wed: can you do both?",
            [("leo", "soccer"), ("mia", "ballet")],
        ),
        (
            "I can take Leo to soccer Tuesday and Mia to swim Saturday",
            [("leo", "soccer"), ("mia", "swim")],
        ),
        (
            "need drivers: Mia swim Saturday, Leo chess Wednesday",
            [("mia", "swim"), ("leo", "chess")],
        ),
    ],
)
def test_a_list_of_jobs_comes_apart(text: str, expected: list[tuple[str, str]]) -> None:
    parts = [
        extract(part, sender=HOUSEHOLD.member("john"), participants=PARTICIPANTS)
        for part in segments(read(text))
    ]
    assert [(*part.child, part.activity) for part in parts] == expected
    assert len({part.stance for part in parts}) == 1
    assert len({part.dates for part in parts}) == len(parts)


@pytest.mark.parametrize(
    "text", ["Leo and Mia soccer Tuesday", "Can you take Leo and Mia to ballet on Monday?"]
)
def test_two_children_of_one_activity_stay_together(text: str) -> None:
    assert len(segments(read(text))) == 1
    assert set(said(text).child) == {"leo", "mia"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I've got Leo tomorrow, you've got Mia", [("leo", "john"), ("mia", "sarah")]),
        ("Sarah has Leo, I've got Mia tomorrow", [("leo", "sarah"), ("mia", "john")]),
        ("I get Leo and Sarah gets Mia tomorrow at 3", [("leo", "john"), ("mia", "sarah")]),
    ],
)
def test_who_has_whom_comes_apart_and_shares_the_day(
    text: str, expected: list[tuple[str, str]]
) -> None:
    parts = [
        extract(part, sender=HOUSEHOLD.member("john"), participants=PARTICIPANTS)
        for part in segments(read(text))
    ]
    assert [(*part.child, *part.assigned_to) for part in parts] == expected
    assert {part.dates for part in parts} == {(date(2026, 3, 3),)}


@pytest.mark.parametrize("text", ["me neither", "me too", "me either"])
def test_agreeing_claims_nothing(text: str) -> None:
    assert said(text).assigned_to == ("unspecified",)


def test_the_hour_at_which_the_sender_is_free_is_not_that_of_the_job() -> None:
    offered = said("I get off at 2 on Thursday so I can take Leo to soccer")
    assert (offered.dates, offered.times) == ((date(2026, 3, 5),), ())
    fetched = said("I get Leo at 2 on Thursday")
    assert fetched.times == (time(14, 0),)


@pytest.mark.parametrize("occasion", ["camp", "exam", "gala", "tournament", "test"])
def test_an_occasion_of_an_activity_is_not_its_series(occasion: str) -> None:
    assert said(f"Mia ballet {occasion} this Friday").is_special
    assert not said("Mia ballet lesson this Friday").is_special


def test_running_late_is_no_sport() -> None:
    assert said("running late, be there 6ish").activity is None
    assert said("Leo running at 6 tomorrow").activity == "running"


@pytest.mark.parametrize(
    "text", ["are you free on Friday?", "John are you around tomorrow evening?"]
)
def test_asking_who_is_free_on_a_day_is_an_arrangement(text: str) -> None:
    asked = said(text)
    assert asked.is_coordination
    assert asked.coordination_type is CoordinationType.CARE_COVERAGE
    assert asked.confidence >= 0.6


@pytest.mark.parametrize(
    "text",
    [
        "John needs picking up from the station at 5",
        "John needs to be collected from the clinic at 4",
        "John needs taking to the doctor at 4 today",
    ],
)
def test_who_is_carried_does_not_do_the_carrying(text: str) -> None:
    assert said(text).assigned_to == ("unspecified",)


@pytest.mark.parametrize(
    "text",
    ["John has to pick up Leo from chess at 5", "John must be picking Leo up from chess at 5"],
)
def test_who_has_to_carry_does_it(text: str) -> None:
    assert said(text).assigned_to == ("john",)
