"""In doubt a statement is about people: what is technical never gives way to news."""

import pytest

from kinkeeper.memory.model import Category
from kinkeeper.memory.statements.classification import classify_personal


@pytest.mark.parametrize(
    "text",
    [
        "The tent is on the top shelf",
        "The window cleaner comes every June",
        "The spare fuses are in the hall cupboard",
        "The swings in the park are broken",
    ],
)
def test_what_shows_nothing_technical_is_not(text: str) -> None:
    assert classify_personal(text).category is not Category.TECHNICAL


@pytest.mark.parametrize(
    "text", ["The API returns JSON", "The nightly script copies the database to the server"]
)
def test_what_shows_it_is(text: str) -> None:
    assert classify_personal(text).category is Category.TECHNICAL
