"""What may never come of a second look at two statements, and what it is for."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.memory.statements.comparison import wording_of
from kinkeeper.memory.statements.relation import Relation, relate
from kinkeeper.memory.statements.second_opinion import (
    SAME,
    UPDATE,
    chance_of,
    found_by_traits,
    may_outdate,
    may_repeat,
    side_by_side,
    traits_of,
)

TAUGHT = Path(__file__).parents[2] / "evals" / "data" / "memory" / "relations_taught.jsonl"
ROWS = [json.loads(line) for line in TAUGHT.read_text(encoding="utf-8").splitlines()]
TEXTS = st.sampled_from([row[side] for row in ROWS for side in ("old", "new")])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ravi plays the tuba", "Ravi's brother has given up the tuba"),
        ("Ravi plays the tuba", "the tuba teacher has moved to Leeds"),
        ("Ravi has a tuba lesson at four", "maybe Ravi's tuba lesson moves to five"),
        ("Ravi plays the tuba", "Ravi has moved house"),
    ],
)
def test_what_another_does_or_nobody_says_for_sure_outdates_nothing(old: str, new: str) -> None:
    assert relate(old, new).relation is not Relation.UPDATE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ravi's locker is number 12", "Ravi has locker 13"),
        ("Ravi can have eggs", "Ravi can't have eggs"),
        ("Ravi broke his left arm", "Ravi broke his right arm"),
        ("the lamp is on the shelf", "the lamp is off the shelf"),
        ("Ravi cuts Nora's hair", "Nora cuts Ravi's hair"),
        ("Ravi is at the dentist", "Nora is at the dentist"),
    ],
)
def test_what_differs_in_number_name_side_or_denial_is_no_repetition(old: str, new: str) -> None:
    assert relate(old, new).relation is not Relation.SAME


@given(TEXTS, TEXTS)
def test_any_two_statements_have_chances_and_bars_hold(old: str, new: str) -> None:
    pair = side_by_side(wording_of(old), wording_of(new))
    traits = traits_of(pair)
    assert all(0 <= chance_of(relation, traits) <= 1 for relation in (UPDATE, SAME))
    found = found_by_traits(old, new)
    assert found != UPDATE or may_outdate(pair, traits)
    assert found != SAME or may_repeat(pair, traits)


def test_a_statement_beside_itself_is_never_outdated() -> None:
    assert all(found_by_traits(row["old"], row["old"]) != UPDATE for row in ROWS)
