"""Why something is wanted is no part of what is wanted, wherever it stands."""

import pytest

from kinkeeper.conversation.planning.clauses import thing_missing, wanted_of
from kinkeeper.conversation.planning.grammar import load_grammar
from planning import exchange, plan, planned


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("remind me to ring the vet because the cat is limping", "remind me to ring the vet"),
        ("put candles on the list as we've none left", "put candles on the list"),
        ("remind Sarah to lock up since we leave early", "remind Sarah to lock up"),
        ("since the oven is broken, add pizza to the list", "add pizza to the list"),
        ("Leo tore his trousers so add trousers to the list", "add trousers to the list"),
        ("the hamster has fleas, put flea powder on the list", "put flea powder on the list"),
        ("the mixer is broken so put one on the list", "put mixer on the list"),
        ("Mia ate the last of the honey, add some more to the list", "add honey to the list"),
    ],
)
def test_a_reason_is_left_out(text: str, wanted: str) -> None:
    assert wanted_of(text, load_grammar()) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "email Bob that we are late because the train broke down",
        "remind me to tell gran we can't come because Leo is ill",
        "if it rains, add umbrellas to the list",
        "when the bread is gone, add some to the list",
        "Sarah says Leo is ill, add tissues to the list",
        "call gran as soon as you can",
        "add milk to the list so that we can bake",
        "the neighbours were loud so add one to the list",
    ],
)
def test_what_is_more_than_a_reason_stays(text: str) -> None:
    assert wanted_of(text, load_grammar()) == text


def test_what_is_missing_is_what_one_stands_for() -> None:
    assert thing_missing("Leo has lost his library card", load_grammar()) == "library card"
    assert thing_missing("we had a lovely day", load_grammar()) is None


def test_a_sentence_is_no_line_of_a_list() -> None:
    assert planned("the neighbours were loud so add one to the list") == []


def test_what_keeps_somebody_away_is_what_takes_place() -> None:
    ((name, params),) = planned("put me down as out on friday, I'm at the notary 10 to 12")

    assert (name, params["summary"], params["who"]) == ("calendar.create_event", "notary", ["john"])
    assert (params["start_time"][:16], params["end_time"][:16]) == (
        "2026-03-13T10:00",
        "2026-03-13T12:00",
    )


@pytest.mark.parametrize(
    "text", ["I'm at the office till 8 on friday, put that in", "add choir until 9 on friday"]
)
def test_of_what_only_ends_it_is_asked_when_it_begins(text: str) -> None:
    asked = plan(text)

    assert not asked.actions
    assert asked.partial is not None
    assert asked.partial["missing"] == "start_time"
    assert str(asked.partial["params"]["end_time"]).startswith("2026-03-13T")


def test_when_it_begins_is_on_the_day_of_its_end() -> None:
    first = plan("I'm at the office till 8 on friday, put that in")

    ((_, params),) = planned("from 5", history=[exchange("", partial=first.partial)])

    assert (params["start_time"][:16], params["end_time"][:16]) == (
        "2026-03-13T17:00",
        "2026-03-13T20:00",
    )
