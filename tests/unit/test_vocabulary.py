"""The words of a household, and who is meant by a sender."""

from pathlib import Path

import pytest

from kinkeeper.household.file import load_household, parse_household
from kinkeeper.household.model import Household, resolve_sender
from kinkeeper.household.name_folding import fold, slugify
from kinkeeper.household.vocabulary import (
    Vocabulary,
    WordKind,
    compile_vocabulary,
    generic_activities,
    plural,
)

HOUSEHOLDS = Path(__file__).parents[1] / "households"
MILLER = Path(__file__).parents[2] / "examples/miller/household.toml"


def family(*children: str, more: str = "") -> Household:
    members = "".join(
        f'[[members]]\nid = "c{number}"\nname = "{name}"\nrole = "child"\n'
        for number, name in enumerate(children)
    )
    head = '[household]\nid = "h"\ntimezone = "UTC"\n[[members]]\nid = "pa"\nname = "Pa"\nrole = "parent"\n'
    return parse_household(head + members + more, "h.toml")


def named(household: str) -> tuple[Household, Vocabulary]:
    loaded = load_household(HOUSEHOLDS / f"{household}.toml")
    return loaded, compile_vocabulary(loaded)


def meant(vocabulary: Vocabulary, word: str) -> list[tuple[str, str]]:
    return [(entry.kind, entry.id) for entry in vocabulary.meanings(word)]


def who(vocabulary: Vocabulary, word: str) -> tuple[str, ...]:
    (entry,) = vocabulary.meanings(word)
    return vocabulary.members_of(entry.kind, entry.id)


def test_everything_in_the_file_has_its_words() -> None:
    vocabulary = compile_vocabulary(load_household(MILLER))
    for word, kind, entry_id in [
        ("Leo", "child", "leo"),
        ("daddy", "adult", "john"),
        ("football practice", "activity", "soccer"),
        ("Westside  Park", "place", "westside-park"),
        ("westside-park", "place", "westside-park"),
        ("Honda Civic", "resource", "civic"),
        ("after school", "named_time", "after-school"),
        ("after-school", "named_time", "after-school"),
        ("honda civic service", "maintenance", "civic-service"),
    ]:
        assert meant(vocabulary, word) == [(kind, entry_id)]


def test_activity_takes_the_other_forms_of_what_families_call_it() -> None:
    vocabulary = compile_vocabulary(load_household(MILLER))
    assert meant(vocabulary, "swimming") == meant(vocabulary, "swim") == [("activity", "swim")]
    assert meant(vocabulary, "football practices") == [("activity", "soccer")]
    assert vocabulary.generic_activity("swimming") is None


def test_ordinary_words_stand_for_an_activity_only_where_the_family_has_it() -> None:
    assert meant(compile_vocabulary(family("Bo")), "swim") == []
    assert meant(compile_vocabulary(family("Bo")), "swimming") == [("generic_activity", "swimming")]


def test_generic_words_give_way_to_the_file() -> None:
    own = family("Bo", more='[[activities]]\nid = "maths"\naliases = ["tuition", "dentist"]\n')
    vocabulary = compile_vocabulary(own)
    assert meant(vocabulary, "tuition") == meant(vocabulary, "dentist") == [("activity", "maths")]
    assert meant(vocabulary, "tutoring") == [("generic_activity", "tutoring")]
    assert meant(vocabulary, "dental appointment") == [("generic_activity", "dentist")]


def test_words_for_all_children() -> None:
    two = compile_vocabulary(family("Ann", "Ben"))
    assert who(two, "the kids") == who(two, "both") == who(two, "both kids") == ("c0", "c1")
    three = compile_vocabulary(family("Ann", "Ben", "Cy"))
    assert who(three, "all three") == who(three, "children") == ("c0", "c1", "c2")
    assert three.meanings("both") == ()


def test_son_and_daughter_mean_somebody_only_where_there_is_one_child() -> None:
    assert who(compile_vocabulary(family("Ann")), "my son") == ("c0",)
    assert who(compile_vocabulary(family("Ann", "Ben")), "my son") == ()


def test_group_words_mean_nobody_until_the_file_says_who() -> None:
    assert who(compile_vocabulary(family("Ann", "Ben")), "boys") == ()
    _, vocabulary = named("okafor-bennett")
    assert who(vocabulary, "the boys") == who(vocabulary, "boys") == ("will", "hunter", "chidi")
    assert who(vocabulary, "the lads") == who(vocabulary, "lads") == ("will", "hunter", "chidi")
    assert who(vocabulary, "girls") == ("may", "rose")
    assert who(vocabulary, "twins") == ()


