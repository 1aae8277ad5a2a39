"""The text of notes: lists that grow and shrink."""

import pytest

from kinkeeper.core.errors import InputError, NotFoundError, UnclearError
from kinkeeper.notes.model import (
    LONGEST_BODY,
    appended,
    checked_body,
    checked_title,
    entries,
    replaced,
    without,
)


@pytest.mark.parametrize(
    ("body", "added", "after"),
    [
        ("", "milk", "- milk"),
        ("", "milk\n\n* eggs\n3. bread", "- milk\n- eggs\n- bread"),
        ("- milk", "eggs", "- milk\n- eggs"),
        ("* milk\n", "MILK\neggs", "* milk\n- eggs"),
        ("# Food\n- milk", "eggs", "# Food\n- milk\n- eggs"),
        ("- [x] milk", "milk", "- [x] milk"),
        ("The code is 1.", "The other is 2.", "The code is 1.\nThe other is 2."),
    ],
)
def test_what_is_added_takes_the_form_of_what_is_there(body: str, added: str, after: str) -> None:
    assert appended(body, added) == after


def test_a_line_is_taken_out_by_words_and_only_one() -> None:
    body = "- oat milk\n- eggs\n- eggs"
    assert without(body, "the oat milk") == ("- eggs\n- eggs", "oat milk")
    assert without(body, "eggs") == ("- oat milk\n- eggs", "eggs")
    with pytest.raises(NotFoundError, match="oat milk, eggs"):
        without(body, "caviar")
    with pytest.raises(UnclearError) as asked:
        without("- oat milk\n- soy milk", "milk")
    assert asked.value.options == ("oat milk", "soy milk")


def test_entries_are_told_without_their_marks() -> None:
    assert entries("# Food\n\n- milk\n- [ ] eggs\n1) bread\nand tea") == [
        "# Food",
        "milk",
        "eggs",
        "bread",
        "and tea",
    ]


def test_what_cannot_be_kept_is_refused() -> None:
    with pytest.raises(InputError):
        checked_title(" \u200b ")
    with pytest.raises(InputError):
        checked_title("x" * 201)
    with pytest.raises(InputError):
        checked_body("x" * (LONGEST_BODY + 1))
    assert checked_title("  Wi\u202efi  \n code ") == "Wifi code"


def test_lines_give_way_to_others_where_the_first_of_them_was() -> None:
    body = "# Food\n- oat milk\n- [x] eggs\n3. bread"
    assert replaced(body, ["eggs"], "12 eggs") == "# Food\n- oat milk\n- [x] 12 eggs\n3. bread"
    assert replaced(body, ["oat milk", "bread"], "") == "# Food\n- [x] eggs"
    assert replaced(body, ["oat milk"], "soya\ntofu") == (
        "# Food\n- soya\n- tofu\n- [x] eggs\n3. bread"
    )
    with pytest.raises(NotFoundError):
        replaced(body, ["eggs", "caviar"], "")
