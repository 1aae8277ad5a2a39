"""Who wonders at what they were told, and who only answers it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.language.text import tokenise
from kinkeeper.reading.wonder import wonders

WONDERS = (
    "why did the bot say that?|Why?|whyyyy|y?|Why'd you tell us|how come|hey bot, why are you telling us this|er... why|???"
    "|huh?|what|sorry what|What does that mean|wtf is this|who asked you lol|how do you know that|I don't get it|makes no sense"
    "|nobody asked|what are you on about|I'll get Leo but why is it asking|where did you get that from|explain pls"
)
ANSWERS = (
    "that's why!|why not|Why don't we ask gran|I know why|ok|I'll do it|both|what time?|which one?|where is it|who's going|sorry!|no"
    "|What about Friday|cancel swimming|👍|--|thanks|it's fine, I told you so|that is why I moved it|hm|what day is the game"
)


@pytest.mark.parametrize("text", WONDERS.split("|"))
def test_hears_wonder(text: str) -> None:
    assert wonders(tokenise(text))


@pytest.mark.parametrize("text", ANSWERS.split("|"))
def test_hears_no_wonder_in_answers(text: str) -> None:
    assert not wonders(tokenise(text))


@given(st.text(max_size=60), st.sampled_from(["why", "how come", "what does that mean"]))
def test_any_text_around_is_harmless(text: str, phrase: str) -> None:
    wonders(tokenise(text))
    assert wonders(tokenise(f"{phrase}? {text}"))
