"""Which of several things a few words mean."""

import pytest

from kinkeeper.language.name_match import meant_by

THINGS = [
    "Buy stamps",
    "Buy stamps for grandma",
    "Call mom",
    "Pay the school trip",
    "Guitar lesson",
    "Zahnarzt für Zoë",
    "Take out the bins",
    "Water the plants",
]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("call mom", ["Call mom"]),
        ("the call to mom", ["Call mom"]),
        ("calling mom", ["Call mom"]),
        ("buy stamps", ["Buy stamps"]),
        ("BUY STAMPS!", ["Buy stamps"]),
        ("stamps", ["Buy stamps", "Buy stamps for grandma"]),
        ("the one with grandma's stamps", ["Buy stamps for grandma"]),
        ("grandma's stamps", ["Buy stamps for grandma"]),
        ("the task about the bins", ["Take out the bins"]),
        ("zoe", ["Zahnarzt für Zoë"]),
        ("zahnartz", ["Zahnarzt für Zoë"]),
        ("the lesson", ["Guitar lesson"]),
        ("the guitar practice", ["Guitar lesson"]),
        ("the piano lesson", []),
        ("paying for the school trip money", ["Pay the school trip"]),
        ("school", ["Pay the school trip"]),
        ("it", []),
        ("the task", []),
        ("", []),
        ("the plumber", []),
    ],
)
def test_words_mean_what_a_person_would_take_them_for(words: str, meant: list[str]) -> None:
    assert [THINGS[place] for place in meant_by(words, THINGS)] == meant


def test_further_words_tell_things_apart_and_a_whole_name_goes_first() -> None:
    names, also = ["Dentist", "Dentist"], ["Leo", "Emma"]
    assert meant_by("Emma's dentist appointment", names, also) == [1]
    assert meant_by("dentist", names, also) == [0, 1]
    assert meant_by("anything", []) == []
