"""What a press writes into the event graph: exactly what was frozen, once, by whom it may be, and back again."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from family_chat import CHAT, Chat, Line, chat
from kinkeeper.actions.effects.calendar import AddEvent, UpdateEvent
from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.registry import read_effects
from kinkeeper.calendar.repository import find_event
from kinkeeper.calendar.tables import occurrences, overrides
from kinkeeper.household.viewers import Viewer

NOON = "Wed 2026-03-04 12:00"


@pytest.fixture
def family() -> Iterator[Chat]:
    with chat() as opened:
        yield opened


def truth(family: Chat) -> Mapping[str, list[Mapping[str, Any]]]:
    """Return the event graph without the journal, which only grows."""
    return {name: rows for name, rows in family.graph().items() if name != "event_changes"}


def sessions(family: Chat, activity: str, local_day: str) -> dict[str, str]:
    """Return state by local start of an activity's occurrences that take, or took, place on a day."""
    activities = {row["id"]: row["activity"] for row in family.events("SEED")}
    return {
        f"{row['start_at'].astimezone(family.zone):%H:%M}": row["state"]
        for row in family.rows(occurrences)
        if activities.get(row["event_id"]) == activity
        and f"{row['start_at'].astimezone(family.zone):%Y-%m-%d}" == local_day
    }


def conflict(family: Chat) -> Line:
    return family.say("Mon 2026-03-02 10:00", "sarah", "Leo has the dentist Thursday at 4pm")


def two_claims(family: Chat) -> tuple[Line, Line]:
    return (
        family.say("Wed 2026-03-04 09:00", "john", "I can cover Tuesday pickup"),
        family.say("Wed 2026-03-04 09:15", "sarah", "I'll get the kids Tuesday after work"),
    )


# Confirm and undo


@pytest.mark.parametrize(
    "words",
    [
        "I'll pick up Leo tomorrow at 5:30pm",
        "Mia has a recital Saturday at 2pm",
        "Soccer tomorrow is cancelled",
        "Thursday soccer moved to 6pm",
        "I'll take Mia to ballet on Monday",
        "I'll pick up the kids on Friday",
    ],
)
def test_confirm_writes_what_was_frozen_and_undo_restores_it_bit_for_bit(
    family: Chat, words: str
) -> None:
    before = truth(family)
    line = family.say("Wed 2026-03-04 10:00", "sarah", words)
    action = family.action(line["action"]["id"])
    assert action.proposal.effects
    assert truth(family) == before
    receipt = family.confirm(
        NOON, "john", action.id, expected_hash=action.payload_hash, chat_id=CHAT
    )
    assert (receipt.outcome, receipt.is_change) == (Outcome.DONE, True)
    assert truth(family) != before
    for effect in read_effects("miller", action.proposal.effects):
        if isinstance(effect, AddEvent | UpdateEvent):
            frozen = effect.event
            written = family.store.read_now(
                lambda conn, frozen=frozen: find_event(conn, Viewer.whole("miller"), frozen.id)  # type: ignore[misc]
            )
            assert written is not None
            assert written.provenance.source_type == "OBSERVER"
            assert (written.who, written.responsible, written.start) == (
                frozen.who,
                frozen.responsible,
                frozen.start,
            )
    after = truth(family)
    again = family.confirm(NOON, "sarah", action.id)
    assert (again.outcome, again.is_change) == (Outcome.ALREADY_DONE, False)
    assert truth(family) == after
    assert family.undo("Wed 2026-03-04 12:01", "sarah", action.id).outcome is Outcome.UNDONE
    assert truth(family) == before


def test_a_confirmed_cancellation_takes_away_that_one_session(family: Chat) -> None:
    line = family.say("Wed 2026-03-04 10:00", "sarah", "Soccer tomorrow is cancelled")
    family.confirm(NOON, "john", line["action"]["id"])
    assert sessions(family, "soccer", "2026-03-05") == {"16:30": "cancelled"}
    assert sessions(family, "soccer", "2026-03-10") == {"16:30": "confirmed"}
    assert len(family.rows(overrides)) == 1


