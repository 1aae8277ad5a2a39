"""WordPiece gives the numbers that the reference implementation gives."""

import json
from pathlib import Path

import pytest

from kinkeeper.models.embedding.minilm import END, START, UNKNOWN, WordPiece, shipped_vocabulary

# Made with the Rust library that BERT's models are usually read with.
REFERENCE = json.loads(
    Path(__file__).with_name("wordpiece_reference.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: repr(row["text"][:20]))
def test_the_numbers_are_those_of_the_reference(row: dict) -> None:
    assert shipped_vocabulary().numbers(row["text"], 512) == row["numbers"]


def test_the_longest_pieces_make_up_a_word():
    vocabulary = WordPiece([UNKNOWN, START, END, "play", "##ground", "##g", "plays", "##round"])

    assert vocabulary.numbers("playground plays playx", 9) == [1, 3, 4, 6, 0, 2]


def test_the_tail_of_a_long_text_is_left_out_and_the_end_stays():
    numbers = shipped_vocabulary().numbers("word " * 1000, 256)

    assert len(numbers) == 256
    assert numbers[-1] == shipped_vocabulary().numbers("", 256)[-1]


def test_marks_of_the_model_that_people_type_are_plain_text():
    vocabulary = shipped_vocabulary()
    (start, *_, end) = vocabulary.numbers("hello", 9)
    numbers = vocabulary.numbers("[CLS] hello [SEP]", 32)

    assert numbers.count(start) == numbers.count(end) == 1
