"""The ranks of English words: those of the list, whatever is asked for."""

from importlib.util import find_spec
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.language.dictionary import word_ranks


def listed() -> dict[str, int]:
    package = find_spec("symspellpy")
    assert package is not None
    assert package.origin is not None
    file = Path(package.origin).with_name("frequency_dictionary_en_82_765.txt")
    lines = file.read_text(encoding="utf-8-sig").splitlines()
    return {line.partition(" ")[0]: rank for rank, line in enumerate(lines)}


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
