"""Small decisions of finding: what is cut, what says the same, which times are meant."""

from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kinkeeper.memory.finding.candidates import context_order
from kinkeeper.memory.finding.ranker import relevance, without_repeats
from kinkeeper.memory.finding.signals import is_within, periods_of, with_names, without_names
from kinkeeper.memory.finding.terms import Vocabulary, stems
from kinkeeper.memory.finding.visible_results import still_true
from kinkeeper.models.embedding.calibration import Calibration

CHICAGO = ZoneInfo("America/Chicago")
NOW = datetime(2026, 11, 21, 12, tzinfo=CHICAGO)
MEANING = Calibration(model="any", slope=9.0, midpoint=0.3)
shares = st.floats(0, 1)


@pytest.mark.parametrize(
    ("text", "outdated", "left"),
    [
        ("I live in Rome. I like tea.", [], "I live in Rome. I like tea."),
        ("I live in Rome. I like tea.", [(0, 15)], "… I like tea."),
        ("I like tea. I live in Rome.", [(12, 27)], "I like tea. …"),
        ("I like tea. I live in Rome. Bye", [(12, 27)], "I like tea. … Bye"),
        ("I live in Rome!", [(0, 14)], ""),
        ("…", [], ""),
        (" spaces stay ", [], " spaces stay "),
        ("abcdef", [(0, 4), (2, 6)], ""),
    ],
)
def test_outdated_parts_are_cut_and_nothing_remains_of_what_was_only_that(
    text: str, outdated: list[tuple[int, int]], left: str
):
    assert still_true(text, outdated) == left


@pytest.mark.parametrize(
    ("query", "said", "is_meant"),
    [
        ("what did we do last week", "2026-11-11", True),
        ("what did we do last week", "2026-11-20", False),
        ("when in May did we go", "2025-05-20", True),
        ("when in May did we go", "2025-07-20", False),
        ("where were we in 2022", "2022-08-01", True),
        ("where were we in 2022", "2023-08-01", False),
        ("what happened on 7 May 2023", "2023-05-08", True),
        ("what happened on 7 May 2023", "2024-05-07", False),
        ("what was on Tuesday", "2026-11-17", True),
        ("May I come in?", "2026-05-07", False),
        ("who likes tea", "2026-11-20", False),
    ],
)
def test_the_times_of_a_query_lie_behind(query: str, said: str, is_meant: bool):
    at = datetime.fromisoformat(said).replace(hour=12, tzinfo=CHICAGO).timestamp()
    assert bool(is_within(np.array([at]), periods_of(query, NOW))[0]) is is_meant


@given(
    st.lists(st.tuples(shares, shares, shares), min_size=1, max_size=8),
    st.lists(st.floats(0, 0.5), min_size=3, max_size=3),
)
def test_the_order_of_a_context_rises_with_each_of_its_parts(
    rows: list[tuple[float, float, float]], more: list[float]
):
    parts = [np.array(column) for column in zip(*rows, strict=True)]
    higher = [part + extra for part, extra in zip(parts, more, strict=True)]
    assert (context_order(*higher) >= context_order(*parts) - 1e-12).all()


@given(st.floats(0, 0.9), st.floats(-1, 0.9), st.floats(0.05, 0.1))
def test_relevance_rises_with_words_and_with_meaning(share: float, cosine: float, more: float):
    words, meaning = (
        np.array([share, share + more, share]),
        np.array([cosine, cosine, cosine + more]),
    )
    assume(meaning.all())
    least, *higher = relevance(words, 1.0, meaning, MEANING)
    assert all(0 <= least < each <= 1 for each in higher)


@given(st.lists(shares, min_size=1, max_size=5))
def test_a_text_whose_meaning_is_not_known_counts_by_its_words(held: list[float]):
    words = np.array(held)
    alone = relevance(words, 1.0, None, None)
    assert (relevance(words, 1.0, np.zeros(len(held)), MEANING) == alone).all()


def test_of_what_says_the_same_the_surest_stays_in_the_place_of_the_best():
    likeness = np.array([[1, 0.9, 0.1], [0.9, 1, 0.1], [0.1, 0.1, 1.0]])
    assert without_repeats(likeness, np.array([0.5, 0.9, 0.7])) == [1, 2]


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=9), st.randoms()
)
def test_nothing_that_is_left_out_lacks_a_like_and_nothing_kept_is_kept_twice(
    points: list[tuple[float, float]], random: object
):
    vectors = np.array(points)
    likeness = np.exp(-np.linalg.norm(vectors[:, None] - vectors[None], axis=2))
    kept = without_repeats(likeness, np.full(len(points), 0.5))
    assert len(set(kept)) == len(kept)
    for place in set(range(len(points))) - set(kept):
        assert likeness[place].max() >= 0.8


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna's dogs were barking!", ["anna", "dog", "bark"]),
        ("What is it that you did?", []),
        ("Café in Zürich", ["cafe", "zurich"]),
        ("明日は雨", ["明", "日", "は", "雨"]),
        ("the 2nd B-day", ["2nd", "b", "day"]),
    ],
)
def test_stems_tell_what_a_text_is_about(text: str, expected: list[str]):
    assert stems(text) == expected


def test_asking_teaches_no_words():
    vocabulary = Vocabulary()
    vocabulary.learn("a red kite")
    assert [*vocabulary.known("blue kites, red kites").values()] == [1, 0]
    assert len(vocabulary) == 2


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what is Mum allergic to?", "what is Mum allergic to? Ines"),
        ("mum's and big bro's shoe size", "mum's and big bro's shoe size Ines Tom Ray"),
        ("what does Ines, our mum, like", "what does Ines, our mum, like"),
        ("the mummy film", "the mummy film"),
    ],
)
def test_a_query_gets_the_names_of_those_it_calls_otherwise(query: str, expected: str):
    assert with_names(query, {"mum": "Ines", "big bro": "Tom Ray"}) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What did Ines buy for Tom's party?", "What did buy for party?"),
        ("ines, INES’S and Tom-Ines met", "and met"),
        ("Inês lives in Tomar", "lives in Tomar"),
        ("Where is it?", "Where is it?"),
        ("Ines & Tom?", "Ines & Tom?"),
        ("", ""),
    ],
)
def test_a_query_is_left_without_names_unless_it_is_nothing_else(query: str, expected: str):
    assert without_names(query, frozenset({"ines", "tom"})) == expected
