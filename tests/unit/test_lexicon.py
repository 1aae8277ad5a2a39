import pytest

from kinkeeper.language.lexicon import Lexicon, Term
from kinkeeper.language.text import tokenise

LEXICON = Lexicon(
    [
        Term("child", "leo", ("Leo",)),
        Term("child", "zoe", ("Zoë",)),
        Term("child", "will", ("Will",)),
        Term("child", "may", ("May",)),
        Term("child", "grace", ("Grace",)),
        Term("child", "ming", ("小明",)),
        Term("adult", "sam", ("Sam", "Mum")),
        Term("adult", "sam-b", ("Sam",)),
        Term("group", "garcia", ("the Garcias",)),
        Term("activity", "art", ("art",)),
        Term("activity", "swim", ("Swim",)),
        Term("activity", "soccer", ("soccer", "⚽")),
        Term("generic_activity", "lesson", ("lesson",)),
        Term("generic_activity", "pickup", ("pickup",)),
        Term("place", "park", ("the park",)),
        Term("place", "west", ("Westside Park",)),
        Term("place", "mary", ("St. Mary's",)),
    ]
)


def found(message: str) -> list[tuple[str, str]]:
    return [(mention.id, mention.surface) for mention in LEXICON.find(tokenise(message))]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("leo's cleats", [("leo", "leo's")]),
        ("LEOS cleats", [("leo", "LEOS")]),
        ("Leo’ll walk", [("leo", "Leo’ll")]),
        ("zoe and ZOË", [("zoe", "zoe"), ("zoe", "ZOË")]),
        ("at the Garcias' house", [("garcia", "the Garcias")]),
        (
            "pick-up, pick up, Pickup",
            [("pickup", "pick-up"), ("pickup", "pick up"), ("pickup", "Pickup")],
        ),
        ("westside-park or westsidepark", [("west", "westside-park"), ("west", "westsidepark")]),
        ("meet at St Marys", [("mary", "St Marys")]),
        ("swimming lessons", [("swim", "swimming"), ("lesson", "lessons")]),
        ("⚽ at 4", [("soccer", "⚽")]),
        ("今天小明有课", [("ming", "小明")]),
        ("see http://leo.com/soccer", []),
    ],
)
def test_finds_terms_however_they_are_typed(message: str, expected: list[tuple[str, str]]):
    assert found(message) == expected


def test_longest_term_wins_and_slips_are_marked():
    mentions = LEXICON.find(tokenise("socer at the westside park"))
    assert [(mention.id, mention.is_misspelt) for mention in mentions] == [
        ("soccer", True),
        ("west", False),
    ]


def test_a_shared_name_gives_a_mention_of_each():
    assert found("Sam can") == [("sam", "Sam"), ("sam-b", "Sam")]


@pytest.mark.parametrize(
    "message",
    [
        "I will get it",
        "we may be late",
        "in May 5",
        "and May 5 is fine",
        "we say grace",
        "will you come",
        "the art of cooking",
        "Will it rain?",
        "WE WILL BE LATE",
    ],
)
def test_everyday_words_are_not_names(message: str):
    assert found(message) == []


@pytest.mark.parametrize(
    ("message", "who"),
    [
        ("can you get will from school", "will"),
        ("Will has a cold", "will"),
        ("I think Will is asleep", "will"),
        ("will's shoes", "will"),
        ("May needs new shoes", "may"),
        ("dad takes may to art", "may"),
        ("get Leo and May at 5", "may"),
        ("May and Leo have art", "may"),
        ("grace and leo are here", "grace"),
        ("leo has art", "art"),
        ("art class moved", "art"),
        ("art 4pm", "art"),
    ],
)
def test_everyday_words_beside_a_cue_are_names(message: str, who: str):
    assert who in [term for term, _ in found(message)]


@pytest.mark.parametrize("text", ["she'll be late", "I've got a call", "we'll see", "we're off"])
def test_a_verb_that_is_shortened_is_nobodys_name(text: str) -> None:
    names = [Term("child", word, (word.capitalize(),)) for word in ("shell", "ive", "well", "were")]
    assert Lexicon(names).find(tokenise(text)) == ()


@pytest.mark.parametrize(
    "text",
    ["Sunday please drop them", "sunday you will take Ann", "ask Sunday", "ok Sunday pick Ann"],
)
def test_who_is_called_like_a_day_is_somebody_where_they_are_spoken_to(text: str) -> None:
    lexicon = Lexicon([Term("adult", "sunday", ("Sunday",)), Term("child", "ann", ("Ann",))])
    assert "sunday" in [mention.id for mention in lexicon.find(tokenise(text))]


@pytest.mark.parametrize("text", ["see you on Sunday", "party this sunday", "I'm off Sunday at 4"])
def test_a_day_of_the_week_stays_a_day(text: str) -> None:
    lexicon = Lexicon([Term("adult", "sunday", ("Sunday",))])
    assert lexicon.find(tokenise(text)) == ()
