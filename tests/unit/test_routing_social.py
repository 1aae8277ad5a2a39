"""A message leaves by the social exit only as a whole; whatever asks for something goes on."""

import pytest

from kinkeeper.conversation.model import Social
from kinkeeper.conversation.routing.clause_words import clauses_of
from kinkeeper.conversation.routing.intent import read_social


@pytest.mark.parametrize(
    ("text", "social"),
    [
        ("hi", Social.ACKNOWLEDGE),
        ("Good evening!", Social.ACKNOWLEDGE),
        ("Hey, how's it going?", Social.ACKNOWLEDGE),
        ("thaaanks sooo much!! 🙏", Social.ACKNOWLEDGE),
        ("Thank you for sorting that out, Priya", Social.ACKNOWLEDGE),
        ("perfect, that's all I needed", Social.ACKNOWLEDGE),
        ("👍", Social.ACKNOWLEDGE),
        ("see you tomorrow", Social.ACKNOWLEDGE),
        ("never mind", Social.CANCEL),
        ("actually, forget it", Social.CANCEL),
        ("no thanks", Social.CANCEL),
        ("👎", Social.CANCEL),
        ("sorted it out myself", Social.IGNORE),
        ("it works again now", Social.IGNORE),
        ("", Social.IGNORE),
        (" \n\t ", Social.IGNORE),
        ("...", Social.IGNORE),
    ],
)
def test_wholly_social_messages_leave(text: str, social: Social) -> None:
    assert read_social(text) is social


@pytest.mark.parametrize(
    "text",
    [
        "hey, add milk to my list",
        "got it, now book it",
        "I found that the server crashes, please check",
        "cancel the dentist reminder",
        "thanks, and what about Friday?",
        "thank you for adding eggs, now add flour",
        "good morning, is there school today?",
        "hi I'm Tomasz",
        "forget that I said I like fish",
        "cancel everything tomorrow",
        "stop reminding me",
        "never mind the dentist, book the vet",
        "ok so who takes her",
        "no, on Friday",
        "yes, the second one",
        "see you at 5",
        "?",
        "ok?",
        "how is mom?",
        "cancel that one",
        "cancel my lesson",
        "undo",
        "https://example.com/thanks",
    ],
)
def test_whatever_asks_or_tells_something_goes_on(text: str) -> None:
    assert read_social(text) is None


def test_a_yes_to_an_offer_goes_on_and_a_no_leaves():
    assert read_social("yes please") is Social.ACKNOWLEDGE
    assert read_social("yes please", is_offered=True) is None
    assert read_social("no thanks", is_offered=True) is Social.CANCEL


def test_cancelling_it_goes_on_where_there_is_something_to_cancel():
    assert read_social("Actually, cancel it") is Social.CANCEL
    assert read_social("Actually, cancel it", has_referent=True) is None
    assert read_social("never mind that", has_referent=True) is Social.CANCEL


def test_the_assistant_s_name_says_nothing():
    assert read_social("thanks Zebedee", names=["Zebedee"]) is Social.ACKNOWLEDGE
    assert clauses_of("Zebedee, add milk", ["Zebedee"]) == (("add", "milk"),)


def test_a_long_message_is_never_social():
    assert read_social("thanks " * 100) is None


@pytest.mark.parametrize("text", ["whats on it", "wheres that", "whens it"])
def test_a_question_typed_without_marks_is_no_courtesy(text: str) -> None:
    assert read_social(text, has_referent=True) is None


@pytest.mark.parametrize("text", ["what's today", "whats the date today", "when's tomorrow's"])
def test_a_question_of_a_day_is_no_small_talk(text: str) -> None:
    assert read_social(text) is None


@pytest.mark.parametrize("text", ["how are you today", "how's it going", "what's up"])
def test_small_talk_stays_small_talk(text: str) -> None:
    assert read_social(text) is not None
