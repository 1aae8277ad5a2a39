"""What limits a wish by price and day, and what is asked of the web for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asking import FAMILY, NOW
from kinkeeper.background.web_query import addresses_in, public_words, words_of_goal
from kinkeeper.language.text import tokenise
from kinkeeper.reading.bounds import Bounds, Price, bounds_of, without_bounds

WEEKDAYS = frozenset(range(5))


@pytest.mark.parametrize(
    ("wish", "most", "days", "left"),
    [
        ("a swimming course under £80 a term", Price(80, "£"), set(), "a swimming course a term"),
        ("a tent for no more than $1,250.50", Price(1250.5, "$"), set(), "a tent"),
        ("a piano for up to £1.5k", Price(1500, "£"), set(), "a piano"),
        ("a plumber, 40 quid max", Price(40, "£"), set(), "a plumber,"),
        ("a chess club below 12,50 €", Price(12.5, "€"), set(), "a chess club"),
        ("a chess club, up to 30 euros or less", Price(30, "€"), set(), "a chess club,"),
        ("a sofa within our budget of £300", Price(300, "£"), set(), "a sofa"),
        ("a camp for weekdays", None, WEEKDAYS, "a camp"),
        ("a train not on a Sunday", None, {0, 1, 2, 3, 4, 5}, "a train"),
        ("a yoga class on Tuesday or Thursday", None, {1, 3}, "a yoga class"),
        ("a choir Mon to Wed", None, {0, 1, 2}, "a choir"),
        ("a market at the weekend", None, {5, 6}, "a market at the"),
        ("the £80 voucher", None, set(), "the £80 voucher"),
        ("the museum's opening hours", None, set(), "the museum's opening hours"),
    ],
)
def test_limits_are_read_and_taken_out(
    wish: str, most: Price | None, days: set[int], left: str
) -> None:
    assert bounds_of(wish) == Bounds(most=most, days=frozenset(days))
    assert without_bounds(wish) == left


@pytest.mark.parametrize(
    ("sentence", "is_within"),
    [
        ("£80 a term", True),
        ("£80.50 a term", False),
        ("From £60, at most £95", True),
        ("90 dollars", True),
        ("95 pounds", False),
        ("on Sundays only", False),
        ("Friday to Sunday", True),
        ("every day", True),
    ],
)
def test_a_sentence_is_within_them_or_not(sentence: str, is_within: bool) -> None:
    bounds = bounds_of("a course under £80 on Saturdays")
    assert bounds.allow(sentence) is is_within


@pytest.mark.parametrize(
    ("text", "shown", "addresses"),
    [
        ("a course for Nia under £80", "a course for under £80", []),
        ("Nia's and mum’s shoes", "and shoes", []),
        ("a present for Nia-May", "a present for", []),
        ("a locksmith, door code 4821", "a locksmith, door code", []),
        ("call 0131 496 0000 about it", "call about it", []),
        ("a camp in 2026 for £1200", "a camp in 2026 for £1200", []),
        ("mail ruth@x.example a tent", "mail a tent", []),
        ("hours at https://A.example/B?c=1.", "hours at", ["https://A.example/B?c=1"]),
        ("cake (see www.cake.example/a_(b))", "cake (see", ["https://www.cake.example/a_(b)"]),
    ],
)
def test_only_public_words_are_asked_for(text: str, shown: str, addresses: list[str]) -> None:
    assert public_words(text, FAMILY, now=NOW) == shown
    assert addresses_in(text) == addresses


@pytest.mark.parametrize(
    ("public", "wanted", "asked"),
    [
        ("a swimming course under £80 a term", "swimming course", "swimming course"),
        ("a swimming course under £80 a term", "Course SWIMMING", "swimming course"),
        (
            "a swimming course under £80 a term",
            "pool timetable",
            "a swimming course under £80 a term",
        ),
        ("a swimming course", "swimming lessons for Nia, 12 Elm Street", "swimming"),
        ("a summer camp for", "camp https://evil.example/?q=4821", "camp"),
        ("the museum's opening hours", "museum's hours", "museum's hours"),
        ("the museum's opening hours", "", "the museum's opening hours"),
        ("a second-hand bike", "second-hand", "second-hand"),
        ("a plumber who comes on Saturdays", "plumber saturdays 4821", "plumber Saturdays"),
        ("", "anything", ""),
    ],
)
def test_a_search_is_made_of_words_of_the_goal(public: str, wanted: str, asked: str) -> None:
    assert words_of_goal(wanted, public) == asked


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_word_is_asked_for_that_the_goal_lacks(public: str, wanted: str) -> None:
    asked = {each.text for each in tokenise(words_of_goal(wanted, public))}
    assert asked <= {each.text for each in tokenise(public)}
