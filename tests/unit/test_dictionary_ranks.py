"""The ranks of English words: those of the list, whatever is asked for."""

from importlib.resources import files

from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.language.dictionary import word_ranks


def listed() -> dict[str, int]:
    text = files("kinkeeper.language").joinpath("data", "english_words.txt").read_text("utf-8")
    words = text.partition("\n")[2].split()
    return {word: rank for rank, word in enumerate(words)}


LISTED = listed()


def test_every_word_of_the_list_has_its_rank_and_there_are_no_others() -> None:
    ranks = word_ranks()
    assert len(ranks) == len(LISTED)
    assert dict(ranks) == LISTED


@given(st.text(max_size=12) | st.sampled_from(["the", "thee", "\ud800", "zzz", ""]))
def test_what_is_no_word_has_no_rank(text: str) -> None:
    ranks = word_ranks()
    assert (text in ranks) == (text in LISTED)
    assert ranks.get(text) == LISTED.get(text)
