"""How a new statement relates to an old one: said again, taken the place of, denied, or something else."""

from datetime import UTC, datetime

import pytest

from kinkeeper.memory.statement_match import subject_of
from kinkeeper.memory.statements.relation import Effect, Relation, relate
from kinkeeper.memory.statements.statement_reader import read_statement

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
MAY = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We live in Turku", "Turku is where we live"),
        ("My sister works as a vet", "My sister is a vet"),
        ("I can't stand liquorice", "I hate liquorice"),
        ("Our dentist is Dr Yilmaz", "Dr Yilmaz is our dentist"),
        ("I'm allergic to penicillin", "As I said, I have a penicillin allergy"),
        ("My car is a Dacia", "I drive a Dacia"),
        ("In the evening we read aloud", "We read aloud in the evening"),
        ("Ola's piano lesson is on Monday", "Ola has piano on Mondays"),
        ("My favourite colour is green", "I like green best of all colours"),
        ("Ola can't have sesame", "Ola isn't allowed sesame"),
        ("My parking space is number 31", "I have parking space 31"),
    ],
)
def test_the_same_told_otherwise_is_the_same(old: str, new: str) -> None:
    assert relate(old, new).relation is Relation.SAME
    assert relate(new, old).effect is Effect.MERGE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We live in Turku", "We moved to Vaasa"),
        ("I work for Valmet", "I no longer work for Valmet"),
        ("I work for Valmet", "I work for Valmet? Not any more"),
        ("My boss is Hanne", "Update: my boss is Pieter"),
        ("Dad drives a Volvo", "Dad sold the Volvo and bought a Kia"),
        ("The ladder is in the shed", "The ladder lives in the garage now"),
        ("I love oysters", "I've gone off oysters"),
        ("The rent is 900 euros", "The rent goes up to 950 euros"),
        ("The dentist is Dr. Aalto", "We switched to Dr. Blum for the dentist"),
        ("Nina has a nut allergy", "Nina's nut allergy is gone"),
        ("I no longer eat bread", "I eat bread again"),
        ("The parking permit is 90 a year", "They raised the parking permit to 110 a year"),
    ],
)
def test_another_value_of_what_has_one_or_its_end_takes_its_place(old: str, new: str) -> None:
    found = relate(old, new, old_at=MARCH, new_at=MAY)

    assert found.relation is Relation.UPDATE
    assert found.effect is Effect.SUPERSEDE
    assert found.why.endswith(".")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I speak Finnish", "I speak Estonian"),
        ("We live in Turku", "My brother lives in Vaasa"),
        ("We live in Turku", "I dreamt that we live in Vaasa"),
        ("We live in Turku", "When I was six, we lived in Vaasa"),
        ("We live in Turku", "What if we lived in Vaasa?"),
        ("We live in Turku", "We were born in Turku"),
        ("My son is called Aki", "My son's teacher is called Aki"),
        ("I'm glad about the new job", "I'm worried about the exam"),
        ("My hobby is judo", "My other hobby is origami"),
        ("My bike is red", "My bike has a basket"),
        ("Our car is a Lancia", "Our car is serviced by Ilves Motors"),
        ("Our van is a Ford", "Our van is parked behind Ilves"),
        ("The van is a Toyota", "The van is due its MOT in May"),
        ("The bakery opens at seven", "The museum opens at nine now"),
        ("Lunch is at noon", "Lunch is at two on Easter Monday"),
        ("Ola sings in the youth choir group", "Ola is in the sewing club these days"),
        ("Ola cycles to work", "Ola's sister drives to work now"),
        ("Ola is in room 4", "Ola's brother moved to room 9"),
        ("The cellar code is 5150", "The mailbox code is 6262 now"),
    ],
)
def test_what_can_both_hold_stays(old: str, new: str) -> None:
    assert relate(old, new, old_at=MARCH, new_at=MAY).effect is Effect.KEEP_BOTH


def test_what_turns_out_to_be_older_takes_no_place():
    late = relate("We live in Turku", "We live in Vaasa", old_at=MAY, new_at=MARCH)

    assert late.relation is Relation.OTHER
    assert "older" in late.why


