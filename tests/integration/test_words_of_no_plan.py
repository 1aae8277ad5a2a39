"""In a group, from whom something is kept takes no part in it, and a medicine is no slip of another word."""

import pytest

from family_chat import chat
from kinkeeper.language.lexicon import Lexicon, Term
from kinkeeper.language.text import tokenise
from kinkeeper.reading.asked import care_words

PLANS = ("my scan is on Thursday at 9am", "hospital check on Friday at 2pm")
WISHES = ("don't tell Zoë", "Zoë mustn't know", "not a word to Zoë", "please keep it from Zoë")


@pytest.mark.parametrize("plan", PLANS)
def test_from_whom_it_is_kept_takes_no_part(plan: str) -> None:
    wrong = []
    for text in (f"{plan}, {wish}" for wish in WISHES):
        with chat("clarke", tripwire_threshold=0.01) as clarke:
            clarke.say("Wed 2026-03-04 10:00", "dee", text)
            wrong += [
                each.proposal.summary
                for each in clarke.actions()
                if "Zo" in str(each.proposal.effects) + each.proposal.summary
            ]
    assert not wrong


def test_who_is_named_with_the_plan_takes_part() -> None:
    with chat("clarke", tripwire_threshold=0.01) as clarke:
        clarke.say(
            "Wed 2026-03-04 10:00", "dee", "Zoë has a scan on Thursday at 9am, don't tell Nan"
        )
        (card,) = clarke.actions()
        assert "Zoë" in card.proposal.summary


def test_a_word_for_care_is_a_slip_of_no_other() -> None:
    terms = [Term("generic", "carpool", ("carpool",)), Term("activity", "pirates", ("piraton",))]
    guarded, plain = Lexicon(terms, care_words()), Lexicon(terms)
    for medicine in ("calpol", "piriton"):
        assert plain.find(tokenise(f"gave Zoë {medicine} at 2"))
        assert not guarded.find(tokenise(f"gave Zoë {medicine} at 2"))
    for slip in ("carpol", "carpooll", "piratton"):
        assert guarded.find(tokenise(f"Zoë has {slip} at 2"))
