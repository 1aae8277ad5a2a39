"""Questions that a line of a note answers."""

from datetime import UTC, datetime
from itertools import product

import pytest

from kinkeeper.brain.household_brain import written
from kinkeeper.household.model import Member, Role
from kinkeeper.notes.model import Note


def note(title: str, *lines: str) -> Note:
    return Note(
        id=title,
        household="h",
        title=title,
        body="\n".join(f"- {line}" for line in lines),
        made_by="ann",
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
    )


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
    [
        "what's the alarm code?",
        "where is the lawnmower",
        "who is coming on Thursday?",
        "how old is Pell street",
    ],
)
def test_what_no_line_speaks_of_is_not_answered(question: str) -> None:
    assert not written(question, NOTES)


ANN = Member(id="ann", name="Ann", role=Role.HELPER, aliases=("the nanny",))
BO = Member(id="bo", name="Bo", role=Role.PARENT, aliases=("dad",))
OF_ONESELF = {
    "i finish at 4 on thursdays from now on": (
        "what time does {} finish on thursdays",
        "when does {} finish on Thursday?",
    ),
    "I work from home on Wednesdays": (
        "where does {} work on wednesdays?",
        "does {} work from home",
    ),
    "my train leaves at 7.42": ("when does {}'s train leave?", "what time does {}'s train leave"),
    "I've got the car on Fridays": (
        "who has the car on Fridays, {}?",
        "does {} have the car on friday",
    ),
}
"""Lines in the first person, and how another asks for them."""


@pytest.mark.parametrize(
    ("line", "form"), [(each, form) for each, forms in OF_ONESELF.items() for form in forms]
)
def test_i_in_a_note_is_whoever_made_it(line: str, form: str) -> None:
    notes = [note(line, line), NOTES[0]]
    for member, called in product((ANN, BO), ("name", "alias")):
        question = form.format(member.name if called == "name" else member.aliases[0])
        found = written(question, notes, [ANN, BO])
        if member is ANN:
            assert found[0].sentence == f"Ann noted: “{line}”.", question
        else:
            assert line not in [each.text for each in found], question


def test_a_line_that_speaks_of_nobody_is_told_by_its_title() -> None:
    assert written("what's the gate code?", NOTES, [ANN, BO])[0].sentence.startswith("On “Cottage”")
