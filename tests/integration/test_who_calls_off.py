"""A plan is off, or moved, only where somebody who may says that it is so: whoever asks, supposes, doubts or is a guest takes no card away."""

import pytest

from family_chat import chat
from kinkeeper.actions.model import ActionStatus

PLANS = {
    "judo": "I'll pick up Zoë from judo on Friday at 6",
    "piano": "Zoë has piano on Friday at 5pm",
    "brownies": "Zoë has a brownies trip on Saturday at 10",
}
OFF = ("is off", "is cancelled", "has been cancelled", "is canceled")
NOT_SO = (
    "imagine if {it} {off}",
    "what if {it} {off}",
    "if {it} {off} we could go to the zoo",
    "maybe {it} {off}",
    "if it rains, {it} {off} on Friday",
    "wouldn't it be great if {it} {off}",
    "we could swim unless {it} {off}",
    "{it} {off} says Zoë but she makes stuff up",
    "Zoë said {it} {off}, but I doubt it",
    "{it} {off}?",
    "{it} {off}, right?",
    "{it} {off} on Friday if Sam is ill",
)
SO = (
    "{it} {off}",
    "coach says {it} {off}",
    "{it} {off}, so if you like we could swim",
    "sorry, {it} {off} on {day}",
    "the coach wrote that {it} {off} on {day}",
    "{it} {off}. Such a shame",
)
OTHERS = ("nan", "zoe", "The coach")


def stays(it: str, sender: str, text: str) -> bool:
    """Tell whether the card of a plan of an adult waits as it was after somebody said something about it."""
    with chat("clarke", tripwire_threshold=0.01) as clarke:
        clarke.say("Wed 2026-03-04 10:00", "dee", PLANS[it])
        (card,) = clarke.actions()
        clarke.say("Wed 2026-03-04 12:30", sender, text)
        return clarke.action(card.id).status is ActionStatus.PENDING


def said(forms: tuple[str, ...], it: str) -> list[str]:
    """Return each form of words about a plan, with the words for being off in turn."""
    day = "Saturday" if it == "brownies" else "Friday"
    first = list(PLANS).index(it)
    return [
        form.format(it=it, off=OFF[(first + number) % len(OFF)], day=day)
        for number, form in enumerate(forms)
    ]


@pytest.mark.parametrize("it", PLANS)
def test_what_is_asked_supposed_or_doubted_takes_no_card_away(it: str) -> None:
    gone = [text for text in said(NOT_SO, it) if not stays(it, "sam", text)]
    assert gone == []


@pytest.mark.parametrize("it", PLANS)
def test_what_an_adult_says_is_off_loses_its_card(it: str) -> None:
    kept = [text for text in said(SO, it) if stays(it, "sam", text)]
    assert kept == []


@pytest.mark.parametrize("sender", OTHERS)
def test_a_guest_or_child_takes_no_plan_of_an_adult_away(sender: str) -> None:
    forms = (*SO, "cancel {it}", "{it} is moved to next week", "forget {it}, cancel that")
    gone = [text for it in PLANS for text in said(forms, it) if not stays(it, sender, text)]
    assert gone == []


def test_a_child_takes_its_own_plan_away() -> None:
    with chat("clarke", tripwire_threshold=0.01) as clarke:
        clarke.say("Wed 2026-03-04 10:00", "zoe", "I have a trombone lesson on Friday at 5pm")
        clarke.say("Wed 2026-03-04 12:30", "zoe", "trombone lesson is cancelled on Friday")
        assert clarke.actions()[0].status is ActionStatus.WITHDRAWN
