"""Turns of phrase are told in one plain form before statements are compared."""

import pytest

from kinkeeper.memory.statements.clauses import plain_times, plain_turn, referred
from kinkeeper.memory.statements.relation import Relation, relate


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("bath at quarter to seven", "bath at 6:45"),
        ("up by half six", "up by 6:30"),
        ("lunch at twenty past 12", "lunch at 12:20"),
        ("open until 5.30", "open until 5:30"),
        ("closed every other friday", "closed fortnightly friday"),
        ("it costs 5.30", "it costs 5.30"),
        ("half three hours", "half three hours"),
    ],
)
def test_spoken_hours_are_digits(said: str, plain: str) -> None:
    assert plain_times(said) == plain


@pytest.mark.parametrize(
    ("said", "plain", "is_set"),
    [
        ("it is the green bowl she likes", "she likes the green bowl", False),
        ("the nurse has put his drops up to 3", "the nurse 's drops is 3", True),
        ("they have moved chess to tuesdays", "chess is tuesdays", True),
        ("my tutor charges 30 a lesson", "my tutor costs 30 a lesson", False),
        ("bea is off sugar", "bea does not have sugar", False),
        ("bea is off to the beach", "bea is off to the beach", False),
        ("bea is back on sugar", "bea has sugar", False),
        ("bea is back on monday", "bea is back on monday", False),
    ],
)
def test_a_turn_is_told_plainly(said: str, plain: str, is_set: bool) -> None:
    assert plain_turn(said) == (plain, is_set)


def test_it_is_the_thing_that_was_named_before_and_nobody():
    people = frozenset({"sister"})

    parts = referred(["got the drill back from my sister", "it is on the shelf"], people)
    assert parts[1] == "the drill is on the shelf"
    assert referred(["my sister rang", "it is fine"], people)[1] == "it is fine"
    assert referred(["the café has put its prices up", "they are 4"], people)[1].endswith("are 4")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("the loft hatch code is 118", "changed the loft hatch code, it's 227"),
        ("Ebba is off wheat", "Ebba's back on wheat, the doctor says it's safe"),
        ("Jonah's gran is staying with us", "Jonah's gran moved out at the weekend"),
        ("Pia and Marek are engaged", "Pia and Marek aren't together any more"),
        ("Stig collects the parcels", "Ylva collects the parcels now instead of Stig"),
        ("Stig has a plaster on his knee", "Stig got his plaster off"),
        ("Ebba's favourite is the striped blanket", "Ebba likes the spotted blanket best now"),
        ("the tutor charges 30 an hour", "the tutor's gone up to 36 an hour"),
        ("Lotte works nights at the depot", "Lotte's come off nights, she does days at the depot"),
        ("Bosse wants a train cake", "Bosse's changed his mind, it's a rocket cake he wants"),
        ("Stig walks the dog", "Stig can't walk the dog any more, Ylva is walking the dog now"),
    ],
)
def test_news_in_free_words_takes_the_place_of_what_was(old: str, new: str) -> None:
    assert relate(old, new).relation is Relation.UPDATE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("the loft hatch code is 118", "changed the cellar code, it's 227"),
        ("Ebba is off wheat", "Ebba's uncle is off wheat now"),
        ("Stig collects the parcels", "Ylva collects the letters now instead of Stig"),
        ("the tutor charges 30 an hour", "the gardener's gone up to 36 an hour"),
        ("our gardener comes every Monday", "the roof gardener comes on Fridays now"),
        ("Lotte has yoga at 9 on Mondays", "Lotte has the vet at 9 on Fridays now"),
        ("Stig has a plaster on his knee", "Ylva got her plaster off"),
    ],
)
def test_news_of_another_thing_or_person_leaves_what_was(old: str, new: str) -> None:
    assert relate(old, new).relation is Relation.OTHER


def test_an_hour_that_is_said_in_words_is_the_same_hour():
    assert (
        relate("the pool shuts at 8:45", "the pool shuts at quarter to nine").relation
        is Relation.SAME
    )
