"""Who takes over, hands back, corrects or frees: the earlier card goes along, also once it was confirmed."""

from collections.abc import Iterator

import pytest

from family_chat import Chat, Line, chat
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.receipts import Outcome
from kinkeeper.calendar.model import SourceType
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import Viewer

NOON = "Wed 2026-03-04 12:00"
CLAIM = "I'll take Mia to ballet on Monday"


@pytest.fixture
def family() -> Iterator[Chat]:
    with chat() as opened:
        yield opened


def owners(family: Chat, at: str = NOON) -> list[list[str]]:
    return [action.proposal.extraction["assigned_to"] for action in family.pending(at)]


def responsible(family: Chat) -> list[list[str]]:
    """Return who is in charge of what chat messages put into the event graph and still stands."""
    week = Interval(family.at("Mon 2026-03-02 00:00"), family.at("Mon 2026-03-16 00:00"))
    found = family.store.read_now(
        lambda conn: occurrences_between(conn, Viewer.whole(family.household.id), week)
    )
    return [
        list(each.responsible)
        for each in found
        if each.event.provenance.source_type is SourceType.OBSERVER
    ]


def confirmed(family: Chat, text: str = CLAIM) -> Line:
    line = family.say("Wed 2026-03-04 08:00", "sarah", text)
    receipt = family.confirm("Wed 2026-03-04 08:01", "john", line["action"]["id"])
    assert receipt.outcome is Outcome.DONE
    assert responsible(family) == [["sarah"]]
    return line


# Taking over without repeating what


@pytest.mark.parametrize(
    "words",
    [
        "you rest, I'll take her",
        "stay where you are, I'll bring her",
        "no no, have the evening off, I'll drive her",
        "no need, I'll take her",
        "let me do it",
    ],
)
def test_a_take_over_means_the_claim_just_made(family: Chat, words: str) -> None:
    first = family.say("Wed 2026-03-04 09:00", "sarah", CLAIM)
    second = family.say("Wed 2026-03-04 09:05", "john", words)
    assert family.action(first["action"]["id"]).status is ActionStatus.SUPERSEDED
    job = {key: second["action"][key] for key in ("assigned_to", "child", "activity", "dates")}
    assert job == {
        "assigned_to": ["john"],
        "child": ["mia"],
        "activity": "ballet",
        "dates": ["2026-03-09"],
    }
    assert owners(family, "Wed 2026-03-04 09:05") == [["john"]]
    late = family.confirm("Wed 2026-03-04 09:06", "sarah", first["action"]["id"])
    assert late.outcome is Outcome.SUPERSEDED


def test_a_take_over_does_not_reach_back_to_what_was_said_long_ago(family: Chat) -> None:
    family.say("Wed 2026-03-04 07:00", "sarah", CLAIM)
    family.say("Wed 2026-03-04 12:00", "john", "let me do it")
    assert owners(family) == [["sarah"]]


@pytest.mark.parametrize(
    "words", ["I mean John does", "sorry, I mean John's doing it", "no wait, John is"]
)
def test_who_names_another_right_after_their_claim_corrects_it(family: Chat, words: str) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", CLAIM)
    family.say("Wed 2026-03-04 09:02", "sarah", words)
    assert owners(family, "Wed 2026-03-04 09:02") == [["john"]]


# Offers, and what is left to the other


@pytest.mark.parametrize(
    "words", ["you take her, I'll do dinner", "would you? that'd be lovely", "yes please", "🙏"]
)
def test_an_offer_that_is_accepted_is_its_askers_job(family: Chat, words: str) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", "Shall I get Mia from ballet on Monday?")
    line = family.say("Wed 2026-03-04 09:02", "john", words)
    assert line["attribution_source"] == "m1"
    assert owners(family, "Wed 2026-03-04 09:02") == [["sarah"]]


@pytest.mark.parametrize("words", ["you get her", "thanks!", "that'd be great"])
def test_a_request_is_not_accepted_by_thanks_or_by_handing_it_back(
    family: Chat, words: str
) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", "Can somebody get Mia from ballet on Monday?")
    family.say("Wed 2026-03-04 09:02", "john", words)
    assert owners(family, "Wed 2026-03-04 09:02") == [["unspecified"]]


def test_a_bare_yes_does_not_reach_past_what_somebody_else_has_asked_since(family: Chat) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", "Can somebody get Mia from ballet on Monday?")
    family.say("Wed 2026-03-04 09:01", "leo", "is there any pizza left?")
    yes = family.say("Wed 2026-03-04 09:02", "john", "yeah")
    assert yes["attribution_source"] is None
    plain = family.say("Wed 2026-03-04 09:03", "john", "I'll get her")
    assert plain["attribution_source"] == "m1"


# Freed by another


def test_no_need_in_reply_frees_whoever_claimed(family: Chat) -> None:
    claim = family.say("Wed 2026-03-04 09:00", "sarah", CLAIM)
    line = family.say(
        "Wed 2026-03-04 09:20", "john", "no need, she's at her friend's", reply_to="m1"
    )
    assert line["withdrawn_action"] == claim["action"]["id"]
    assert owners(family) == []


@pytest.mark.parametrize(
    "words",
    [
        "Sarah you're off the hook Monday, ballet finishes with a party",
        "no need to take Mia on Monday, her friend's dad drives them",
    ],
)
def test_a_release_that_names_the_day_frees_whoever_claimed_it(family: Chat, words: str) -> None:
    claim = family.say("Wed 2026-03-04 09:00", "sarah", CLAIM)
    other = family.say("Wed 2026-03-04 09:01", "sarah", "I'll pick up Leo tomorrow at 5:30pm")
    line = family.say("Wed 2026-03-04 11:00", "john", words)
    assert line["withdrawn_action"] == claim["action"]["id"]
    assert line["redline_decision"] == "SILENT"
    assert [action.id for action in family.pending(NOON)] == [other["action"]["id"]]