def test_a_confirmed_move_puts_that_one_session_elsewhere(family: Chat) -> None:
    line = family.say(
        "Mon 2026-03-02 10:00", "sarah", "Mia's ballet on Wednesday is moved to Friday at 5pm"
    )
    family.confirm("Mon 2026-03-02 12:00", "john", line["action"]["id"])
    assert sessions(family, "ballet", "2026-03-04") == {}
    assert sessions(family, "ballet", "2026-03-06") == {"17:00": "confirmed"}
    assert sessions(family, "ballet", "2026-03-09") == {"16:00": "confirmed"}


def test_what_was_confirmed_counts_from_then_on(family: Chat) -> None:
    line = family.say("Wed 2026-03-04 10:00", "sarah", "Mia has a recital Saturday at 2pm")
    family.confirm(NOON, "john", line["action"]["id"])
    clash = family.say("Thu 2026-03-05 10:00", "john", "Mia has the doctor Saturday at 2:30pm")
    assert clash["redline_trigger_rule"] == "temporal_conflict"
    assert "recital" in clash["reply"]


# Whose press counts


@pytest.mark.parametrize("who", ["leo", "mia"])
def test_a_child_may_neither_confirm_nor_choose_nor_undo(family: Chat, who: str) -> None:
    claim = family.say("Wed 2026-03-04 10:00", "sarah", "I'll pick up Leo tomorrow at 5:30pm")
    clash = conflict(family)
    before = family.graph()
    assert family.confirm(NOON, who, claim["action"]["id"]).outcome is Outcome.DENIED
    assert family.resolve(NOON, who, clash["action"]["id"], "Both").outcome is Outcome.DENIED
    assert family.reject(NOON, who, claim["action"]["id"]).outcome is Outcome.DENIED
    assert family.graph() == before
    family.confirm(NOON, "john", claim["action"]["id"])
    after = truth(family)
    assert family.undo(NOON, who, claim["action"]["id"]).outcome is Outcome.DENIED
    assert truth(family) == after


def test_a_helper_may_confirm_and_another_relative_may_not() -> None:
    with chat("clarke") as family:
        line = family.say("Wed 2026-03-04 10:00", "dee", "I'll pick up Zoë tomorrow at 4pm")
        assert family.confirm(NOON, "nan", line["action"]["id"]).outcome is Outcome.DENIED
        assert family.confirm(NOON, "sam", line["action"]["id"]).outcome is Outcome.DONE


def test_a_card_counts_in_its_own_chat_alone(family: Chat) -> None:
    line = family.say("Wed 2026-03-04 10:00", "sarah", "I'll pick up Leo tomorrow at 5:30pm")
    receipt = family.confirm(NOON, "john", line["action"]["id"], chat_id="another")
    assert receipt.outcome is Outcome.DENIED
    assert family.action(line["action"]["id"]).status is ActionStatus.PENDING


# Expiry


@pytest.mark.parametrize(
    ("hours", "outcome"), [(48, Outcome.DONE), (133, Outcome.DONE), (134, Outcome.EXPIRED)]
)
def test_a_card_lives_until_its_day_is_over(family: Chat, hours: int, outcome: Outcome) -> None:
    line = family.say("Wed 2026-03-04 10:00", "sarah", "I'll pick up Leo on Monday at 5:30pm")
    before = family.graph()
    late = family.at("Wed 2026-03-04 10:00") + timedelta(hours=hours)
    receipt = family.confirm(f"{late:%a %Y-%m-%d %H:%M}", "john", line["action"]["id"])
    assert receipt.outcome is outcome
    assert (family.graph() == before) == (outcome is Outcome.EXPIRED)


