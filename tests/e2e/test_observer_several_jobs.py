"""Several jobs in one message, and jobs asked for anew: whose they are once somebody has answered."""

from collections.abc import Iterator

import pytest

from family_chat import Chat, chat, iso

AT = "Wed 2026-03-04 20:00"
BOTH = "Can you take Mia to ballet on Monday and Leo to soccer on Tuesday?"


@pytest.fixture
def family() -> Iterator[Chat]:
    with chat() as opened:
        yield opened


def jobs(family: Chat) -> dict[str, list[str]]:
    """Return who has which activity, of all open cards."""
    records = [action.proposal.extraction for action in family.pending(AT)]
    assert len({record["activity"] for record in records}) == len(records)
    return {record["activity"]: record["assigned_to"] for record in records}


NOBODY = ["unspecified"]


@pytest.mark.parametrize("answer", ["yes", "yep both", "I'll do both", "👍"])
def test_a_yes_that_names_none_of_the_jobs_takes_all(family: Chat, answer: str) -> None:
    asked = family.say("Wed 2026-03-04 18:00", "sarah", BOTH)
    line = family.say("Wed 2026-03-04 18:20", "john", answer)
    assert line["attribution_source"] == asked["message_id"]
    assert jobs(family) == {"ballet": ["john"], "soccer": ["john"]}
    assert family.spoken() == []


def test_an_answer_that_names_one_job_leaves_the_other_open(family: Chat) -> None:
    asked = family.say("Wed 2026-03-04 18:00", "sarah", BOTH)
    family.say("Wed 2026-03-04 18:05", "john", "I'll do soccer")
    assert jobs(family) == {"ballet": NOBODY, "soccer": ["john"]}
    second = family.say("Wed 2026-03-04 18:06", "john", "and ok I'll take Mia too")
    assert second["attribution_source"] == asked["message_id"]
    assert jobs(family) == {"ballet": ["john"], "soccer": ["john"]}


def test_never_mind_takes_back_all_that_the_message_asked(family: Chat) -> None:
    family.say("Wed 2026-03-04 18:00", "sarah", BOTH)
    family.say("Wed 2026-03-04 18:02", "sarah", "never mind")
    assert jobs(family) == {}
    family.say("Wed 2026-03-04 18:03", "john", "I'll do it")
    assert jobs(family) == {}


def test_activities_with_days_of_their_own_are_jobs_of_their_own(family: Chat) -> None:
    family.say("Wed 2026-03-04 18:00", "sarah", "Ballet on Monday, soccer on Tuesday. One each?")
    assert jobs(family) == {"ballet": NOBODY, "soccer": NOBODY}
    assert family.spoken() == []


def test_one_for_the_other_is_an_exchange(family: Chat) -> None:
    family.say("Wed 2026-03-04 18:00", "sarah", "if I do ballet monday can you do soccer tuesday?")
    family.say("Wed 2026-03-04 18:03", "john", "deal")
    assert jobs(family) == {"ballet": ["sarah"], "soccer": ["john"]}


def test_who_asks_somebody_else_to_do_their_job_is_out_of_it(family: Chat) -> None:
    family.say("Wed 2026-03-04 08:00", "john", "I'll pick Leo up from soccer on Tuesday")
    family.say("Wed 2026-03-04 15:00", "john", "Tuesday won't work, can somebody fetch Leo?")
    assert jobs(family) == {"soccer": NOBODY}
    family.say("Wed 2026-03-04 15:10", "sarah", "yep got it")
    assert jobs(family) == {"soccer": ["sarah"]}
    [card] = family.pending(AT)
    assert card.proposal.extraction["dates"] == iso("Tue 2026-03-10")
    assert family.spoken() == []


def test_when_the_one_asked_declines_anybody_may_say_yes() -> None:
    with chat("clarke") as family:
        family.say("Wed 2026-03-04 18:00", "nan", "Dee, can you take Zoë to gymnastics on Friday?")
        family.say("Wed 2026-03-04 18:02", "dee", "can't")
        line = family.say("Wed 2026-03-04 18:04", "sam", "sure")
        assert line["extraction"]["assigned_to"] == ["sam"]


@pytest.mark.parametrize(
    "story", ["no, and then I didn't drop them off", "I didn't pick her up", "He was not there"]
)
def test_what_was_not_done_gives_nothing_up(family: Chat, story: str) -> None:
    family.say("Wed 2026-03-04 18:00", "sarah", "I'll take Mia to ballet on Monday")
    family.say("Wed 2026-03-04 18:10", "sarah", story)
    assert jobs(family) == {"ballet": ["sarah"]}


def test_with_whom_the_sender_is_just_now_is_not_who_is_fetched(family: Chat) -> None:
    line = family.say(
        "Wed 2026-03-04 09:00",
        "sarah",
        "need somebody for Leo's soccer pickup Thursday, still stuck at work with Mia",
    )
    assert line["extraction"]["child"] == ["leo"]


def test_what_keeps_somebody_from_a_job_is_no_booking(family: Chat) -> None:
    line = family.say(
        "Wed 2026-03-04 09:00", "sarah", "I have a haircut on Monday, can you take Mia to ballet?"
    )
    assert line["extraction"]["activity"] == "ballet"
    assert jobs(family) == {"ballet": NOBODY}
