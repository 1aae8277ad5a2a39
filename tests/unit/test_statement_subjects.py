"""Whom a statement is about, where the name is an ordinary word or is known to nobody."""

import pytest

from kinkeeper.memory.statement_match import subject_of


def _subject(text: str) -> str:
    return subject_of(text, speaker="sam", people={"sam": "sam", "violet": "violet"})[0]


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Poppy's birthday is 3 March", "poppi"),
        ("poppy's birthday is 3 march", "poppi"),
        ("when is Poppy's birthday", "poppi"),
        ("Zofka's shoe size is 31", "zofka"),
        ("Hazel's dentist is Dr Klein", "hazel"),
        ("Will's new school is Oakfield", "will"),
        ("Jack has a nut allergy", "jack"),
        ("Ruby was born on 3 March", "rubi"),
        ("Violet's birthday is 3 March", "violet"),
        ("Oaklyn's piano teacher is Ms Bell", "oaklyn"),
    ],
)
def test_whoever_has_it_is_who_it_is_about(text: str, subject: str) -> None:
    assert _subject(text) == subject


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("my birthday is 3 March", "sam"),
        ("Mum's birthday is 9 June", "sam/mother"),
        ("Swimming's been shifted to five", "sam"),
        ("Today's dinner is soup", "sam"),
        ("Hope it goes well", "sam"),
        ("Frank talk is what I like", "sam"),
        ("Rose bushes grow by our door", "sam"),
    ],
)
def test_other_words_are_nobodys_names(text: str, subject: str) -> None:
    assert _subject(text) == subject