@pytest.mark.parametrize(("hours", "outcome"), [(1, Outcome.EXPIRED), (200, Outcome.DONE)])
def test_the_shortest_life_of_a_card_is_a_setting(hours: int, outcome: Outcome) -> None:
    with chat(pending_action_ttl_hours=hours) as family:
        line = family.say("Wed 2026-03-04 10:00", "sarah", "I'll pick up Leo today at 5:30pm")
        receipt = family.confirm("Thu 2026-03-05 00:00", "john", line["action"]["id"])
        assert receipt.outcome is outcome


# Merging


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I'll pick up Leo on Monday at 5:30pm", "I'll pick up Leo on Monday at 5:30pm"),
        ("Mia has a recital Saturday at 2pm", "Mia's recital is Saturday at 2pm"),
        ("Leo has the dentist Thursday at 4pm", "so Leo has the dentist Thursday at 4"),
    ],
)
def test_the_same_thing_said_again_within_an_hour_is_one_card(
    family: Chat, first: str, second: str
) -> None:
    one = family.say("Mon 2026-03-02 09:00", "sarah", first)
    two = family.say("Mon 2026-03-02 09:59", "sarah", second)
    assert two["action"]["id"] == one["action"]["id"]
    assert len(family.pending("Mon 2026-03-02 10:00")) == 1


def test_the_same_claim_later_than_an_hour_replaces_the_first(family: Chat) -> None:
    one = family.say("Wed 2026-03-04 09:00", "sarah", "I'll pick up Leo on Monday at 5:30pm")
    two = family.say("Wed 2026-03-04 10:01", "sarah", "I'll pick up Leo on Monday at 5:30pm")
    assert two["action"]["id"] != one["action"]["id"]
    assert [action.id for action in family.pending(NOON)] == [two["action"]["id"]]


@pytest.mark.parametrize(
    "other",
    [
        "I'll pick up Mia on Monday at 5:30pm",
        "I'll pick up Leo on Tuesday at 5:30pm",
        "I'll drop off Leo on Monday at 8am",
    ],
)
def test_another_child_day_or_task_is_another_card(family: Chat, other: str) -> None:
    family.say("Wed 2026-03-04 09:00", "sarah", "I'll pick up Leo on Monday at 5:30pm")
    family.say("Wed 2026-03-04 09:30", "sarah", other)
    assert len(family.pending(NOON)) == 2


# The buttons


def test_the_new_side_of_a_double_booking_books_it_and_frees_that_day(family: Chat) -> None:
    line = conflict(family)
    new, old, both = line["buttons"]
    assert (old.casefold(), new.casefold(), both) == ("soccer", "dentist", "Both")
    assert (
        family.resolve("Mon 2026-03-02 11:00", "john", line["action"]["id"], new).outcome
        is Outcome.DONE
    )
    [booked] = family.events()
    assert (booked["activity"], booked["who"]) == ("dentist", ["leo"])
    assert sessions(family, "soccer", "2026-03-05") == {"16:30": "cancelled"}
    assert sessions(family, "soccer", "2026-03-03") == {"16:30": "confirmed"}


def test_the_old_side_of_a_double_booking_leaves_everything_as_it_was(family: Chat) -> None:
    line = conflict(family)
    before = truth(family)
    receipt = family.resolve(
        "Mon 2026-03-02 11:00", "john", line["action"]["id"], line["buttons"][1]
    )
    assert receipt.outcome is Outcome.DONE
    assert truth(family) == before
    assert family.pending("Mon 2026-03-02 11:00") == []


def test_both_sides_of_a_double_booking_stay(family: Chat) -> None:
    line = conflict(family)
    family.resolve("Mon 2026-03-02 11:00", "john", line["action"]["id"], "both")
    assert [event["activity"] for event in family.events()] == ["dentist"]
    assert sessions(family, "soccer", "2026-03-05") == {"16:30": "confirmed"}


def test_a_plain_yes_to_a_conflict_asks_which(family: Chat) -> None:
    line = conflict(family)
    before = family.graph()
    receipt = family.confirm("Mon 2026-03-02 11:00", "john", line["action"]["id"])
    assert (receipt.outcome, list(receipt.choices)) == (Outcome.CHOOSE, line["buttons"])
    assert family.graph() == before


