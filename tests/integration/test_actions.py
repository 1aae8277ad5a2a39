"""Pending actions on a real database: proposing, deciding, choosing, and what time does."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.actions.consent import Origin
from kinkeeper.actions.journal import list_transitions
from kinkeeper.actions.model import ActionStatus, Cause, Proposal, Refusal
from kinkeeper.actions.proposals import expire_due, propose, supersede, withdraw
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.repository import find_by_source, list_actions, load_action, open_actions
from kinkeeper.calendar.repository import find_event
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store
from pending_presses import (
    ANY_TIME,
    back,
    everything,
    graph,
    no,
    pick,
    put,
    refusals,
    stored_status,
    yes,
)
from pending_samples import (
    CHILD,
    FAMILY,
    FRIEND,
    GUARDIAN,
    HELPER,
    NOW,
    PARENT,
    adding,
    choice,
    event,
    proposal,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


# Proposing


def test_a_proposal_comes_back_as_it_was_frozen(store: Store) -> None:
    wanted = proposal(
        suggested_event={"summary": "Zahnarzt 🦷", "start": "2026-05-14T16:00:00+02:00"},
        choices=(choice("Both", event("a"), event("b")), choice("Neither")),
        origin=Origin.MAIL,
        conflict_key="k",
    )
    action = put(store, wanted)
    assert action.proposal == wanted
    assert store.read_now(lambda conn: load_action(conn, FAMILY.id, action.id)) == action
    assert action.status is ActionStatus.PENDING
    assert graph(store) == []


def test_the_same_source_proposes_once_whatever_it_says_later(store: Store) -> None:
    first = put(store)
    again = store.write_now(
        lambda conn: propose(
            conn, proposal(summary="Rather different"), household=FAMILY, now=ANY_TIME
        )
    )
    assert again.action == first
    assert not again.is_new
    assert len(everything(store)) == 1


def test_slots_of_one_source_are_actions_of_their_own(store: Store) -> None:
    assert put(store).id != put(store, proposal(slot="1")).id
    found = store.read_now(lambda conn: find_by_source(conn, FAMILY.id, "OBSERVER", "m1"))
    assert [action.proposal.slot for action in found] in (["0", "1"], ["1", "0"])


def test_the_same_wish_within_the_hour_joins_the_first(store: Store) -> None:
    first = put(store, proposal("m1", merge_key="k"))
    soon = NOW + timedelta(minutes=59)
    for _ in range(2):
        joined = store.write_now(
            lambda conn: propose(conn, proposal("m2", merge_key="k"), household=FAMILY, now=soon)
        )
        assert joined.action == first
        assert not joined.is_new
    by_second = store.read_now(lambda conn: find_by_source(conn, FAMILY.id, "OBSERVER", "m2"))
    assert by_second == [first]


@pytest.mark.parametrize("merge_key", [None, "other"])
def test_different_wishes_stay_apart(store: Store, merge_key: str | None) -> None:
    put(store, proposal("m1", merge_key=merge_key and "k"))
    put(store, proposal("m2", merge_key=merge_key))
    assert len(everything(store)) == 2


def test_after_an_hour_or_a_decision_a_wish_is_new(store: Store) -> None:
    first = put(store, proposal("m1", merge_key="k"))
    later = put(store, proposal("m2", merge_key="k"), now=NOW + timedelta(minutes=61))
    assert later.id != first.id
    yes(store, later)
    third = put(store, proposal("m3", merge_key="k"), now=NOW + timedelta(minutes=62))
    assert third.id not in {first.id, later.id}


def test_a_wish_does_not_join_one_whose_time_is_over(store: Store) -> None:
    impatient = replace(FAMILY, pending_ttl=timedelta(minutes=10))
    undated = proposal("m1", merge_key="k", effects=(), extraction={})
    put(store, undated, family=impatient)
    later = put(store, proposal("m2", merge_key="k"), now=NOW + timedelta(minutes=10))
    assert later.proposal.source_id == "m2"


def test_what_could_never_be_written_is_not_kept(store: Store) -> None:
    for broken in (
        proposal(effects=({"effect": "mail.send", "to": "x"},)),
        proposal(effects=adding(event(household_id="others"))),
        proposal(choices=(choice("Both"), choice("both "))),
        proposal(choices=(choice(" "),)),
    ):
        with pytest.raises(InputError):
            put(store, broken)
    assert everything(store) == []


# Deciding


def test_a_yes_writes_once_in_the_persons_name(store: Store) -> None:
    action = put(store)
    receipt = yes(store, action, chat_id="chat-1", expected_hash=action.payload_hash)
    assert receipt.outcome is Outcome.DONE
    assert receipt.is_change
    written = store.read_now(lambda conn: find_event(conn, Viewer.whole(FAMILY.id), event("m1").id))
    assert written is not None
    assert written.provenance.confirmed_by == PARENT.id
    assert written.provenance.action_id == action.id
    assert receipt.action.decided_by == PARENT.id
    assert receipt.action.decided_at == ANY_TIME
    assert store.read_now(lambda conn: load_action(conn, FAMILY.id, action.id)) == receipt.action


def test_every_step_is_journaled(store: Store) -> None:
    action = put(store)
    yes(store, action)
    back(store, action, member=GUARDIAN)
    steps = store.read_now(lambda conn: list_transitions(conn, FAMILY.id, action.id))
    assert [(each.cause, each.to_status, each.by) for each in steps] == [
        (Cause.PROPOSE, ActionStatus.PENDING, None),
        (Cause.CONFIRM, ActionStatus.CONFIRMED, PARENT.id),
        (Cause.EXECUTE, ActionStatus.EXECUTING, None),
        (Cause.SUCCEED, ActionStatus.DONE, None),
        (Cause.UNDO, ActionStatus.DONE, GUARDIAN.id),
    ]


def test_a_second_press_is_told_and_counted_and_writes_nothing(store: Store) -> None:
    action = put(store)
    yes(store, action, member=HELPER)
    for again in (yes(store, action), no(store, action), pick(store, action, "anything")):
        assert again.outcome is Outcome.ALREADY_DONE
        assert HELPER.name in again.message
        assert not again.is_change
    assert graph(store) == ["Tara m1"]
    assert refusals(store) == {Refusal.DUPLICATE: 3}


def test_a_no_is_final(store: Store) -> None:
    action = put(store)
    assert no(store, action).outcome is Outcome.REJECTED
    assert yes(store, action).outcome is Outcome.REJECTED
    assert graph(store) == []


@pytest.mark.parametrize("member", [CHILD, FRIEND, replace(PARENT, id="ghost")])
def test_who_is_no_adult_here_changes_nothing_and_is_counted(store: Store, member: Member) -> None:
    action = put(store, proposal(choices=(choice("A", event("a")), choice("B"))))
    asked = [
        yes(store, action, member=member),
        no(store, action, member=member),
        back(store, action, member=member),
    ]
    assert {receipt.outcome for receipt in asked} == {Outcome.DENIED}
    assert stored_status(store, action) is ActionStatus.PENDING
    assert graph(store) == []
    assert refusals(store) == {Refusal.DENIED: 3}
    assert yes(store, action).outcome is Outcome.DONE


def test_another_chat_or_another_card_decides_nothing(store: Store) -> None:
    action = put(store)
    assert yes(store, action, chat_id="chat-2").outcome is Outcome.DENIED
    assert yes(store, action, expected_hash="f" * 64).outcome is Outcome.CHANGED
    assert stored_status(store, action) is ActionStatus.PENDING
    assert refusals(store) == {Refusal.WRONG_CHAT: 1, Refusal.STALE_CARD: 1}


def test_an_unknown_id_is_not_found(store: Store) -> None:
    action = put(store)
    with pytest.raises(NotFoundError):
        yes(store, replace(action, id="nowhere"))


# Choosing


def two_ways() -> Proposal:
    ways = (choice("Ines", event("ines")), choice("Omar", event("omar")), choice("Neither"))
    return proposal(effects=(), choices=ways)


def test_a_plain_yes_to_several_ways_asks_which(store: Store) -> None:
    action = put(store, two_ways())
    receipt = yes(store, action)
    assert receipt.outcome is Outcome.CHOOSE
    assert receipt.choices == ("Ines", "Omar", "Neither")
    assert not receipt.is_change
    assert stored_status(store, action) is ActionStatus.PENDING


def test_a_choice_writes_its_own_effects_and_says_its_result(store: Store) -> None:
    action = put(store, two_ways())
    receipt = pick(store, action, " oMAR ")
    assert receipt.message == "Omar it is."
    assert receipt.action.choice == "Omar"
    assert graph(store) == ["Tara omar"]
    assert pick(store, action, "Ines").outcome is Outcome.ALREADY_DONE
    assert graph(store) == ["Tara omar"]


def test_a_choice_may_write_nothing(store: Store) -> None:
    action = put(store, two_ways())
    assert pick(store, action, "Neither").outcome is Outcome.DONE
    assert graph(store) == []
    assert back(store, action).outcome is Outcome.NOT_UNDOABLE


def test_an_unknown_choice_lists_the_known_ones(store: Store) -> None:
    action = put(store, two_ways())
    with pytest.raises(InputError, match="Ines, Omar, Neither"):
        pick(store, action, "Om")
    with pytest.raises(InputError, match="confirm or reject"):
        pick(store, put(store, proposal("m2")), "Ines")
    assert stored_status(store, action) is ActionStatus.PENDING


def test_a_yes_to_the_only_way_takes_it(store: Store) -> None:
    action = put(store, proposal(effects=(), choices=(choice("Ines", event("ines")),)))
    assert yes(store, action).action.choice == "Ines"
    assert graph(store) == ["Tara ines"]


# Time, withdrawal, supersession


def test_time_expires_on_touch_although_nobody_swept(store: Store) -> None:
    action = put(store)
    assert yes(store, action, now=action.expires_at).outcome is Outcome.EXPIRED
    assert stored_status(store, action) is ActionStatus.EXPIRED
    assert refusals(store) == {Refusal.LATE: 1}


def test_a_clock_set_back_revives_nothing(store: Store) -> None:
    action = put(store)
    yes(store, action, now=action.expires_at + timedelta(days=1))
    assert yes(store, action, now=NOW).outcome is Outcome.EXPIRED
    assert put(store).status is ActionStatus.EXPIRED
    assert graph(store) == []


def test_the_sweeper_expires_what_is_due_once(store: Store) -> None:
    due = put(store)
    put(store, proposal("m2", effects=adding(event("m2", start=NOW + timedelta(days=9)))))
    late = due.expires_at
    swept = store.write_now(lambda conn: expire_due(conn, FAMILY.id, late))
    assert [action.id for action in swept] == [due.id]
    assert swept[0].status is ActionStatus.EXPIRED
    assert store.write_now(lambda conn: expire_due(conn, FAMILY.id, late)) == []


def test_lists_tell_the_time_without_writing(store: Store) -> None:
    action = put(store)
    late = action.expires_at

    def listed(now: datetime, *statuses: ActionStatus) -> list[str]:
        found = store.read_now(
            lambda conn: list_actions(conn, Viewer.whole(FAMILY.id), statuses=statuses, now=now)
        )
        return [each.id for each in found]

    assert listed(NOW, ActionStatus.PENDING) == [action.id]
    assert listed(NOW, ActionStatus.EXPIRED) == []
    assert listed(late, ActionStatus.PENDING) == []
    assert listed(late, ActionStatus.EXPIRED) == [action.id]
    assert store.read_now(lambda conn: open_actions(conn, Viewer.whole(FAMILY.id), now=late)) == []
    assert stored_status(store, action) is ActionStatus.PENDING


def test_what_was_taken_back_in_the_chat_cannot_be_confirmed(store: Store) -> None:
    action = put(store)

    def take_back(conn: Connection) -> bool:
        return withdraw(conn, action.id, household=FAMILY.id, now=ANY_TIME, by_source="m9")

    assert store.write_now(take_back)
    assert not store.write_now(take_back)
    assert yes(store, action).outcome is Outcome.WITHDRAWN
    assert graph(store) == []
    last = store.read_now(lambda conn: list_transitions(conn, FAMILY.id, action.id))[-1]
    assert last.detail == "m9"


def test_a_newer_action_takes_the_place_of_an_older_one(store: Store) -> None:
    old, new = put(store), put(store, proposal("m2"))

    def replace_old(conn: Connection) -> bool:
        return supersede(conn, old.id, household=FAMILY.id, by_action_id=new.id, now=ANY_TIME)

    assert store.write_now(replace_old)
    assert yes(store, old).outcome is Outcome.SUPERSEDED
    assert yes(store, new).outcome is Outcome.DONE
    with pytest.raises(InputError):
        store.write_now(
            lambda conn: supersede(
                conn, old.id, household=FAMILY.id, by_action_id=old.id, now=ANY_TIME
            )
        )


def test_what_is_done_is_neither_withdrawn_nor_superseded_nor_expired(store: Store) -> None:
    action, other = put(store), put(store, proposal("m2"))
    yes(store, action)
    late = NOW + timedelta(days=30)
    assert not store.write_now(
        lambda conn: withdraw(conn, action.id, household=FAMILY.id, now=late, by_source="m9")
    )
    assert not store.write_now(
        lambda conn: supersede(
            conn, action.id, household=FAMILY.id, by_action_id=other.id, now=late
        )
    )
    assert stored_status(store, action) is ActionStatus.DONE
