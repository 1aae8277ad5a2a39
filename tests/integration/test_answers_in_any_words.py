"""Who answers an open question in words that name no job: taken by the form of it, and never by who only talks on."""

import pytest

from family_chat import chat

ASKED = ("who can take Mia to swim on Saturday?", "can someone water the garden tonight?")


def _answered(question: str, answer: str) -> bool:
    with chat() as family:
        asked = family.say("Mon 2026-03-02 08:00", "sarah", question)
        line = family.say("Mon 2026-03-02 08:07", "john", answer)
    is_linked = line["attribution_source"] == asked["message_id"]
    return is_linked and line["extraction"]["assigned_to"] == ["john"]


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize(
    "answer",
    [
        "I'll swap with Priya and do it",
        "that'll be me then",
        "put my name on it",
        "guess I'm driving",
        "if nobody else can I will",
        "I'll nip out of work for it",
        "I'd better then",
        "consider me there",
        "yes but only till 6",
    ],
)
def test_whoever_says_in_any_words_that_they_will_has_it(question: str, answer: str) -> None:
    assert _answered(question, answer)


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize(
    "answer",
    [
        "I'll ask mum",
        "let me check",
        "I'll be late tonight",
        "I'll call you later",
        "she loves swimming",
        "I'm in meetings all day",
        "wish I could",
    ],
)
def test_whoever_only_talks_on_has_nothing(question: str, answer: str) -> None:
    assert not _answered(question, answer)


def test_what_was_only_announced_is_taken_by_a_claim_and_not_by_a_yes() -> None:
    told = "chimney man coming tomorrow between 2 and 4"
    assert _answered(told, "I'll be in")
    assert _answered(told, "I'll nip out of work for it")
    assert not _answered(told, "ok")
    assert not _answered(told, "lovely, thanks")
