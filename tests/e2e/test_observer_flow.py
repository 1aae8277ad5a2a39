"""How an arrangement lives on in the chat: edited, taken back, taken over, shared, asked about late."""

from collections.abc import Iterator

import pytest

from family_chat import Chat, chat, iso
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.receipts import Outcome

ASK = "Who's picking up Leo at 3pm?"


@pytest.fixture
def family() -> Iterator[Chat]:
    with chat() as opened:
        yield opened


def pending_summaries(family: Chat, at: str) -> list[str]:
    return [action.proposal.summary for action in family.pending(at)]


# Edits


@pytest.mark.parametrize("is_same_id", [True, False])
def test_an_edit_replaces_what_the_message_had_proposed(family: Chat, is_same_id: bool) -> None:
    first = family.say("Wed 2026-03-04 09:00", "sarah", "I'll pick up Leo tomorrow at 5:30pm")
    line = family.say(
        "Wed 2026-03-04 09:05",
        "sarah",
        "I'll pick up Leo on Friday at 5:30pm",
        kind="edit",
        target=first["message_id"],
        id=first["message_id"] if is_same_id else None,
    )
    assert line["withdrawn_action"] == first["action"]["id"]
    assert line["action"]["dates"] == iso("Fri 2026-03-06")
    [left] = family.pending("Wed 2026-03-04 09:05")
    assert left.id == line["action"]["id"] != first["action"]["id"]
    before = family.graph()
    late = family.confirm("Wed 2026-03-04 09:06", "john", first["action"]["id"])
    assert late.outcome is Outcome.WITHDRAWN
    assert family.graph() == before


def test_two_edits_leave_one_card(family: Chat) -> None:
    first = family.say("Wed 2026-03-04 09:00", "sarah", "I'll pick up Leo tomorrow at 5:30pm")
    for minute, when in enumerate(["on Friday", "on Saturday"], start=5):
        family.say(
            f"Wed 2026-03-04 09:0{minute}",
            "sarah",
            f"I'll pick up Leo {when} at 5:30pm",
            kind="edit",
            target=first["message_id"],
            id=first["message_id"],
        )
    [left] = family.pending("Wed 2026-03-04 09:10")
    assert left.proposal.extraction["dates"] == iso("Sat 2026-03-07")


def test_an_edit_that_arranges_nothing_leaves_no_card(family: Chat) -> None:
    first = family.say("Wed 2026-03-04 09:00", "sarah", "I'll pick up Leo tomorrow at 5:30pm")
    line = family.edit("Wed 2026-03-04 09:05", "sarah", "wrong chat 😂", first["message_id"])
    assert line["withdrawn_action"] == first["action"]["id"]
    assert family.pending("Wed 2026-03-04 09:05") == []


def test_an_edited_question_takes_its_answer_with_it(family: Chat) -> None:
    question = family.say("Wed 2026-03-04 09:00", "sarah", "Who's picking up Leo on Thursday?")
    answer = family.say("Wed 2026-03-04 09:02", "john", "I'll do it")
    family.edit(
        "Wed 2026-03-04 09:05", "sarah", "Who's picking up Leo on Monday?", question["message_id"]
    )
    assert family.action(answer["action"]["id"]).status is ActionStatus.WITHDRAWN
    again = family.say("Wed 2026-03-04 09:07", "john", "I'll do it")
    assert again["action"]["dates"] == iso("Mon 2026-03-09")
    assert again["action"]["assigned_to"] == ["john"]


def test_an_edit_of_something_unknown_is_a_message_like_any_other(family: Chat) -> None:
    line = family.edit(
        "Wed 2026-03-04 09:05", "sarah", "I'll pick up Leo tomorrow at 5:30pm", "long-ago"
    )
    assert line["action"]["assigned_to"] == ["sarah"]
    assert line["withdrawn_action"] is None


