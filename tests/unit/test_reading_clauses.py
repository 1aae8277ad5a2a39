"""Clauses of a message: together they are the message, and full stops inside abbreviations end nothing."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.reading.model import cut_clauses


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("can you get her? i'm stuck", ["can you get her? ", "i'm stuck"]),
        ("Ms. Ray rang. It is off!", ["Ms. Ray rang. ", "It is off!"]),
        ("yes!! 😂", ["yes!! 😂"]),
        ("list:\nmilk\nbread", ["list:\n", "milk\n", "bread"]),
        ("at 4.30 p.m. on Thursday", ["at 4.30 p.m. on Thursday"]),
        ("…", ["…"]),
        ("", [""]),
    ],
)
def test_sentences_and_lines_are_clauses(text: str, parts: list[str]) -> None:
    assert [text[each.start : each.end] for each in cut_clauses(text)] == parts


@given(st.text(alphabet=st.sampled_from('ab .!?\n…"😂\u200d1'), max_size=60))
def test_clauses_cover_the_text_without_overlap(text: str) -> None:
    clauses = cut_clauses(text)
    assert clauses[0].start == 0
    assert clauses[-1].end == len(text)
    assert all(one.end == two.start for one, two in pairwise(clauses))
    assert "".join(text[each.start : each.end] for each in clauses) == text
