"""A job that nobody took within the hour is taken by whoever points at it or names it; a mere yes comes too late."""

from collections.abc import Iterator

import pytest

from family_chat import Chat, chat


@pytest.fixture
def miller() -> Iterator[Chat]:
    with chat() as family:
        yield family


ASKED = ("Mon 2026-03-02 08:00", "sarah", "who can take Mia to swim on Saturday?")


def test_hours_later_the_named_job_is_taken(miller: Chat) -> None:
    miller.say(*ASKED)
    line = miller.say("Mon 2026-03-02 12:30", "john", "I'll take Mia to swim")
    assert line["extraction"]["assigned_to"] == ["john"]
    assert line["extraction"]["dates"] == ["2026-03-07"]
    [card] = miller.pending("Mon 2026-03-02 12:31")
    assert card.proposal.extraction["assigned_to"] == ["john"]


def test_hours_later_a_reply_to_the_question_takes_it(miller: Chat) -> None:
    asked = miller.say(*ASKED)
    line = miller.say("Mon 2026-03-02 12:30", "john", "me", reply_to=asked["message_id"])
    assert line["attribution_source"] == asked["message_id"]
    assert line["extraction"]["assigned_to"] == ["john"]


def test_hours_later_a_mere_yes_takes_nothing(miller: Chat) -> None:
    miller.say(*ASKED)
    miller.say("Mon 2026-03-02 12:30", "john", "sure")
    [card] = miller.pending("Mon 2026-03-02 12:31")
    assert card.proposal.extraction["assigned_to"] == ["unspecified"]


def test_what_was_to_be_done_yesterday_is_taken_by_nobody(miller: Chat) -> None:
    asked = ("Mon 2026-03-02 21:00", "sarah", "who can take Mia to ballet tonight?")
    source = miller.say(*asked)
    line = miller.say("Tue 2026-03-03 08:30", "john", "I'll take Mia to ballet tomorrow")
    assert line["attribution_source"] != source["message_id"]