def test_an_edit_does_not_undo_what_a_person_has_confirmed(family: Chat) -> None:
    first = family.say("Wed 2026-03-04 09:00", "sarah", "I'll pick up Leo tomorrow at 5:30pm")
    family.confirm("Wed 2026-03-04 09:01", "sarah", first["action"]["id"])
    before = family.graph()
    family.edit("Wed 2026-03-04 09:05", "sarah", "wrong chat", first["message_id"])
    assert family.action(first["action"]["id"]).status is ActionStatus.DONE
    assert family.graph() == before


# Taking back


@pytest.mark.parametrize("words", ["n/m", "nvm", "never mind", "Nevermind!"])
def test_never_mind_ends_the_askers_question_and_its_grace(family: Chat, words: str) -> None:
    question = family.say("Wed 2026-03-04 09:00", "sarah", ASK)
    line = family.say("Wed 2026-03-04 09:05", "sarah", words)
    assert (line["tier1_decision"], line["withdrawn_action"]) == ("DROP", question["action"]["id"])
    late = family.confirm("Wed 2026-03-04 09:06", "john", question["action"]["id"])
    assert late.outcome is Outcome.WITHDRAWN
    assert family.until("Wed 2026-03-04 16:00") == []
    answer = family.say("Wed 2026-03-04 16:01", "john", "I'll do it")
    assert answer["attribution_source"] is None


def test_never_mind_takes_back_ones_own_claim_and_nobody_elses(family: Chat) -> None:
    mine = family.say("Wed 2026-03-04 09:00", "sarah", "I'll pick up Leo tomorrow at 5:30pm")
    yours = family.say("Wed 2026-03-04 09:01", "john", "I'll take Mia to swimming on Saturday")
    line = family.say("Wed 2026-03-04 09:05", "sarah", "never mind")
    assert line["withdrawn_action"] == mine["action"]["id"]
    [left] = family.pending("Wed 2026-03-04 09:05")
    assert left.id == yours["action"]["id"]


def test_never_mind_in_reply_to_a_message_means_that_one(family: Chat) -> None:
    first = family.say("Wed 2026-03-04 09:00", "sarah", "Who can take Mia to ballet on Monday?")
    second = family.say("Wed 2026-03-04 09:01", "sarah", "Who can take Leo to soccer on Tuesday?")
    line = family.say("Wed 2026-03-04 09:05", "sarah", "n/m", reply_to=first["message_id"])
    assert line["withdrawn_action"] == first["action"]["id"]
    assert [action.id for action in family.pending("Wed 2026-03-04 09:05")] == [
        second["action"]["id"]
    ]


def test_who_steps_back_leaves_the_job_open_and_it_is_asked_about(family: Chat) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", "Can you get Mia at 5?")
    claim = family.say("Wed 2026-03-04 09:02", "john", "sure")
    line = family.say("Wed 2026-03-04 09:10", "john", "can't make it after all")
    assert line["withdrawn_action"] == claim["action"]["id"]
    assert family.action(claim["action"]["id"]).status is ActionStatus.WITHDRAWN
    assert [
        a
        for a in family.pending("Wed 2026-03-04 09:10")
        if a.proposal.extraction["assigned_to"] == ["john"]
    ] == []
    [late] = family.until("Wed 2026-03-04 12:00")
    assert late["redline_trigger_rule"] == "missing_variable"
    assert "Mia" in late["reply"]


def test_after_someone_stepped_back_another_can_take_the_job(family: Chat) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", "Can you get Mia at 5?")
    family.say("Wed 2026-03-04 09:02", "john", "sure")
    family.say("Wed 2026-03-04 09:10", "john", "can't make it after all")
    taken = family.say("Wed 2026-03-04 09:12", "sarah", "ok I'll do it")
    assert taken["action"]["assigned_to"] == ["sarah"]
    assert taken["action"]["child"] == ["mia"]
    assert family.until("Wed 2026-03-04 16:30") == []
    assert [a.id for a in family.pending("Wed 2026-03-04 09:12")] == [taken["action"]["id"]]


# Changes of plan


