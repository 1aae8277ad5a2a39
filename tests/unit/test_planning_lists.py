"""What families buy, as they dictate it."""

from itertools import product

import pytest

from kinkeeper.conversation.planning.list_rules import things_to_buy
from planning import plan, planned


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
        (
            "add milk eggs bread and two onions to the shopping list",
            ["milk", "eggs", "bread", "two onions"],
        ),
        ("put olive oil and toilet paper on the shopping list", ["olive oil", "toilet paper"]),
        ("we need porridge oats butter and honey", ["porridge", "oats", "butter", "honey"]),
        ("we're out of dishwasher tablets", ["dishwasher tablets"]),
        ("there's no more coffee", ["coffee"]),
        ("we've run out of cat food", ["cat food"]),
        ("can you put down lemons and sparkling water", ["lemons", "sparkling water"]),
        ("pick up some leeks", ["leeks"]),
        ("groceries: yoghurt, plums, oat milk", ["yoghurt", "plums", "oat milk"]),
        ("the butter is nearly gone", ["butter"]),
        (
            "sausages, burger buns, ketchup and charcoal for the barbecue",
            ["sausages", "burger buns", "ketchup", "charcoal"],
        ),
    ],
)
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


OWNERS = {"Sarah": "sarah", "mom": "sarah", "Leo": "leo", "Mia": "mia"}
OWNED = ("reminders", "tasks", "jobs", "chores", "to-dos")
ASKED_OF_SOMEBODY = (
    "what are {p}s {t}?",
    "what are {p}'s {t}",
    "what {t} does {p} have?",
    "any {t} for {p}?",
    "are there {t} for {p}?",
    "show me {p}'s {t}",
    "show {p}s {t}",
    "list {t} for {p}",
    "how many {t} does {p} have?",
    "how many {t} has {p} got?",
    "does {p} have any {t}?",
    "has {p} got any {t}?",
    "what {t} are on {p}'s list?",
    "which {t} are {p}'s?",
    "{p}'s {t}?",
    "{p}s {t}",
    "what {t} are for {p}?",
    "tell me {p}'s {t}",
    "what {t} has {p} got left?",
    "what does {p} have to do?",
    "what's on {p}'s list?",
    "whats on {p}s list",
    "what's on {p}'s to-do list?",
    "what's left for {p} to do?",
)


@pytest.mark.parametrize("asked", ASKED_OF_SOMEBODY)
def test_the_person_named_is_whose_list_is_told(asked: str) -> None:
    for (name, owner), thing in product(OWNERS.items(), OWNED):
        first, *more = plan(asked.format(p=name, t=thing)).actions
        assert (first.domain, first.action) == ("task", "list")
        assert first.params["who"] == [owner], asked
        assert all(each.params["may_lack"] for each in more)


@pytest.mark.parametrize(
    "asked",
    ["what are my reminders?", "show me our tasks", "what's on my to-do list?", "how many jobs?"],
)
def test_where_nobody_is_named_the_askers_list_is_told(asked: str) -> None:
    assert [each.params.get("who") for each in plan(asked).actions] == [None]


@pytest.mark.parametrize("asked", ["swimming reminders", "what's on the moms night list?"])
def test_what_is_no_person_owns_no_tasks(asked: str) -> None:
    assert all(each.domain != "task" for each in plan(asked).actions)
