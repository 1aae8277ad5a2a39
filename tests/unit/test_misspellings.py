from collections.abc import Iterator

import pytest

from kinkeeper.language.dictionary import Misspellings, is_known

WORDS = (
    "soccer",
    "ballet",
    "practice",
    "dentist",
    "cancelled",
    "gymnastics",
    "violin",
    "karate",
    "orthodontist",
    "recital",
    "swimming",
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("socer", "soccer"),
        ("pratice", "practice"),
        ("balet", "ballet"),
        ("bailt", "ballet"),
        ("cancled", "cancelled"),
        ("dentits", "dentist"),
        ("soccor", "soccer"),
        ("gymnastcs", "gymnastics"),
        ("orthadontist", "orthodontist"),
        ("swiming", "swimming"),
    ],
)
def test_finds_the_word_that_was_meant(typed: str, meant: str):
    assert Misspellings(WORDS).nearest(typed) == meant


@pytest.mark.parametrize(
    "ordinary",
    [
        "soccer",
        "sock",
        "bullet",
        "ballot",
        "denting",
        "violet",
        "practise",
        "haha",
        "tmrw",
        "priyanka",
        "colour",
        "girlz",
    ],
)
def test_leaves_ordinary_words_names_and_slang_alone(ordinary: str):
    assert Misspellings((*WORDS, "girls", "color")).nearest(ordinary) is None


def test_short_tokens_and_names_are_not_guessed():
    near = Misspellings(("gym", "swim"), names=("Leo", "Mia", "Harriet"))
    assert near.nearest("gim") is None
    assert near.nearest("leoo") is None
    assert near.nearest("hariet") == "harriet"
    assert near.nearest("haryet") is None


def test_first_letter_must_agree():
    assert Misspellings(("soccer",)).nearest("zoccer") is None


def slips(word: str) -> Iterator[str]:
    for at in range(1, len(word)):
        yield word[:at] + word[at + 1 :]
        yield word[:at] + "q" + word[at:]
        yield word[:at] + "x" + word[at + 1 :]
        yield word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]


def test_recall_of_one_slip_is_at_least_94_in_100():
    near = Misspellings(WORDS)
    typed = [(slip, word) for word in WORDS for slip in slips(word) if slip != word]
    found = sum(near.nearest(slip) == word for slip, word in typed)
    assert found / len(typed) >= 0.94


def test_recall_of_two_slips_is_at_least_90_in_100():
    near = Misspellings(WORDS)
    typed = [
        (two, word) for word in WORDS for one in slips(word) for two in slips(one) if len(two) >= 5
    ]
    found = sum(
        near.nearest(two) in {word, None if two == word or is_known(two) else word}
        for two, word in typed[::7]
    )
    assert found / len(typed[::7]) >= 0.90
