"""Pairs whose words leave it open whether something has changed: which a person is asked about, and which never."""

import pytest

from kinkeeper.memory.statements.relation import Effect, chance_left_open, relate

ALIKE = 0.5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Uncle Femi has a parrot", "maybe Uncle Femi will give the parrot away"),
        ("Uncle Femi used to have a parrot", "Uncle Femi gave the parrot away"),
        ("Uncle Femi has a parrot", "the gutters were cleaned"),
        ("if we had a parrot I would call it Femi", "we gave the parrot away"),
    ],
)
@pytest.mark.parametrize("likeness", [None, ALIKE, 0.99])
def test_what_is_thought_of_former_or_shares_nothing_is_closed(
    old: str, new: str, likeness: float | None
) -> None:
    assert chance_left_open(old, new, likeness=likeness) == 0.0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Accra", "I live in Kumasi now"),
        ("we have two cats", "we have two cats"),
        ("Ama was born in Tamale", "Ama was born in Ho"),
    ],
)
def test_what_is_decided_is_not_open(old: str, new: str) -> None:
    assert chance_left_open(old, new, likeness=ALIKE) == 0.0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Our plumber is Mr Osei", "Mr Osei has retired and the new one is Mrs Tetteh"),
        ("the piano tutor is Yaw", "Yaw broke his wrist, his replacement is Kofi"),
        ("Leo's speech therapist is Dr Ames", "Dr Ames is off till May, the other one is Dr Boyle"),
    ],
)
def test_whose_place_is_taken_is_told_no_more(old: str, new: str) -> None:
    assert relate(old, new).effect is Effect.SUPERSEDE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("the tickets are R320", "sorry I said 320, it's R350"),
        ("the bus leaves at 7:40", "sorry, we said 7:40 but it is 7:50"),
        ("the deposit is £90", "that's 95 not 90"),
    ],
)
def test_a_number_set_right_takes_the_place_of_the_wrong_one(old: str, new: str) -> None:
    assert relate(old, new).effect is Effect.SUPERSEDE


def test_another_number_set_right_leaves_a_thing_alone() -> None:
    found = relate("the deposit is £90", "sorry, I said 40, it is 45")
    assert found.effect is Effect.KEEP_BOTH