def test_no_need_after_another_question_frees_nobody(family: Chat) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", CLAIM)
    family.say("Wed 2026-03-04 09:01", "sarah", "should we bring cake?")
    family.say("Wed 2026-03-04 09:02", "john", "no need")
    assert owners(family) == [["sarah"]]


# Taking back, and setting right


def test_never_mind_takes_the_answers_to_ones_question_along(family: Chat) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", "Can somebody get Mia from ballet on Monday?")
    answer = family.say("Wed 2026-03-04 09:02", "john", "sure")
    line = family.say("Wed 2026-03-04 09:10", "sarah", "nvm")
    assert line["withdrawn_action"] == answer["action"]["id"]
    assert owners(family) == []


@pytest.mark.parametrize("words", ["scratch that, the Honda broke down", "ignore me, wrong week"])
def test_a_taken_back_claim_may_have_a_reason_and_be_ones_last_word(
    family: Chat, words: str
) -> None:
    claim = family.say("Wed 2026-03-04 09:00", "sarah", CLAIM)
    line = family.say("Wed 2026-03-04 11:30", "sarah", words)
    assert line["withdrawn_action"] == claim["action"]["id"]
    assert owners(family) == []


def test_who_asked_and_says_sorted_has_no_question_any_more(family: Chat) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", "Who's picking up Leo at 3pm?")
    line = family.say("Wed 2026-03-04 09:05", "sarah", "sorted, my brother's passing")
    assert line["withdrawn_action"]
    assert family.until(NOON) == []


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("make that Wednesday", "2026-03-11"),
        ("*wednesday the 11th", "2026-03-11"),
        ("sorry, I meant the 16th", "2026-03-16"),
    ],
)
def test_a_day_set_right_replaces_the_card(family: Chat, words: str, day: str) -> None:
    first = family.say("Wed 2026-03-04 09:00", "sarah", "I'll get Mia from school on March 9")
    line = family.say("Wed 2026-03-04 09:02", "sarah", words.replace("Wednesday", "March 11"))
    assert line["withdrawn_action"] == first["action"]["id"]
    [card] = family.pending("Wed 2026-03-04 09:02")
    assert (card.proposal.extraction["dates"], card.proposal.extraction["assigned_to"]) == (
        [day],
        ["sarah"],
    )


@pytest.mark.parametrize(
    "words",
    ["they rang, the dentist is now Friday at 9am", "Leo's dentist got moved to Friday 9am"],
)
def test_a_move_told_as_news_supersedes_the_old_card(family: Chat, words: str) -> None:
    family.say("Mon 2026-03-02 09:00", "sarah", "Leo has the dentist Wednesday at 9am")
    family.say("Mon 2026-03-02 11:00", "sarah", words)
    cards = family.pending("Mon 2026-03-02 11:00")
    assert [card.proposal.extraction["dates"] for card in cards] == [["2026-03-06"]]


# After a person has confirmed


def test_who_steps_back_from_a_confirmed_job_is_taken_out_of_it_by_a_press(family: Chat) -> None:
    confirmed(family)
    line = family.say(
        "Wed 2026-03-04 10:00", "sarah", "I can't take Mia to ballet Monday after all"
    )
    assert responsible(family) == [["sarah"]]
    assert line["action"]["assigned_to"] == ["unspecified"]
    receipt = family.confirm(NOON, "sarah", line["action"]["id"])
    assert receipt.outcome is Outcome.DONE
    assert responsible(family) == []


def test_a_confirmed_job_can_go_to_another_in_one_press(family: Chat) -> None:
    confirmed(family)
    line = family.say(
        "Wed 2026-03-04 10:00", "sarah", "something came up, I can't do Mia's ballet Monday"
    )
    family.resolve(NOON, "sarah", line["action"]["id"], "John")
    assert responsible(family) == [["john"]]


def test_stepping_back_twice_makes_one_card(family: Chat) -> None:
    confirmed(family)
    for minute in ("10:00", "10:05"):
        family.say(
            f"Wed 2026-03-04 {minute}", "sarah", "I can't take Mia to ballet Monday after all"
        )
    assert len(family.pending(NOON)) == 1


def test_taking_over_a_confirmed_job_puts_one_in_the_others_place(family: Chat) -> None:
    confirmed(family)
    line = family.say("Wed 2026-03-04 10:00", "john", "you rest, I'll take Mia to ballet Monday")
    assert line["redline_decision"] == "SILENT"
    family.confirm(NOON, "john", line["action"]["id"])
    assert responsible(family) == [["john"]]


def test_who_is_freed_of_a_confirmed_job_need_not_go(family: Chat) -> None:
    confirmed(family)
    line = family.say("Wed 2026-03-04 10:00", "john", "Sarah you're off the hook for ballet Monday")
    assert line["redline_decision"] == "SILENT"
    family.confirm(NOON, "john", line["action"]["id"])
    assert responsible(family) == []


def test_a_confirmed_cancellation_also_frees_who_was_to_bring_the_child(family: Chat) -> None:
    confirmed(family)
    line = family.say("Wed 2026-03-04 10:00", "john", "Mia's ballet on Monday is cancelled")
    family.confirm(NOON, "john", line["action"]["id"])
    assert responsible(family) == []


def test_a_no_to_something_else_leaves_a_confirmed_job_alone(family: Chat) -> None:
    confirmed(family)
    family.say("Wed 2026-03-04 10:00", "john", "beers on sunday?")
    family.say("Wed 2026-03-04 10:01", "sarah", "can't, sorry")
    assert owners(family) == []
    assert responsible(family) == [["sarah"]]