def test_a_cancellation_withdraws_who_was_to_bring_the_child(family: Chat) -> None:
    ride = family.say("Wed 2026-03-04 09:00", "sarah", "I'll take Leo to soccer tomorrow")
    line = family.say("Wed 2026-03-04 09:05", "john", "Soccer tomorrow is cancelled")
    assert line["withdrawn_action"] == ride["action"]["id"]
    assert line["action"]["type"] == "schedule_change"
    assert pending_summaries(family, "Wed 2026-03-04 09:05") == [line["action"]["summary"]]


def test_an_open_cancellation_makes_room_and_an_open_move_takes_it(family: Chat) -> None:
    family.say("Mon 2026-03-02 09:00", "john", "Thursday soccer is cancelled")
    room = family.say("Mon 2026-03-02 09:30", "sarah", "Leo has the dentist Thursday at 4pm")
    assert room["redline_decision"] == "SILENT"
    family.say("Mon 2026-03-02 12:00", "john", "Ballet on Wednesday is moved to Friday at 4pm")
    taken = family.say("Mon 2026-03-02 12:30", "sarah", "Mia has the doctor Friday at 4:30pm")
    assert taken["redline_trigger_rule"] == "temporal_conflict"


def test_a_move_onto_an_occupied_slot_is_announced(family: Chat) -> None:
    line = family.say("Wed 2026-03-04 09:00", "john", "Mia's ballet moved to Saturday at 10am")
    assert (line["redline_decision"], line["redline_trigger_rule"]) == (
        "SPEAK",
        "temporal_conflict",
    )
    assert line["buttons"][-1] == "Both"


def test_an_announced_change_is_no_mismatch(family: Chat) -> None:
    line = family.say("Wed 2026-03-04 09:00", "john", "Soccer is moved to Friday at 6pm")
    assert line["redline_decision"] == "SILENT"
    assert line["extraction"]["task"] == "move"
    assert line["action"]["type"] == "schedule_change"


def test_an_activity_on_a_day_it_never_takes_place_is_asked_about_whatever_the_distance(
    family: Chat,
) -> None:
    line = family.say("Wed 2026-03-04 09:00", "john", "I'll take Leo to soccer on Friday next week")
    assert (line["redline_decision"], line["redline_trigger_rule"]) == ("SPEAK", "time_mismatch")
    assert "Friday" in line["reply"]
    assert line["buttons"] == []


# Who takes what


@pytest.mark.parametrize(
    "words",
    [
        "I'll pick up Leo tomorrow instead",
        "I'll get Leo tomorrow, you rest",
        "I'll take over Leo's pickup tomorrow",
        "I'll take Leo's pickup tomorrow instead, you rest",
    ],
)
def test_an_explicit_take_over_supersedes_the_claim_and_is_no_conflict(
    family: Chat, words: str
) -> None:
    first = family.say("Wed 2026-03-04 09:00", "sarah", "I'll pick up Leo tomorrow after soccer")
    line = family.say("Wed 2026-03-04 09:10", "john", words)
    assert line["redline_decision"] == "SILENT"
    assert family.action(first["action"]["id"]).status is ActionStatus.SUPERSEDED
    [left] = family.pending("Wed 2026-03-04 09:10")
    assert left.proposal.extraction["assigned_to"] == ["john"]
    stale = family.confirm("Wed 2026-03-04 09:11", "sarah", first["action"]["id"])
    assert stale.outcome is Outcome.SUPERSEDED


def test_part_of_a_question_can_be_taken_and_the_rest_is_still_asked(family: Chat) -> None:
    family.say("Wed 2026-03-04 11:00", "sarah", "Who can pick up the kids at 3pm?")
    taken = family.say("Wed 2026-03-04 11:02", "john", "I got Leo")
    assert taken["action"]["child"] == ["leo"]
    [late] = family.until("Wed 2026-03-04 14:59")
    assert "Mia" in late["reply"]
    assert "Leo" not in late["reply"]
    rest = family.say("Wed 2026-03-04 11:20", "sarah", "I'll get Mia then")
    assert rest["action"]["child"] == ["mia"]
    owners = {
        tuple(a.proposal.extraction["child"]): a.proposal.extraction["assigned_to"]
        for a in family.pending("Wed 2026-03-04 15:00")
    }
    assert owners == {("leo",): ["john"], ("mia",): ["sarah"]}


