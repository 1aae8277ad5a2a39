"""What of a message is worth keeping, and what it sets right."""

from datetime import UTC, datetime
from itertools import product

import pytest

from kinkeeper.memory.model import Category, Correction, Observation, StatementType
from kinkeeper.memory.statements.extraction import observe

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


def found(text: str, *previous: str) -> list[Observation]:
    return [*observe(text, said_at=NOON, previous=previous)]


@pytest.mark.parametrize(
    "text",
    [
        "hi there",
        "thanks, you're great!",
        "what's for dinner?",
        "can you call the plumber tomorrow?",
        "on my way, ten minutes",
        "remind me to buy stamps",
        "I'm so tired",
        "it's raining again",
        "we're having soup tonight",
        "lol",
        "",
        "👍👍",
    ],
)
def test_small_talk_questions_and_requests_leave_nothing(text: str) -> None:
    assert found(text) == []


def test_a_chatty_message_gives_each_lasting_statement_with_its_place():
    text = (
        "hey! just got in. btw Nadja is allergic to figs, and we moved to Trondheim 🎉 what's up?"
    )

    first, second = found(text)

    assert text[first.start : first.end] == first.text == "Nadja is allergic to figs"
    assert first.category is Category.CONSTRAINT
    assert text[second.start : second.end] == "we moved to Trondheim"
    assert second.narrative == "We moved to Trondheim"
    assert second.correction is None


def test_a_new_value_alone_completes_the_sentence_it_corrects():
    (corrected,) = found("oops, it's Tom", "my son is called Tim")

    assert corrected.text == "my son is called Tom"
    assert corrected.correction == Correction(corrects="my son is called Tim")
    assert (corrected.start, corrected.end) == (6, 14)


@pytest.mark.parametrize("text", ["that's not true any more", "forget that", "scratch that"])
def test_what_is_taken_back_names_the_last_statement(text: str) -> None:
    (taken_back,) = found(text, "I work at the mill", "nice!")

    assert taken_back.correction == Correction(corrects="I work at the mill", is_retraction=True)


def test_a_statement_questioned_and_denied_at_once_is_one_retraction():
    (taken_back,) = found("I love tacos? Not any more")

    assert taken_back.correction == Correction(corrects="I love tacos", is_retraction=True)
    assert (taken_back.start, taken_back.end) == (0, 26)


def test_nothing_is_taken_back_where_nothing_was_told():
    assert found("forget that") == []


def test_a_whole_sentence_after_no_corrects_what_it_takes_the_place_of():
    (corrected,) = found("no, I moved to Leeds", "I have two cats", "I live in York")

    assert corrected.correction == Correction(corrects="I live in York")


def test_dates_since_and_until_are_kept():
    (until,) = found("I'm on the night shift until 20 March")
    (since,) = found("From 1 April on we live in Harbour Street")

    assert until.valid_to is not None
    assert until.valid_to.date().isoformat() in {"2026-03-20", "2026-03-21"}
    assert since.valid_from is not None
    assert since.valid_from.date().isoformat() == "2026-04-01"


def test_the_type_follows_what_is_told():
    assert found("We must be home by ten")[0].type is StatementType.RULE
    assert found("I love figs")[0].type is StatementType.PREFERENCE


@pytest.mark.parametrize(
    "text", ["sorry no i did want it", "sorry, you do need it", "oops, I would like it"]
)
def test_a_whole_sentence_takes_the_place_of_no_name(text: str) -> None:
    assert not [each for each in found(text, "my son is called Tim") if each.correction]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Amara is a vet, she works nights", "Amara works nights"),
        ("Mr Osei's girl is called Efua, she boards in Tema", "Efua boards in Tema"),
        ("the alarm code changed, it's 7712", "The alarm code is 7712"),
        ("Our dog is Biscuit. He's afraid of the hoover", "Biscuit is afraid of the hoover"),
        (
            "Mrs Lund across the road has a key to our garage",
            "Mrs Lund across the road has a key to our garage",
        ),
        ("Nadia and I split up in May", "Nadia and I split up in May"),
    ],
)
def test_what_goes_on_with_the_sentence_before_is_told_by_name(text: str, told: str) -> None:
    assert told in [each.narrative for each in observe(text, said_at=NOON)]


