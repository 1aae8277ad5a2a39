"""A full stop that ends no sentence splits no text, whichever reader meets it."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import cpu_seconds, grows_too_fast, takes_too_long
from kinkeeper.conversation.answering.claims import is_complete, sentences
from kinkeeper.conversation.context.topics import facts_of
from kinkeeper.language.text import STOP_INSIDE, mask_stops
from kinkeeper.memory.statements import secrecy
from kinkeeper.memory.statements.secrecy import audience_of
from kinkeeper.memory.statements.sentences import parts_of
from kinkeeper.observer.wording.message_view import read_message
from kinkeeper.observer.wording.participants import compile_participants
from planning import WEDNESDAY, miller

_ABBREVIATED = (
    "Ms. Bauer",
    "Dr. Adeyemi",
    "Prof. J. Lindqvist",
    "St. Mary's",
    "e.g. the hall",
    "i.e. the gym",
    "approx. five",
    "no. 12",
    "tel. 5551234",
    "etc. with cake",
    "5 p.m. sharp",
    "9 a.m. latest",
    "7.30 sharp",
    "Nov. 12",
    "Tues. evening",
    "Mr. and Mrs. Okoro",
    "pt. 2",
    "max. 20 children",
)
_WORDS = ("bring", "paper", "cups", "over", "near", "wooden", "tables", "with", "lamps", "soon")
_LEXICON = compile_participants(miller()).lexicon
_pieces = st.lists(st.sampled_from(_ABBREVIATED + _WORDS), min_size=1, max_size=12)
_NOW = WEDNESDAY.replace(tzinfo=miller().zone)
_MOST_SECONDS = 0.5


@given(_pieces)
def test_a_sentence_with_abbreviations_stays_one(pieces: list[str]) -> None:
    text = f"please {' '.join(pieces)} today."
    reading = read_message(text, sent_at=_NOW, lexicon=_LEXICON, locale="en-US")
    assert len(mask_stops(text)) == len(text)
    assert mask_stops(text)[:-1] == text[:-1].replace(".", STOP_INSIDE)
    assert [part.text for part in parts_of(text)] == [text[:-1]]
    assert [each.text for each in sentences(text)] == [text]
    assert "." not in reading.skeleton.split()[:-1]


@given(_pieces, _pieces)
def test_two_sentences_stay_two(first: list[str], second: list[str]) -> None:
    text = f"please {' '.join(first)} today. Please {' '.join(second)} tomorrow."
    reading = read_message(text, sent_at=_NOW, lexicon=_LEXICON, locale="en-US")
    assert len(parts_of(text)) == len([*sentences(text)]) == 2
    assert reading.skeleton.rstrip(". ").count(" . ") == 1


@pytest.mark.parametrize("name", ["Ms. Bauer", "Dr. Adeyemi", "St. Mary's", "Mr. J. Okoro"])
def test_a_value_is_kept_whole(name: str) -> None:
    assert facts_of(f"The new teacher is {name}. See you.", ()) == {"The new teacher": name}


def test_a_stream_waits_behind_a_title() -> None:
    assert not is_complete("I asked Dr. ")
    assert is_complete("I asked Dr. Bauer. ")


@pytest.mark.parametrize("end", ["So did I. We left.", "Yes. No. Maybe.", "He sat. She ran."])
def test_ordinary_words_end_sentences(end: str) -> None:
    assert mask_stops(end) == end


@pytest.mark.parametrize(
    "unit", ["Dr. ", "e.g.", "a.", "1.", ".", " .", "5 p.m. ", "no. ", "A. ", "\n1. x"]
)
def test_repeated_stops_take_linear_time(unit: str) -> None:
    def cost(size: int) -> float:
        return cpu_seconds(lambda: mask_stops((unit * size)[:size]))

    assert not grows_too_fast(cost, 12_500)
    assert not takes_too_long(lambda: cost(100_000), _MOST_SECONDS)


_LONGEST = 65_536  # characters of a message
_READERS: list[Callable[[str], object]] = [
    mask_stops,
    parts_of,
    lambda text: audience_of(text, miller(), "john"),
]


@pytest.mark.parametrize("read", _READERS, ids=["stops", "sentences", "audience"])
def test_the_longest_message_costs_in_proportion_to_its_length(
    read: Callable[[str], object],
) -> None:
    def cost(length: int) -> float:
        units = (f"Leo likes kite {i} and Mia, at 5 p.m., hates plum {i}. " for i in range(length))
        text = ""
        while len(text) < length:
            text += next(units)
        mask_stops.cache_clear()
        secrecy._matches.cache_clear()
        return cpu_seconds(lambda: read(text[:length]))

    assert not grows_too_fast(cost, _LONGEST // 8)
    assert not takes_too_long(lambda: cost(_LONGEST - 1), _MOST_SECONDS)
