"""What a short answer does to a job, read over a household of other names than any of our chats."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

import miller_words
from kinkeeper.observer.answers.attribution import (
    accepts_offers_only,
    as_answer,
    frees_somebody,
    goes_back_on,
    hands_over,
    loosened,
    refuser,
)
from kinkeeper.observer.extraction.rules_extractor import extract
from kinkeeper.observer.model import UNSPECIFIED, Extraction, Stance, Task
from kinkeeper.observer.wording.message_view import Reading
from miller_words import HOUSEHOLD, PARTICIPANTS

SENT_AT = datetime(2026, 3, 4, 10, tzinfo=ZoneInfo("America/Chicago"))


def read(text: str) -> Reading:
    return miller_words.read(text, SENT_AT)


def heard(text: str) -> Extraction:
    """Return what John says, read as an answer."""
    reading = read(text)
    said = extract(reading, sender=HOUSEHOLD.member("john"), participants=PARTICIPANTS)
    return as_answer(reading, said)


@pytest.mark.parametrize(
    "text",
    [
        "ignore me, wrong month",
        "forget that, I misread it",
        "no need, his coach drives him",
        "you're off the hook, he's ill",
        "we don't need you tuesday after all",
    ],
)
def test_what_takes_back_or_frees_claims_nothing(text: str) -> None:
    answer = heard(text)
    assert (answer.stance, answer.assigned_to) == (Stance.WITHDRAWS, (UNSPECIFIED,))


@pytest.mark.parametrize("text", ["you fetch her, i'll cook", "all yours", "fine, you take them"])
def test_leaving_it_to_the_other_accepts_nothing_but_an_offer(text: str) -> None:
    answer, reading = heard(text), read(text)
    assert (answer.stance, answer.assigned_to) == (Stance.ACCEPTS, (UNSPECIFIED,))
    assert hands_over(reading)
    assert accepts_offers_only(reading)


@pytest.mark.parametrize("text", ["would you? that'd be brilliant", "lovely, thank you!", "🙏"])
def test_thanks_accept_nothing_but_an_offer(text: str) -> None:
    assert heard(text).stance is Stance.ACCEPTS
    assert accepts_offers_only(read(text))


@pytest.mark.parametrize("text", ["I can", "sure", "you go ahead, I'll fetch her after work"])
def test_a_plain_yes_or_claim_is_more_than_that(text: str) -> None:
    assert not accepts_offers_only(read(text))


@pytest.mark.parametrize(
    "text",
    ["Sarah's got it", "I mean Sarah does, it's her turn", "sarah will", "Sarah said she can"],
)
def test_who_is_named_has_it_and_not_who_says_so(text: str) -> None:
    answer = heard(text)
    assert (answer.stance, answer.assigned_to) == (Stance.ASSIGNS, ("sarah",))


@pytest.mark.parametrize(
    "text",
    [
        'read this: "I\'ll get Leo at 5, said no teenager ever" 😂',
        'meme: "me: i can drive Mia Friday"',
    ],
)
def test_what_stands_in_a_quotation_is_nobodys_word(text: str) -> None:
    answer = heard(text)
    assert not answer.is_coordination
    assert answer.assigned_to == (UNSPECIFIED,)


@pytest.mark.parametrize("text", ['"soccer" is at 6 on Thursday', 'I\'ll get Leo from "soccer"'])
def test_a_quoted_word_among_others_changes_nothing(text: str) -> None:
    assert heard(text).is_coordination


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("I'll bring her", None),
        ("i can take them", None),
        ("I'll drop her", Task.DROPOFF),
        ("I'll take her to ballet", Task.DROPOFF),
        ("I'll pick her up", Task.PICKUP),
    ],
)
def test_a_verb_that_tells_not_which_way_leaves_the_task_open(text: str, task: Task | None) -> None:
    assert loosened(read(text), heard(text)).task is task


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("Sarah can't make it Tuesday", "sarah"),
        ("Sarah is stuck at work", "sarah"),
        ("Sarah, I can't make it Tuesday", "john"),
        ("can't do thursday", "john"),
    ],
)
def test_who_steps_back_is_whom_it_is_said_of(text: str, person: str) -> None:
    assert refuser(read(text), "john") == person


def test_words_that_go_back_on_a_promise_are_told_from_a_plain_no() -> None:
    assert goes_back_on(read("can't make it after all"))
    assert goes_back_on(read("something came up, sorry"))
    assert not goes_back_on(read("can't, sorry"))
    assert not goes_back_on(read("no"))


def test_only_a_release_frees_somebody() -> None:
    assert frees_somebody(read("no need"))
    assert not frees_somebody(read("never mind"))
    assert not frees_somebody(read("no need, I'll fetch him"))