def test_a_reply_to_a_message_answers_that_one_of_two_questions(family: Chat) -> None:
    first = family.say("Wed 2026-03-04 09:00", "sarah", "Who can take Mia to ballet on Monday?")
    family.say("Wed 2026-03-04 09:01", "sarah", "Who can take Leo to soccer on Tuesday?")
    line = family.say("Wed 2026-03-04 09:03", "john", "I can", reply_to=first["message_id"])
    assert line["attribution_source"] == first["message_id"]
    assert line["action"]["child"] == ["mia"]


def test_without_a_reply_the_newest_question_is_answered(family: Chat) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", "Who can take Mia to ballet on Monday?")
    second = family.say("Wed 2026-03-04 09:01", "sarah", "Who can take Leo to soccer on Tuesday?")
    line = family.say("Wed 2026-03-04 09:03", "john", "I can")
    assert line["attribution_source"] == second["message_id"]


@pytest.mark.parametrize(
    ("emoji", "is_yes"),
    [("👍", True), ("🙋‍♂️", True), ("👍🏾", True), ("👎", False), ("😂", False), ("😢", False)],
)
def test_a_reaction_to_a_request_assigns_who_reacts_if_it_means_yes(
    family: Chat, emoji: str, is_yes: bool
) -> None:
    request = family.say("Wed 2026-03-04 09:00", "sarah", "Can you get Mia at 5?")
    line = family.react("Wed 2026-03-04 09:02", "john", emoji, request["message_id"])
    owners = [a.proposal.extraction["assigned_to"] for a in family.pending("Wed 2026-03-04 09:02")]
    assert owners == ([["john"]] if is_yes else [["unspecified"]])
    assert (line["attribution_source"] == request["message_id"]) == is_yes


def test_a_reaction_to_something_else_or_to_ones_own_request_assigns_nobody(family: Chat) -> None:
    chatter = family.say("Wed 2026-03-04 08:59", "john", "what a morning")
    request = family.say("Wed 2026-03-04 09:00", "sarah", "Can you get Mia at 5?")
    for number, (who, target) in enumerate(
        [("john", chatter["message_id"]), ("sarah", request["message_id"]), ("john", "unknown")]
    ):
        line = family.react(f"Wed 2026-03-04 09:0{number + 1}", who, "👍", target)
        assert line["attribution_source"] is None
    assert [
        a.proposal.extraction["assigned_to"] for a in family.pending("Wed 2026-03-04 09:05")
    ] == [["unspecified"]]


def test_strangers_and_children_are_never_assigned(family: Chat) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", "Who is picking up Mia tomorrow at 3?")
    for minute, who in enumerate(["bob", "", "leo", "Mia", "999"], start=1):
        family.say(f"Wed 2026-03-04 09:0{minute}", who, "me")
        family.say(f"Wed 2026-03-04 09:1{minute}", who, "I'll pick up Leo tomorrow at 3")
    owners = {owner for a in family.actions() for owner in a.proposal.extraction["assigned_to"]}
    assert owners == {"unspecified"}
    assert next(row["status"] for row in family.questions()) == "open"


@pytest.mark.parametrize("who", ["sarah", "Sarah", "mom", "MOMMY", "1002", "@sarah"])
def test_a_sender_is_known_by_id_name_alias_or_number(family: Chat, who: str) -> None:
    line = family.say("Wed 2026-03-04 09:00", who, "I'll pick up Leo tomorrow at 5:30pm")
    assert line["action"]["assigned_to"] == ["sarah"]


def test_a_clash_names_whoever_has_a_plan_once(family: Chat) -> None:
    family.say("Wed 2026-03-04 08:00", "john", "I've got Leo friday 9:45 to 10:45")
    family.say("Wed 2026-03-04 09:01", "sarah", "who picks up Mia friday at 10:05?")
    line = family.say("Wed 2026-03-04 09:02", "john", "I'll pick her up!")
    assert line["redline_decision"] == "SPEAK"
    assert line["reply"].count("John") == 1
