"""What a question asks for, and whether something remembered can answer it."""

from pathlib import Path

import pytest

from kinkeeper.brain.question import asked_of, attributes_of, is_anothers, is_same, lacks_answer
from kinkeeper.household.file import load_household

HOUSEHOLD = load_household(Path(__file__).parents[2] / "examples" / "miller" / "household.toml")


@pytest.mark.parametrize(
    ("question", "known", "is_told"),
    [
        ("What is Leo allergic to?", "Leo is allergic to walnuts", True),
        ("Where does Sarah work?", "Sarah is a nurse at Mercy", True),
        ("When is my birthday?", "Mia's birthday is 3 March", False),
        ("When is my birthday?", "My birthday is 9 June", True),
        ("What's the wifi password?", "The wifi password is lemon42", True),
        ("What's the wifi password?", "The gate code is 4471", False),
        ("Who is Mia's teacher?", "Leo's teacher is Ms Grant", False),
    ],
)
def test_a_question_and_what_tells_the_same_attribute(
    question: str, known: str, is_told: bool
) -> None:
    asked = asked_of(question, HOUSEHOLD, "john")
    told = list(attributes_of(known, HOUSEHOLD, "john"))
    assert any(is_same(one, other) for one in asked for other in told) is is_told


@pytest.mark.parametrize(
    ("question", "known", "is_lacking"),
    [
        ("When is Leo's chess club?", "Leo is captain of the chess club", True),
        ("When is Leo's chess club?", "Chess club is on Tuesdays", False),
        ("How much is the ticket?", "The ticket is at the door", True),
        ("How much is the ticket?", "The ticket is 4 euros", False),
        ("Who is Mia's teacher?", "Mia's teacher is Ms Grant", False),
    ],
)
def test_what_names_no_time_or_amount_answers_no_such_question(
    question: str, known: str, is_lacking: bool
) -> None:
    assert lacks_answer(question, known) is is_lacking


@pytest.mark.parametrize(
    ("question", "known", "is_of_other"),
    [
        ("When is my birthday?", "Mia's birthday is 3 March", True),
        ("What is my shoe size?", "Leo's shoe size is 32", True),
        ("When is my birthday?", "My birthday is 9 June", False),
        ("When is my birthday?", "Leo's teacher is Ms Grant", False),
    ],
)
def test_what_is_told_of_somebody_else_is_anothers(
    question: str, known: str, is_of_other: bool
) -> None:
    asked = asked_of(question, HOUSEHOLD, "john")
    told = list(attributes_of(known, HOUSEHOLD, "john"))
    assert any(is_anothers(one, other) for one in asked for other in told) is is_of_other
