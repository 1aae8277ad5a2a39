"""What answers best: what questions want, what texts are like, and trees that correct the sum of legs."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.memory.finding.candidates import Asked
from kinkeeper.memory.finding.ranker import BY_MEANING, BY_WORDS, features, shares, shipped_forests
from kinkeeper.memory.finding.shelf import Trait, traits_of
from kinkeeper.memory.finding.signals import Want, wants_of
from kinkeeper.memory.forest import Forest


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("When did Ada move?", {Want.WHEN}),
        ("Which month is the fair in?", {Want.WHEN}),
        ("How old is the cat?", {Want.HOW_LONG}),
        ("How many eggs were there?", {Want.HOW_MANY}),
        ("Whose coat is that?", {Want.WHO}),
        ("What city does he live in?", {Want.WHERE}),
        ("Why did they leave?", {Want.WHY}),
        ("How did it go?", {Want.HOW}),
        ("Would she like it?", {Want.YES_OR_NO}),
        ("What is the boat called?", {Want.NAME}),
        ("What kinds of tea are there?", {Want.LIST}),
        ("the blue bicycle", set()),
    ],
)
def test_questions_tell_what_kind_of_answer_they_want(question: str, wanted: set[Want]):
    assert {want for want in Want if wants_of(question)[want]} == wanted


@pytest.mark.parametrize(
    ("text", "trait", "count"),
    [
        ("Is it late?", Trait.ENDS_ASKING, 1),
        ("Is it late? I go home.", Trait.ENDS_ASKING, 0),
        ("Is it late? I go home.", Trait.ASKS, 1),
        ("Wow, that is far", Trait.IS_REPLY, 1),
        ("Wowed by it", Trait.IS_REPLY, 0),
        ("we saw 4 owls and two foxes", Trait.NUMBERS, 2),
        ("last Tuesday in the morning", Trait.TIMES, 3),
        ("they flew to Lima with Otto", Trait.NAMES, 2),
        ("they flew to Lima with Otto", Trait.PLACES, 1),
        ("I’m done with my bag", Trait.SPEAKS_OF_SELF, 2),
        ("one one one one one", Trait.NUMBERS, 3),
        ("", Trait.REASONS, 0),
    ],
)
def test_texts_have_traits(text: str, trait: Trait, count: int):
    assert traits_of(text)[trait] == count


@given(st.text())
def test_any_text_has_small_counts_of_each_trait(text: str):
    found = traits_of(text)
    assert len(found) == len(Trait)
    assert all(0 <= count <= 3 for count in found)


def forest() -> Forest:
    """Two trees: one asks for the first column, then the second; the other adds a constant."""
    return Forest(
        columns=("first", "second"),
        depth=2,
        feature=np.array([[0, 1, 0, 0, 0], [0, 0, 0, 0, 0]], np.int32),
        threshold=np.array([[0.5, 2, 0, 0, 0], [0, 0, 0, 0, 0]], np.float32),
        left=np.array([[1, 3, 2, 3, 4], [0, 1, 2, 3, 4]], np.int32),
        right=np.array([[2, 4, 2, 3, 4], [0, 1, 2, 3, 4]], np.int32),
        value=np.array([[0, 0, 7, 1, 2], [10, 0, 0, 0, 0]], np.float32),
    )


def test_trees_are_walked_to_their_leaves_and_added_up(tmp_path: Path):
    rows = np.array([[0.4, 2], [0.5, 2.1], [0.6, 0]], np.float32)
    assert forest().scores(rows).tolist() == [11, 12, 17]
    forest().save(tmp_path / "forest.npz")
    assert Forest.load(tmp_path / "forest.npz").scores(rows).tolist() == [11, 12, 17]
    assert forest().scores(rows[:0]).tolist() == []


@given(st.lists(st.floats(-5, 5)))
def test_shares_keep_order_and_lie_between_0_and_1(values: list[float]):
    found = shares(np.array(values))
    assert ((found >= 0) & (found <= 1)).all()
    for one, other in zip(np.argsort(found, kind="stable"), np.argsort(values), strict=True):
        assert found[one] == found[other]


def test_the_shipped_trees_ask_for_nothing_but_what_is_worked_out():
    asked = Asked(wants=wants_of("when?"), terms=1, rarity=1.0, names=0)
    zeros = np.zeros(2)
    clues = dict.fromkeys([*_clue_names(), *(trait.name for trait in Trait)], zeros)
    words = dict.fromkeys(("lexical", "lexical_plain", "lexical_own", "speaker", "date"), zeros)
    meaning = words | dict.fromkeys(("dense", "dense_context"), zeros)
    for kind, legs in ((BY_WORDS, words), (BY_MEANING, meaning)):
        assert {*shipped_forests()[kind].columns} <= {*features(legs, clues, asked)}


def _clue_names() -> list[str]:
    shares_of = ("own_share", "before_share", "second_before_share", "after_share", "window_share")
    others = ("matched", "rarest", "own_of_most", "plain_of_most", "after_question")
    beside = (f"{leg}_{side}" for leg in ("lexical_plain", "dense") for side in ("before", "after"))
    return [*shares_of, *others, *beside]


def walked(trees: Forest, row: list[float]) -> float:
    """Return what the leaves add up to at the ends of the ways from the roots."""
    total = 0.0
    for number in range(len(trees.feature)):
        node = 0
        while trees.left[number, node] != node:
            is_left = row[trees.feature[number, node]] <= trees.threshold[number, node]
            node = int((trees.left if is_left else trees.right)[number, node])
        total += float(trees.value[number, node])
    return total


@given(st.integers(0, 2**32 - 1), st.integers(1, 64))
def test_any_trees_lead_where_their_tests_say(seed: int, leaves: int):
    random = np.random.default_rng(seed)
    shape = (3, 2 * leaves - 1)
    left = np.tile(np.arange(shape[1], dtype=np.int32), (3, 1))
    right = left.copy()
    for number in range(3):
        ends, size = [0], 1
        for _ in range(int(random.integers(leaves))):
            # Any leaf becomes a test with two new ones.
            node = ends.pop(int(random.integers(len(ends))))
            left[number, node], right[number, node] = size, size + 1
            ends += [size, size + 1]
            size += 2
    trees = Forest(
        columns=("first", "second"),
        depth=leaves,
        feature=random.integers(2, size=shape).astype(np.int32),
        threshold=random.integers(-3, 4, shape).astype(np.float32),
        left=left,
        right=right,
        value=random.integers(-9, 10, shape).astype(np.float32),
    )
    rows = random.integers(-4, 5, (6, 2)).astype(np.float32)
    assert trees.scores(rows).tolist() == [walked(trees, row) for row in rows.tolist()]
