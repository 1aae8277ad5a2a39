"""Whether a message only sets right what was said before, by its words alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.language.text import tokenise
from kinkeeper.reading.corrections import is_bare_value, may_correct


@pytest.mark.parametrize(
    "text",
    [
        "10am sorry",
        "actually 5",
        "nope, 5 like always",
        "make it 3",
        "*5pm",
        "5pm*",
        "5 not 6",
        "thursday i mean",
        "wait its 4.15",
        "just checked, 4:30",
        "sorry thursday, brain fog",
        "turns out it's 4:15",
        "sorry 2nd not 3rd",
        "got it wrong its wednesday",
        "it's 4.45",
    ],
)
def test_a_value_with_a_sign_may_correct(text: str) -> None:
    assert may_correct(tokenise(text))


@pytest.mark.parametrize(
    "text",
    [
        "isn't it 5.30?",
        "sorry 10 mins late",
        "actually thursday works",
        "sorry can't thursday",
        "sorry, stuck till 5",
        "no way 5?",
        "no",
        "sorry",
        "i'm working thursday sorry",
        "actually we had such a lovely long day at the beach on sunday with everybody there",
    ],
)
def test_an_answer_a_delay_or_news_does_not(text: str) -> None:
    assert not may_correct(tokenise(text))


@pytest.mark.parametrize("text", ["4:30", "at 5", "on thursday", "thurs 5pm"])
def test_a_bare_value(text: str) -> None:
    assert is_bare_value(tokenise(text))


@pytest.mark.parametrize("text", ["", "ok", "5 eggs", "see you at 5"])
def test_no_bare_value(text: str) -> None:
    assert not is_bare_value(tokenise(text))


@given(st.text(max_size=60))
def test_any_text_can_be_asked(text: str) -> None:
    tokens = tokenise(text)
    assert may_correct(tokens) in {True, False}
    assert is_bare_value(tokens) in {True, False}
