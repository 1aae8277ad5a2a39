"""What is told for good of others at home is offered to be remembered for all; what is told of oneself is not."""

from itertools import product

import pytest

from kinkeeper.conversation.planning.rule_planner import plan_of
from planning import context, planned


@pytest.mark.parametrize(
    "text",
    [
        "Leo is allergic to cashews",
        "Mia's favourite book is Matilda",
        "Sarah doesn't eat meat",
        "by the way, Leo's teacher is Mr. Osei",
    ],
)
def test_what_holds_for_others_is_offered(text: str) -> None:
    (offer,) = plan_of(context(text)).actions
    assert (offer.domain, offer.action) == ("memory", "store")
    assert offer.is_offer
    assert offer.params["private"] is False
    assert str(offer.params["value"]).lower() in text.lower()


@pytest.mark.parametrize(
    "text",
    [
        "I hate coriander",
        "my doctor put me on blood pressure pills",
        "Leo is tired today",
        "we had a lovely afternoon with Mia",
        "what is Leo allergic to?",
        "Sarah is so annoying sometimes",
        "good morning!",
    ],
)
def test_what_is_of_oneself_passing_or_asked_is_not(text: str) -> None:
    assert not any(each.is_offer for each in plan_of(context(text)).actions)


def test_a_request_beside_it_comes_first() -> None:
    plan = plan_of(
        context("Leo is allergic to cashews, add cashew-free granola to the shopping list")
    )
    assert [each.action for each in plan.actions if not each.is_offer] == ["append"]


SET_RIGHT = (
    "its {} now",
    "it's {} now",
    "its {}",
    "the tutor is {}",
    "her name is {}",
    "{} has it now",
    "that's {} now",
    "the teacher was {}",
    "it is {} this year",
)
NAMES = ("mrs dunn", "mr hale", "the new one", "room 12")


def test_a_statement_behind_a_no_cancels_nothing() -> None:
    said = [f"no {form.format(name)}" for form, name in product(SET_RIGHT, NAMES)]
    wrong = [text for text in said if any("delete" in name for name, _ in planned(text))]
    assert wrong == []


CALLED_OFF = (
    "no {} this week",
    "no {} on saturday",
    "no {} on saturday, mia is ill",
    "no {} till friday",
    "there's no {} this week",
    "no {} for mia on saturday",
)


def test_the_name_of_an_event_behind_a_no_cancels_it() -> None:
    said = [form.format(name) for form, name in product(CALLED_OFF, ("swimming", "piano", "party"))]
    kept = [text for text in said if not any("delete" in name for name, _ in planned(text))]
    assert kept == []
