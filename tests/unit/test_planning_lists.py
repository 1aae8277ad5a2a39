"""What families buy, as they dictate it."""

import pytest

from kinkeeper.conversation.planning.list_rules import things_to_buy
from planning import planned


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("milk eggs bread", ["milk", "eggs", "bread"]),
        ("olive oil toilet paper", ["olive oil", "toilet paper"]),
        ("brown rice tinned tomatoes leeks", ["brown rice", "tinned tomatoes", "leeks"]),
        ("two onions a bag of flour cling film", ["two onions", "a bag of flour", "cling film"]),
        ("gruyere cheese and", None),
        ("fennel soup butter", ["fennel soup", "butter"]),
        ("500g mince tomato sauce penne", ["500g mince", "tomato sauce", "penne"]),
        ("help with the garage door", None),
        ("a plumber", None),
    ],
)
def test_where_one_thing_ends(text: str, things: list[str] | None) -> None:
    assert things_to_buy(text) == things


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("add milk eggs bread and two onions to the shopping list", ["milk", "eggs", "bread", "two onions"]),
        ("put olive oil and toilet paper on the shopping list", ["olive oil", "toilet paper"]),
        ("we need porridge oats butter and honey", ["porridge", "oats", "butter", "honey"]),
        ("we're out of dishwasher tablets", ["dishwasher tablets"]),
        ("there's no more coffee", ["coffee"]),
        ("we've run out of cat food", ["cat food"]),
        ("can you put down lemons and sparkling water", ["lemons", "sparkling water"]),
        ("pick up some leeks", ["leeks"]),
        ("groceries: yoghurt, plums, oat milk", ["yoghurt", "plums", "oat milk"]),
        ("the butter is nearly gone", ["butter"]),
        ("sausages, burger buns, ketchup and charcoal for the barbecue", ["sausages", "burger buns", "ketchup", "charcoal"]),
    ],
)  # fmt: skip
def test_what_is_missing_goes_on_the_shopping_list(text: str, lines: list[str]) -> None:
    ((name, params),) = planned(text)

    assert (name, params["title"]) == ("notes.append", "Shopping list")
    assert [each.removeprefix("the ") for each in params["body"].splitlines()] == lines


@pytest.mark.parametrize(
    "text",
    [
        "we need to talk",
        "we need a new roof",
        "I want peace and quiet",
        "milk",
        "pick up the children",
        "get well soon",
        "we have no time left",
        "fish and chips was lovely",
        "the game is nearly finished",
    ],
)
def test_what_nobody_buys_goes_on_no_list(text: str) -> None:
    assert not [name for name, _ in planned(text) if name.startswith("notes.")]


@pytest.mark.parametrize(
    "text",
    [
        "Would it be possible to start a list for the fair? We will need cups, bunting and two urns.",
        "make a list for the fair. we need cups, bunting and two urns",
        "start a list for the fair, we'll need to get cups, bunting and two urns",
    ],
)
def test_what_the_next_sentence_needs_is_on_the_new_list(text: str) -> None:
    ((name, params),) = planned(text)

    assert (name, params["body"]) == ("notes.create", "cups\nbunting\ntwo urns")


@pytest.mark.parametrize("tail", ["too", "as well", "as well please"])
def test_what_only_adds_is_no_part_of_a_line(tail: str) -> None:
    ((_, params),) = planned(f"add eggs to the shopping list {tail}")

    assert params["body"] == "eggs"


@pytest.mark.parametrize(
    "text", ["actually scrap the milk, got some already", "ditch the milk, we've got enough"]
)
def test_what_families_buy_is_scrapped_from_the_list(text: str) -> None:
    ((name, params),) = planned(text)

    assert (name, params["line"]) == ("notes.remove_line", "milk")


@pytest.mark.parametrize("text", ["cancel coffee on friday", "cancel the dentist"])
def test_what_is_called_off_is_looked_for_in_the_calendar(text: str) -> None:
    assert [name for name, _ in planned(text)] == ["calendar.delete_event"]