def test_of_two_people_nobody_guesses_who_is_meant() -> None:
    found = observe("Ben and Tom moved to Leeds. He works at a bakery", said_at=NOON)
    assert not any("Ben works" in each.narrative or "Tom works" in each.narrative for each in found)


GIVEN_UP = (
    ("Tove is allergic to nuts", "nuts", "sesame"),
    ("Emeka can't eat eggs", "eggs", "dairy"),
    ("Emeka's blood type is A positive", "A positive", "O negative"),
    ("my shoe size is 38", "38", "39"),
    ("Emeka's teacher is Ms Hale", "Ms Hale", "Ms Boyle"),
    ("our alarm code is 4411", "4411", "5522"),
    ("my brother lives in Leeds", "Leeds", "York"),
    ("Tove takes 20 mg of iron", "20", "10 mg of iron"),
)
SLIPS = (
    "{told}, no wait, {new}",
    "{told} no wait {new}",
    "{told}. no wait, {new}",
    "{told}, sorry, {new}",
    "{told}, sorry not {old}, {new}",
    "{told}, hang on, {new}",
    "{told}. Hang on. {new}",
    "{told} - actually {new}",
    "{told}... actually no, {new}",
    "{told}, i mean {new}",
    "{told}, no, {new}",
    "{told}, scratch that, {new}",
    "{told} oops {new}",
    "{told}, wait no {new}",
    "{told}. Correction: {new}",
    "{told}, i meant {new}",
    "{told}. Sorry, {new}",
    "{told}. Sorry, I got that wrong, {new}",
    "{told}, or rather {new}",
    "{told}. my mistake, {new}",
    "{told}. Oh no wait, {new}",
)


@pytest.mark.parametrize("how", ["{}", "it's {}", "its {}", "that's {}"])
def test_a_value_that_is_given_up_in_the_same_breath_is_not_told_alone(how: str) -> None:
    wrong = []
    for (told, old, new), slip in product(GIVEN_UP, SLIPS):
        text = slip.format(told=told, old=old, new=how.format(new))
        found = [each.narrative for each in observe(text, said_at=NOON, people={"emeka", "tove"})]
        is_new = any(new in each for each in found)
        if not is_new or any(old in each and new not in each for each in found):
            wrong.append((text, found))
    assert wrong == [], (len(wrong), wrong)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Tove is allergic to nuts. No wait, it's sesame", ["Tove is allergic to sesame"]),
        ("My brother lives in Leeds. Sorry, it's York", ["My brother lives in York"]),
        (
            "Tove is allergic to nuts. She hates eggs, sorry",
            ["Tove is allergic to nuts", "Tove hates eggs, sorry"],
        ),
        ("Tove hates maths. Actually we moved to Spain", ["Tove hates maths", "We moved to Spain"]),
        (
            "Emeka is allergic to nuts. No dogs are allowed in the flat",
            ["Emeka is allergic to nuts", "No dogs are allowed in the flat"],
        ),
        (
            "Tove can't have eggs so hold on to the oat milk",
            ["Tove can't have eggs so hold on to the oat milk"],
        ),
        ("Emeka is coeliac. Tove isn't, no", ["Emeka is coeliac", "Tove isn't, no"]),
    ],
)
def test_what_follows_a_value_and_gives_nothing_up_stands_by_itself(
    text: str, told: list[str]
) -> None:
    found = observe(text, said_at=NOON, people={"emeka", "tove"})
    assert [each.narrative for each in found] == told


def test_a_whole_statement_that_gives_up_an_old_value_is_kept() -> None:
    people, known = ("Claire", "Leo", "Ngozi", "Tove"), {"claire", "leo", "ngozi", "tove"}
    news = (
        ("lives in Kingston", "Ottawa"),
        ("works at the bakery", "the bank"),
        ("likes tea", "coffee"),
        ("drives a van", "a bus"),
        ("plays the viola", "the cello"),
    )
    said = [
        f"{who} {now}{joint} {then}"
        for who, (now, then), joint in product(people, news, (" now, not", ", not", " now not"))
    ]
    kept = {
        text: [each.narrative for each in observe(text, said_at=NOON, people=known)]
        for text in said
    }
    assert [text for text, told in kept.items() if told != [text]] == []
