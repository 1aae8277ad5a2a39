"""A reply is read with the statement before it where it denies, narrows or replaces that, and only there."""

from itertools import product

import pytest

from kinkeeper.reading.deeds import deeds_told
from kinkeeper.reading.second_thoughts import (
    as_set_right,
    has_grown,
    put_right,
    says_otherwise,
    sets_right,
    takes_back,
)

NAMES = frozenset({"mia", "leo", "john", "sarah"})
SIGNS = (
    "",
    "no ",
    "no wait ",
    "sorry, ",
    "oops ",
    "correction: ",
    "that's wrong, ",
    "hang on - ",
    "actually ",
    "scratch that. ",
)
DENIALS = ("she can't", "she cant", "she can not", "she cannot", "she can't after all")
CONDITIONS = ("only with me there", "not until she is nine", "unless Sarah is home")


@pytest.mark.parametrize("sign", SIGNS)
def test_a_denial_turns_the_statement(sign: str) -> None:
    told = "Mia can have walnuts"
    for denial in DENIALS:
        assert sets_right(sign + denial, told, NAMES), sign + denial
        assert put_right(told, sign + denial, NAMES) == "Mia can't have walnuts"
    for denial, condition in product(DENIALS, CONDITIONS):
        right = put_right(told, f"{sign}{denial}, {condition}", NAMES)
        assert right == f"Mia can't have walnuts, {condition.lower()}"


@pytest.mark.parametrize(
    ("told", "reply", "right"),
    [
        ("Leo isn't allowed in the attic", "oh wait he is", "Leo is allowed in the attic"),
        ("Leo will eat beans", "sorry, he won't", "Leo won't eat beans"),
        ("Mia has had her jab", "no she hasn't", "Mia hasn't had her jab"),
        ("Mia is allergic to horses", "I meant Leo", "Leo is allergic to horses"),
        ("Mia's coat is red", "no, Leo's", "Leo's coat is red"),
        (
            "Mia is allergic to horses",
            "turns out Mia isn't allergic to horses",
            "Mia isn't allergic to horses",
        ),
        ("Leo's tutor is Ms Roe", "sorry, Ms Lee", None),
        ("Mia had her syrup", "sorry, that was Leo", None),
        ("Mia likes beans", "no she doesn't", None),
        ("the key is in the shed", "not any more, it's under the pot", None),
        ("Mia can swim", "only with a vest", None),
        ("Mia's shoe size is 31", "Mia's feet grew, she's a 33 now", None),
        ("Mia can swim", "no sorry the doctor says no", None),
    ],
)
def test_what_a_reply_comes_to_is_told_where_it_is_sure(
    told: str, reply: str, right: str | None
) -> None:
    assert sets_right(reply, told, NAMES)
    assert put_right(told, reply, NAMES) == right
    assert as_set_right(f"{told}. {reply}", NAMES) == (right or f"{told}. {reply}")


@pytest.mark.parametrize(
    "reply",
    [
        "no",
        "nope",
        "no thanks",
        "yes she can",
        "she can",
        "can she?",
        "no, can she really?",
        "what about Leo?",
        "Leo can't",
        "Leo can't have walnuts",
        "no, Leo can",
        "sorry she's late",
        "sorry I'm late",
        "actually she has swimming at 5",
        "no need to fetch her",
        "scratch that, add milk to the list",
        "it was lovely",
        "remind me to buy walnuts",
        "36",
        "it's 5 now",
        "it's for Sarah's birthday",
        "thanks",
        "so can Leo",
    ],
)
def test_what_goes_on_otherwise_sets_nothing_right(reply: str) -> None:
    assert not sets_right(reply, "Mia can have walnuts", NAMES)


@pytest.mark.parametrize(
    "sign",
    [
        "that's wrong",
        "oops no",
        "wait no",
        "i was wrong about that",
        "ignore me",
        "that was a joke",
        "my mistake",
    ],
)
def test_a_bare_sign_takes_all_of_it_back(sign: str) -> None:
    assert takes_back(sign)
    assert not takes_back(f"{sign}, she can't")


@pytest.mark.parametrize(
    ("one", "other", "denies"),
    [
        ("Mia isn't allowed to bike alone", "Mia can bike alone", True),
        ("Mia can't bike", "Leo can bike", False),
        ("Mia can bike", "Mia can bike to school", False),
        ("Leo doesn't like beans", "Leo likes beans", True),
        ("Mia can't swim", "Mia can bike", False),
    ],
)
def test_only_the_same_of_the_same_is_denied(one: str, other: str, denies: bool) -> None:
    assert says_otherwise(one, other) == says_otherwise(other, one) == denies


@pytest.mark.parametrize(
    ("said", "is_newer"),
    [
        ("Leo is 43kg now", True),
        ("Leo's up to 43 kg now", True),
        ("leo has gone up to 43 kg", True),
        ("Leo weighed 43 kg", False),
        ("Mia is 43kg now", False),
        ("Leo is 140 cm now", False),
        ("Leo is 41 kg now", False),
        ("Leo needs a coat now", False),
    ],
)
def test_another_amount_of_now_outdates_the_old_one(said: str, is_newer: bool) -> None:
    assert has_grown(said, "Leo weighs 41 kg", NAMES) == is_newer


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Leo had his drops at 7. no wait he didn't", True),
        ("Leo had his drops at 7. nope he spat them out", True),
        ("Leo had his drops at 7. it wasn't Leo, it was Mia", False),
        ("Leo didn't have his drops. oh wait he did", False),
        ("Leo had his drops at 7. sorry, 8", False),
        ("Leo had his drops at 7. he was asleep by 8", False),
    ],
)
def test_a_deed_is_told_with_what_sets_it_right(text: str, denied: bool) -> None:
    assert deeds_told(text, frozenset())[0].is_denied == denied
