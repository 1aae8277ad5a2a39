"""Which of several things a few words mean."""

import pytest

from kinkeeper.conversation.choice_words import only_chooses

LABELS = ("St. Mary's gala", "Mrs. Hall's gala", "lunch with J. R. Smith")


@pytest.mark.parametrize("text", ["the St. Mary's one", "Mrs. Hall's, please", "J. R. Smith"])
def test_an_abbreviation_does_not_cut_a_choice_in_two(text: str) -> None:
    assert only_chooses(text, LABELS)


@pytest.mark.parametrize("text", ["the first. Send it to Bo", "Mrs. Hall's. Not the gala"])
def test_who_says_more_does_more_than_choose(text: str) -> None:
    assert not only_chooses(text, LABELS)