def test_accents_and_scripts() -> None:
    _, tremblay = named("tremblay")
    assert meant(tremblay, "NOEMIE") == meant(tremblay, "Noémie") == [("child", "noemie")]
    assert meant(tremblay, "grand maman") == [("adult", "helene")]
    _, iyer = named("iyer")
    assert meant(iyer, "आरव") == [("child", "aarav")]
    assert meant(iyer, "தாத்தா") == [("adult", "thatha")]


def test_alias_that_is_a_pronoun_without_its_accent_keeps_it() -> None:
    _, vocabulary = named("nguyen-sato")
    assert meant(vocabulary, "mẹ") == [("adult", "linh")]
    assert vocabulary.meanings("me") == ()


def test_first_names_stand_alone_where_one_member_has_them() -> None:
    _, vocabulary = named("clarke")
    assert meant(vocabulary, "deirdre") == [("adult", "dee")]
    two = family("Sam Fox", "Sam Lee", "Dr. Ray")
    assert compile_vocabulary(two).meanings("sam") == ()
    assert compile_vocabulary(two).meanings("dr.") == ()


def test_word_for_two_members_means_both() -> None:
    twice = compile_vocabulary(family("Sam", "Sam"))
    assert meant(twice, "sam") == [("child", "c0"), ("child", "c1")]


@pytest.mark.parametrize("path", sorted(HOUSEHOLDS.glob("*.toml")), ids=lambda path: path.stem)
def test_no_word_of_a_household_is_also_generic(path: Path) -> None:
    vocabulary = compile_vocabulary(load_household(path))
    kinds = (WordKind.CHILD, WordKind.ADULT, WordKind.GROUP, WordKind.ACTIVITY)
    own = {
        fold(word) for kind in kinds for entry in vocabulary.of_kind(kind) for word in entry.words
    }
    generic = [fold(word) for entry in vocabulary.generic for word in entry.words]
    assert not own & set(generic)
    assert len(generic) == len(set(generic))


def test_generic_words_are_sound() -> None:
    everything = [word for one in generic_activities() for word in (*one.words, *one.forms)]
    assert len(everything) == len(set(everything))
    assert all(word == fold(word) or fold(word) in everything for word in everything)
    assert all(0 < one.minutes <= 24 * 60 for one in generic_activities())
    by_name = {one.name: one for one in generic_activities()}
    assert by_name["dentist"].is_appointment
    assert not by_name["practice"].is_appointment
    for word in ("lesson", "recital", "early dismissal", "playdate", "parents evening", "haircut"):
        assert word in by_name


@pytest.mark.parametrize(
    ("word", "several"),
    [
        ("class", "classes"),
        ("match", "matches"),
        ("birthday party", "birthday parties"),
        ("play day", "play days"),
        ("lesson", "lessons"),
        ("tutoring", "tutoring"),
        ("drums", "drums"),
    ],
)
def test_plural(word: str, several: str) -> None:
    assert plural(word) == several


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Zoë", "zoe"),
        ("SØREN  Ł.", "soren l."),
        ("O’Neil", "o'neil"),
        ("Straße", "strasse"),
        ("がく", "がく"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_slugify() -> None:
    assert slugify("O'Connor & Søn!") == "oconnor-son"
    assert not slugify("佐藤")


def test_sender_by_id_name_alias_or_telegram_id() -> None:
    household, _ = named("tremblay")
    for sender in ("helene", "HÉLÈNE", " Hélène ", "memere", "@helene"):
        member = resolve_sender(household, sender)
        assert member is not None
        assert member.id == "helene"
    miller = load_household(MILLER)
    assert resolve_sender(miller, "1002") == miller.member("sarah")
    assert resolve_sender(miller, "None") is None
    assert resolve_sender(miller, "") is None
    assert resolve_sender(miller, "Grandpa") is None


def test_sender_that_may_be_two_people_is_nobody() -> None:
    household = parse_household(
        '[household]\nid = "h"\ntimezone = "UTC"\n'
        '[[members]]\nid = "sam"\nname = "Sam"\nrole = "parent"\n'
        '[[members]]\nid = "sam-2"\nname = "Sam"\nrole = "child"\n',
        "h.toml",
    )
    assert resolve_sender(household, "Sam") is None
    assert resolve_sender(household, "sam") == household.member("sam")
