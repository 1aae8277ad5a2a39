"""What somebody says of themselves bears on nothing that another says of themselves, in whatever words."""

from itertools import product

import pytest

from kinkeeper.language.text import unaccented
from kinkeeper.memory.model import Category
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.memory.statements.relation import Relation, relate
from kinkeeper.reading.coreference import names_written
from live_household import MONDAY
from memory_chains import Said, memory, say, state

HELD = {"active", "pending_embed"}


@pytest.mark.parametrize(
    ("johns", "sarahs"),
    [
        ("I love jazz.", "I love jazz."),
        ("My car is a Volvo.", "I no longer have the Volvo."),
        ("I live in Derby.", "I no longer live in Derby."),
        ("I no longer live in Derby.", "I live in Derby now."),
        ("I have to take the bins out.", "I no longer have to take the bins out."),
    ],
)
def test_what_two_say_of_themselves_stands_side_by_side(johns: str, sarahs: str) -> None:
    with memory() as conn:
        for day, (text, member) in enumerate(((johns, "john"), (sarahs, "sarah"))):
            say(conn, day, Said(text=text, day=day, member=member, category=Category.PREFERENCE))
        assert sorted(row[0] for row in state(conn) if row[2] in HELD) == sorted([johns, sarahs])


def test_what_two_say_of_their_house_is_one_fact() -> None:
    with memory() as conn:
        for day, member in enumerate(("john", "sarah")):
            say(conn, day, Said(text="The bins go out on Tuesday.", day=day, member=member))
        assert [row[5] for row in state(conn)] == [2]


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ("I don't like tennis any more.", "I love tennis.", Relation.UPDATE),
        ("Leo no longer goes to Ashfield.", "Leo goes to Ashfield.", Relation.UPDATE),
        ("I live in Bath.", "I no longer live in Leeds.", Relation.OTHER),
        ("I live in Hull.", "I am staying in Porto until Friday.", Relation.OTHER),
        ("I'm staying with Mum for a week.", "I'm staying in Oslo till May.", Relation.UPDATE),
        ("Our rent is £900.", "We no longer have a rent of £700.", Relation.OTHER),
        ("My rent is £900.", "My rent is £950.", Relation.UPDATE),
        ("Our food budget is €140 a week.", "Our food budget is 140 euros a week.", Relation.SAME),
    ],
)
def test_relation(old: str, new: str, relation: Relation) -> None:
    assert relate(old, new).relation is relation


PEOPLE = ("tobi", "freja", "kit", "will", "zoë")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("tobi's locker is 218", "Tobi's locker is 218"),
        ("the blazer is tobi's", "the blazer is Tobi's"),
        ("dinner for freja and kit", "dinner for Freja and Kit"),
        ("zoë likes figs", "Zoë likes figs"),
        ("kit naps from 1 to 2", "Kit naps from 1 to 2"),
        ("gave kit 5ml calpol", "gave Kit 5ml calpol"),
        ("shoe size of will is 40", "shoe size of Will is 40"),
        # A word for something else stays one.
        ("the kit is in the car", "the kit is in the car"),
        ("my kit's in the wash", "my kit's in the wash"),
        ("the judo kit is dirty", "the judo kit is dirty"),
        ("we will see", "we will see"),
        ("TOBI is here", "TOBI is here"),
        ("tobias and frejas are no members", "tobias and frejas are no members"),
    ],
)
def test_a_known_name_is_one_however_it_was_typed(text: str, written: str) -> None:
    assert names_written(text, {unaccented(each) for each in PEOPLE}) == written


CHILDREN = (
    "Emeka got new glasses.",
    "Tove is learning the guitar.",
    "We are home, Mia has a cold.",
)
OWNERS = (
    "my boss",
    "my friend",
    "our lodger",
    "the cat",
    "the babysitter",
    "our neighbour",
    "Granny's new nurse",
    "Tove's boyfriend",
    "Emeka's carer",
    "the neighbour's dog",
)
INTRODUCED = (
    "{}'s name is Frodwin and {}",
    "{} is called Frodwin and {}",
    "{} is Frodwin, {}",
    "{} Frodwin came over and {}",
    "Frodwin, {}, rang and {}",
    "I met {}. {}",
    "I spoke to {} Frodwin at the gate, {}",
    "we have a guest, {}. {}",
    "there is {} and a friend of Tove's. {}",
)
OF_THEM = ("has cancer", "takes lithium every evening", "is allergic to nuts", "lives in Harwich")


def _told(text: str, before: str) -> list[str]:
    found = observe(text, said_at=MONDAY, previous=[before], people={"emeka", "tove", "mia"})
    return [each.narrative for each in found]


@pytest.mark.parametrize("before", CHILDREN)
def test_a_pronoun_means_nobody_of_an_earlier_message_where_its_own_speaks_of_somebody(
    before: str,
) -> None:
    wrong = [
        (text, told)
        for owner, form, pronoun, fact in product(OWNERS, INTRODUCED, ("he", "she"), OF_THEM)
        for text in (form.format(owner, f"{pronoun} {fact}"),)
        for told in _told(text, before)
        if fact in told and told.split()[0] in {"Emeka", "Tove", "Mia"}
    ]
    assert wrong == [], (len(wrong), wrong[:10])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("He needs them for school", "Emeka needs them for school"),
        ("Got the new prescription, she takes it at night", "Emeka takes it at night"),
        ("His teacher is Ms Boyle", "Emeka's teacher is Ms Boyle"),
        ("Tove plays the harp. She loves it", "Tove loves it"),
        ("I spoke to Tove. She loves the harp", "Tove loves the harp"),
        ("My sister is a nurse. She lives in Hull", "My sister lives in Hull"),
        ("The vet is Dr Roe. She works in Hull", "Dr Roe works in Hull"),
        (
            "My friend and a neighbour came. She has epilepsy",
            "My friend and a neighbour came. She has epilepsy",
        ),
    ],
)
def test_a_pronoun_means_the_one_who_was_spoken_of_last(text: str, told: str) -> None:
    assert told in _told(text, "Emeka got new glasses.")
