"""What people keep to themselves unless they say otherwise."""

import pytest

from kinkeeper.memory.statements.discretion import is_sensitive


@pytest.mark.parametrize(
    "text",
    [
        "my counsellor is called Ruth",
        "I'm taking sertraline in the mornings",
        "I have my biopsy on the 4th",
        "I'm twelve weeks pregnant",
        "I've been sober since May",
        "my bonus this year is four thousand",
        "I owe my brother 300 euros",
        "my overdraft limit is 1500",
        "the PIN of my debit card is 9921",
        "my work login is kv-17 and the password Tulip!4",
        "My passport number is K4471190",
        "I'm seeing a divorce lawyer on Tuesday",
        "I am bisexual",
        "I have a job interview at the port authority",
        "I've hidden the present in the attic",
        "remember that I’m on 5 mg of ramipril",
        "I take lisinopril at night",
        "my shoulder is really sore",
        "I have a migraine again",
        "I've got the flu",
        "my blood group is B negative",
        "my mammogram came back clear",
        "I drank too much at the party",
        "I lost 80 at roulette",
        "I want to leave him",
        "I fancy my dentist",
        "I really can't stand my mother-in-law",
    ],
)
def test_about_oneself(text: str) -> None:
    assert is_sensitive(text)


@pytest.mark.parametrize(
    "text",
    [
        "the bin lorry comes on Mondays",
        "our wifi password is plumtree",
        "the alarm code is 5518",
        "my son takes ritalin before school",
        "my mother-in-law has high blood pressure",
        "Otto's therapist is Ms Hale",
        "I'm allergic to penicillin",
        "my favourite soup is leek",
        "I take the number 9 bus",
        "my sister earns more than she says",
        "I like my coffee black",
        "we owe the window cleaner 20 pounds",
        "I want to leave early",
        "my sister can't stand my cooking",
        "I bought a back door for the shed",
        "my daughter has a sore throat",
        "the smoke alarm in my room beeps",
    ],
)
def test_what_the_family_may_know(text: str) -> None:
    assert not is_sensitive(text)


def test_a_clause_about_somebody_else_does_not_hide_one_about_oneself() -> None:
    assert is_sensitive("my wife knows that, but I am on antidepressants") is True
    assert is_sensitive("my daughter is on antibiotics and my shift starts at six") is False
