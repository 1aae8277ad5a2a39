"""Questions that a line of a note answers."""

from datetime import UTC, datetime

import pytest

from kinkeeper.brain.household_brain import written
from kinkeeper.notes.model import Note


def note(title: str, *lines: str) -> Note:
    return Note(
        id=title, household="h", title=title, body="\n".join(f"- {line}" for line in lines),
        made_by="ann", created_at=datetime(2026, 3, 1, tzinfo=UTC),
    )  # fmt: skip


NOTES = [
    note("Cottage", "gate code is 7781", "bins go out on Thursday", "Mrs Pell has the spare key"),
    note("Recipes", "soda bread takes 400 ml buttermilk", "pancakes: two eggs a person"),
    note("Shopping list", "candles", "buttermilk"),
]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("what's the gate code?", "gate code is 7781"),
        ("who has the spare key to the cottage", "Mrs Pell has the spare key"),
        ("when do the bins go out?", "bins go out on Thursday"),
        ("how much buttermilk goes in the soda bread?", "soda bread takes 400 ml buttermilk"),
    ],
)
def test_a_line_answers(question: str, line: str) -> None:
    assert written(question, NOTES)[0].text == line


@pytest.mark.parametrize(
    "question",
    ["what's the alarm code?", "where is the lawnmower", "who is coming on Thursday?", "how old is Pell street"],
)  # fmt: skip
def test_what_no_line_speaks_of_is_not_answered(question: str) -> None:
    assert not written(question, NOTES)