@pytest.mark.parametrize(
    ("label", "owners"),
    [("John", [["john"]]), ("Sarah", [["sarah"]]), ("Both", [["john"], ["sarah"]])],
)
def test_each_claimant_of_one_job_can_be_chosen(
    family: Chat, label: str, owners: list[list[str]]
) -> None:
    first, second = two_claims(family)
    assert first["action"]["id"] != second["action"]["id"]
    assert family.action(first["action"]["id"]).status is ActionStatus.SUPERSEDED
    before = truth(family)
    receipt = family.resolve(NOON, "sarah", second["action"]["id"], label)
    assert receipt.outcome is Outcome.DONE
    assert receipt.message.splitlines() == [receipt.message]
    assert sorted(event["responsible"] for event in family.events()) == owners
    assert family.pending(NOON) == []
    family.undo("Wed 2026-03-04 12:05", "john", second["action"]["id"])
    assert truth(family) == before


def test_a_second_claim_on_a_confirmed_job_can_replace_it(family: Chat) -> None:
    first = family.say("Wed 2026-03-04 09:00", "john", "I'll pick up Leo tomorrow at 5:30pm")
    family.confirm("Wed 2026-03-04 09:01", "john", first["action"]["id"])
    second = family.say("Wed 2026-03-04 09:30", "sarah", "I'll pick up Leo tomorrow at 5:30pm")
    assert second["redline_trigger_rule"] == "resource_conflict"
    family.resolve(NOON, "john", second["action"]["id"], "Sarah")
    standing = [event["responsible"] for event in family.events() if event["state"] == "confirmed"]
    assert standing == [["sarah"]]


@pytest.mark.parametrize("label", ["John", "Sarah"])
def test_a_missing_owner_is_whoever_is_chosen(family: Chat, label: str) -> None:
    line = family.say("Wed 2026-03-04 09:00", "sarah", "Who's picking up Leo at 9:45am?")
    assert line["buttons"] == ["John", "Sarah"]
    family.resolve("Wed 2026-03-04 09:05", "john", line["action"]["id"], label)
    [event] = family.events()
    assert (event["responsible"], event["who"], event["task"]) == (
        [label.lower()],
        ["leo"],
        "pickup",
    )


def test_one_person_in_two_places_is_asked_to_swap(family: Chat) -> None:
    first = family.say(
        "Wed 2026-03-04 09:00", "john", "I'll take Mia to the dentist tomorrow at 3pm"
    )
    second = family.say(
        "Wed 2026-03-04 09:30", "john", "I'll take Leo to the doctor tomorrow at 3pm"
    )
    assert first["redline_decision"] == "SILENT"
    assert second["redline_trigger_rule"] == "resource_conflict"
    assert len(second["buttons"]) == 3
    assert len({label.casefold() for label in second["buttons"]}) == 3
    family.resolve(NOON, "john", second["action"]["id"], "Both")
    assert sorted(event["who"] for event in family.events()) == [["leo"], ["mia"]]


def test_a_move_onto_an_occupied_slot_moves_and_frees_it(family: Chat) -> None:
    line = family.say(
        "Wed 2026-03-04 09:00", "john", "Mia's ballet on Monday moved to Saturday at 10am"
    )
    assert line["redline_trigger_rule"] == "temporal_conflict"
    family.resolve(NOON, "john", line["action"]["id"], line["buttons"][0])
    states = [
        sessions(family, activity, when)
        for activity, when in [
            ("ballet", "2026-03-07"),
            ("swim", "2026-03-07"),
            ("ballet", "2026-03-09"),
        ]
    ]
    assert states == [{"10:00": "confirmed"}, {"10:00": "cancelled"}, {}]


def test_a_button_that_is_not_there_is_told_so(family: Chat) -> None:
    line = conflict(family)
    with pytest.raises(Exception, match="is not one of"):
        family.resolve("Mon 2026-03-02 11:00", "john", line["action"]["id"], "Neither")