def test_at_the_same_time_two_values_contradict_each_other():
    one = relate("We live in Turku", "We live in Vaasa", old_at=MAY, new_at=MAY)
    other = relate("We live in Vaasa", "We live in Turku", old_at=MAY, new_at=MAY)

    assert one.relation is other.relation is Relation.CONTRADICTION


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("There is a man on the roof", "There is no man on the roof"),
        ("I've been to Lapland", "I've never been to Lapland"),
        ("I was born in 1980", "I was born in 1981"),
        ("Our wedding was in May 2011", "Our wedding was in August 2011"),
    ],
)
def test_what_denies_the_other_and_cannot_change_contradicts_it(old: str, new: str) -> None:
    assert relate(old, new, old_at=MARCH, new_at=MAY).relation is Relation.CONTRADICTION


def test_who_does_it_to_whom_matters():
    assert relate("The dog chases the cat", "The cat chases the dog").relation is Relation.OTHER


@pytest.mark.parametrize(
    ("text", "subject", "slot", "value"),
    [
        ("My job title is locksmith", "me", "job", ("locksmith",)),
        ("My aunt Vera keeps her ladder in the barn", "aunt vera", "place", ("barn",)),
        ("My child's teacher is called Ove", "kid", "teacher", ("ove",)),
        ("Ida turned nine", "ida", "age", ("9",)),
        ("Green is my favourite colour", "me", "favourit colour", ("green",)),
        ("My locker combination is 33", "me", "locker combin", ("33",)),
    ],
)
def test_a_statement_is_read_into_whom_what_and_value(
    text: str, subject: str, slot: str, value: tuple[str, ...]
) -> None:
    (reading,) = read_statement(text)

    assert (reading.subject, reading.slot, reading.value) == (subject, slot, value)


def test_how_it_is_told_is_read_too():
    (made_up,) = read_statement("In the novel I'm writing, I live in Rome")
    (over,) = read_statement("It's no longer true that I live in Rome")
    (news,) = read_statement("Things changed: I live in Rome")
    (denied,) = read_statement("I don't live in Rome")

    assert made_up.is_hypothetical
    assert over.is_retraction
    assert news.is_change
    assert denied.is_negative
    assert read_statement("?!") == ()


def test_a_member_is_known_by_name_whatever_its_ending() -> None:
    people = {"james": "james", "mary": "mary", "anne": "anne", "lee-anne": "lee", "mum": "anne"}
    for name in ("James", "Mary", "Anne"):
        subject, _ = subject_of(f"{name} is allergic to nuts", speaker="leo", people=people)
        assert subject == name.casefold()
    assert subject_of("My mum likes tea", speaker="anne", people=people)[0] == "anne/mother"


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ("Gran is in room 7", "They've put Gran in room 31 now", Relation.UPDATE),
        ("Nils takes the 8 tram", "Nils's tram is the 11 now", Relation.UPDATE),
        ("I have choir on Tuesday", "My choir got pushed to Thursday", Relation.UPDATE),
        ("Ole is on penicillin", "Ole's finished his penicillin", Relation.UPDATE),
        ("Mia plays the flute", "Mia has swapped the flute for the oboe", Relation.UPDATE),
        (
            "We're going to Corfu in May",
            "We're not going to Corfu, we booked Malta",
            Relation.UPDATE,
        ),
        ("I can't have dairy", "I can have dairy again", Relation.UPDATE),
        ("The gym is 20 a month", "The phone is 25 a month now", Relation.OTHER),
        ("We have a golf", "I sold my golf clubs", Relation.OTHER),
        ("Ole takes two pills at night", "Ole takes one drop in the morning", Relation.OTHER),
        ("Bea plays right wing", "Bea plays left wing and sings", Relation.OTHER),
        ("The club meets at the mill", "The club is held at the mill", Relation.SAME),
    ],
)
def test_free_words_are_compared_where_no_slot_tells(
    old: str, new: str, relation: Relation
) -> None:
    assert relate(old, new).relation is relation
