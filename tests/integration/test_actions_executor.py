"""Execution on a real database: consent, tampering, all or nothing, and taking back."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, delete, update

from kinkeeper.actions import executor
from kinkeeper.actions.action_writes import advance
from kinkeeper.actions.approvals import confirm, request
from kinkeeper.actions.consent import Origin
from kinkeeper.actions.effects.calendar import (
    AddEvent,
    AssignOccurrence,
    CancelEvent,
    CancelOccurrence,
    MoveOccurrence,
    UpdateEvent,
)
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.journal import list_transitions
from kinkeeper.actions.model import ActionStatus, Cause, PendingAction, Proposal, Refusal
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.tables import action_transitions, pending_actions
from kinkeeper.calendar.event_changes import move_occurrence
from kinkeeper.calendar.model import EventState
from kinkeeper.calendar.repository import delete_event, find_override, insert_event, load_event
from kinkeeper.core.errors import InvariantError
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store
from pending_presses import (
    ANY_TIME,
    back,
    graph,
    no,
    put,
    refusals,
    stored_status,
    with_effects,
    yes,
)
from pending_samples import (
    CHILD,
    FAMILY,
    GUARDIAN,
    HELPER,
    NOW,
    PARENT,
    adding,
    event,
    proposal,
    summaries,
    weekly,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


def occurrence(**fields: object) -> dict[str, object]:
    return {"event_id": weekly().id, "original_start": weekly().start, **fields}


EFFECTS: list[Effect] = [
    MoveOccurrence.model_validate(occurrence(new_start=weekly().start + timedelta(days=1))),
    CancelOccurrence.model_validate(occurrence()),
    AssignOccurrence.model_validate(occurrence(responsible=["omar"])),
    CancelEvent(event_id=weekly().id),
    UpdateEvent(event=replace(weekly(), summary="Karate"), based_on=weekly()),
]


def state(conn: Connection) -> tuple[object, object]:
    found = find_override(conn, FAMILY.id, weekly().id, weekly().start)
    return load_event(conn, Viewer.whole(FAMILY.id), weekly().id), found


def effect_name(effect: Effect) -> str:
    return effect.effect


def everything_written(conn: Connection) -> tuple[object, ...]:
    return (*state(conn), summaries(conn))


# Executing


def anyones(_conn: Connection, _action: PendingAction) -> str:
    return PARENT.id


@pytest.mark.parametrize("effect", [*EFFECTS, AddEvent(event=event())], ids=effect_name)
def test_no_effect_runs_that_nobody_confirmed_and_the_gate_is_why(
    store: Store, monkeypatch: pytest.MonkeyPatch, effect: Effect
) -> None:
    store.write_now(lambda conn: insert_event(conn, weekly()))
    action = with_effects(store, effect)
    before = store.read_now(everything_written)

    def run() -> None:
        store.write_now(lambda conn: executor.execute(conn, FAMILY.id, action.id, now=NOW))

    with pytest.raises(InvariantError, match="nobody confirmed"):
        run()
    store.write_now(lambda conn: conn.execute(update(pending_actions).values(status="confirmed")))
    with pytest.raises(InvariantError, match="journal"):
        run()
    assert store.read_now(everything_written) == before
    monkeypatch.setattr(executor, "require_consent", anyones)
    run()
    assert store.read_now(everything_written) != before


def test_a_status_written_by_hand_is_no_consent(store: Store) -> None:
    action = put(store)
    forged = {"status": "confirmed", "decided_by": PARENT.id, "decided_at": NOW}
    store.write_now(lambda conn: conn.execute(update(pending_actions).values(forged)))
    with pytest.raises(InvariantError, match="journal"):
        store.write_now(lambda conn: executor.execute(conn, FAMILY.id, action.id, now=ANY_TIME))
    store.write_now(lambda conn: conn.execute(delete(action_transitions)))
    with pytest.raises(InvariantError):
        store.write_now(lambda conn: executor.execute(conn, FAMILY.id, action.id, now=ANY_TIME))
    assert graph(store) == []


def test_a_no_turned_into_a_yes_by_hand_is_no_consent(store: Store) -> None:
    action = put(store)
    no(store, action)
    store.write_now(lambda conn: conn.execute(update(pending_actions).values(status="confirmed")))
    with pytest.raises(InvariantError, match="journal"):
        store.write_now(lambda conn: executor.execute(conn, FAMILY.id, action.id, now=ANY_TIME))
    assert graph(store) == []


def test_who_read_the_action_before_another_decided_moves_nothing(store: Store) -> None:
    stale = put(store)
    done = yes(store, stale).action

    def move(read_before: PendingAction, cause: Cause, **by: str) -> PendingAction | None:
        return store.write_now(lambda conn: advance(conn, read_before, cause, at=NOW, **by))

    assert move(stale, Cause.CONFIRM, by=PARENT.id) is None
    assert move(stale, Cause.EXPIRE) is None
    back(store, done)
    assert move(done, Cause.UNDO, by=PARENT.id) is None
    steps = store.read_now(lambda conn: list_transitions(conn, FAMILY.id, stale.id))
    assert len(steps) == 5


@pytest.mark.parametrize("origin", [origin for origin in Origin if origin is not Origin.SAID])
def test_what_was_not_said_never_runs_as_if_it_were(store: Store, origin: Origin) -> None:
    action = put(store, proposal(origin=origin))

    def as_said(conn: Connection) -> PendingAction:
        said = {"decided_by": PARENT.id, "decided_at": NOW}
        advance(conn, action, Cause.SAID, at=NOW, by=PARENT.id, **said)
        return executor.execute(conn, FAMILY.id, action.id, now=NOW)

    with pytest.raises(InvariantError, match="needed approval first"):
        store.write_now(as_said)
    assert graph(store) == []


TAMPERED = {
    "summary": "Something harmless",
    "effects": [dict(each) for each in adding(event("stolen"))],
    "choices": [{"label": "Both", "effects": [], "result": "x"}],
    "suggested_event": {"summary": "Something harmless"},
    "extraction": {"assigned_to": ["bea"]},
    "origin": "said",
    "version": 2,
    "payload_hash": "0" * 64,
}


@pytest.mark.parametrize("column", TAMPERED)
def test_a_payload_changed_after_it_was_frozen_is_not_executed(store: Store, column: str) -> None:
    action = put(store)
    tampering = update(pending_actions).values({column: TAMPERED[column]})
    store.write_now(lambda conn: conn.execute(tampering))
    receipt = yes(store, action)
    assert receipt.outcome is Outcome.FAILED
    assert executor.TAMPERED in receipt.message
    assert stored_status(store, action) is ActionStatus.FAILED
    assert refusals(store) == {Refusal.TAMPERED: 1}
    assert graph(store) == []


def test_all_effects_are_written_or_none(store: Store) -> None:
    occupied = event("taken", summary="Ours already")
    store.write_now(lambda conn: insert_event(conn, occupied))
    action = put(store, proposal(effects=adding(event("first"), event("taken"), event("third"))))
    receipt = yes(store, action)
    assert receipt.outcome is Outcome.FAILED
    assert "nothing was changed" in receipt.message
    assert graph(store) == ["Ours already"]
    assert stored_status(store, action) is ActionStatus.FAILED
    assert yes(store, action).outcome is Outcome.FAILED
    assert back(store, action).outcome is Outcome.NOT_UNDOABLE


def test_a_caller_that_fails_later_leaves_no_trace_of_the_yes(store: Store) -> None:
    action = put(store)

    def confirm_and_fail(conn: Connection) -> None:
        confirm(conn, action.id, member=PARENT, household=FAMILY, now=ANY_TIME)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.write_now(confirm_and_fail)
    assert graph(store) == []
    assert yes(store, action).outcome is Outcome.DONE


# Each effect, and taking it back


@pytest.mark.parametrize("effect", EFFECTS, ids=effect_name)
def test_every_effect_changes_the_graph_and_is_taken_back_exactly(
    store: Store, effect: Effect
) -> None:
    store.write_now(lambda conn: insert_event(conn, weekly()))
    before = store.read_now(state)
    action = with_effects(store, effect)
    assert store.read_now(state) == before
    assert yes(store, action).outcome is Outcome.DONE
    assert store.read_now(state) != before
    receipt = back(store, action, member=HELPER)
    assert receipt.outcome is Outcome.UNDONE
    assert receipt.action.undone_by == HELPER.id
    assert store.read_now(state) == before


def test_a_new_event_is_taken_back(store: Store) -> None:
    action = put(store, proposal(effects=adding(event("a"), event("b"))))
    yes(store, action)
    assert graph(store) == ["Tara a", "Tara b"]
    assert back(store, action).outcome is Outcome.UNDONE
    assert graph(store) == []


def test_effects_on_one_thing_are_taken_back_in_reverse(store: Store) -> None:
    store.write_now(lambda conn: insert_event(conn, weekly()))
    before = store.read_now(state)
    moved, _, assigned, cancelled, _ = EFFECTS
    action = with_effects(store, moved, assigned, cancelled)
    yes(store, action)
    assert store.read_now(
        lambda conn: load_event(conn, Viewer.whole(FAMILY.id), weekly().id)
    ).state is (EventState.CANCELLED)
    assert back(store, action).outcome is Outcome.UNDONE
    assert store.read_now(state) == before


def test_taking_back_works_once(store: Store) -> None:
    action = put(store)
    yes(store, action)
    back(store, action, member=GUARDIAN)
    again = back(store, action)
    assert again.outcome is Outcome.ALREADY_UNDONE
    assert GUARDIAN.name in again.message
    assert refusals(store) == {Refusal.DUPLICATE: 1}
    assert yes(store, action).outcome is Outcome.ALREADY_UNDONE
    assert graph(store) == []


def test_only_what_is_done_is_taken_back(store: Store) -> None:
    action = put(store)
    assert back(store, action).outcome is Outcome.NOT_UNDOABLE
    assert stored_status(store, action) is ActionStatus.PENDING


def test_what_changed_since_stays_and_is_named(store: Store) -> None:
    store.write_now(lambda conn: insert_event(conn, weekly()))
    action = with_effects(store, EFFECTS[0])
    yes(store, action)
    later = weekly().start + timedelta(days=2)
    store.write_now(
        lambda conn: move_occurrence(
            conn,
            FAMILY.id,
            weekly().id,
            weekly().start,
            new_start=later,
            new_duration=None,
            change_id="by-hand",
            at=ANY_TIME,
        )
    )
    after = store.read_now(state)
    receipt = back(store, action)
    assert receipt.outcome is Outcome.CHANGED
    assert "move_occurrence" in receipt.message
    assert store.read_now(state) == after
    assert receipt.action.undone_at is None


def test_an_update_of_something_that_changed_since_is_not_written(store: Store) -> None:
    store.write_now(lambda conn: insert_event(conn, weekly()))
    first, second = (
        with_effects(store, EFFECTS[4]),
        put(
            store,
            proposal(
                "m2",
                effects=(
                    UpdateEvent(
                        event=replace(weekly(), summary="Fencing"), based_on=weekly()
                    ).frozen(),
                ),
            ),
        ),
    )
    assert yes(store, first).outcome is Outcome.DONE
    assert yes(store, second).outcome is Outcome.FAILED
    assert graph(store) == ["Karate"]


def test_what_is_gone_is_told(store: Store) -> None:
    store.write_now(lambda conn: insert_event(conn, weekly()))
    action = with_effects(store, EFFECTS[1])
    store.write_now(lambda conn: delete_event(conn, FAMILY.id, weekly().id))
    assert yes(store, action).outcome is Outcome.FAILED


# Asked for directly


def ask(store: Store, stored: Proposal, member: Member = PARENT) -> Receipt:
    return store.write_now(
        lambda conn: request(conn, stored, member=member, household=FAMILY, now=NOW)
    )


def test_a_direct_low_request_runs_at_once_and_only_once(store: Store) -> None:
    said = proposal(origin=Origin.SAID, source_type="CHAT")
    receipt = ask(store, said)
    assert receipt.outcome is Outcome.DONE
    assert ask(store, said).outcome is Outcome.ALREADY_DONE
    assert graph(store) == ["Tara m1"]
    assert back(store, receipt.action).outcome is Outcome.UNDONE


def test_a_direct_high_request_asks_first(store: Store) -> None:
    store.write_now(lambda conn: insert_event(conn, weekly()))
    said = proposal(effects=(CancelEvent(event_id=weekly().id).frozen(),), origin=Origin.SAID)
    receipt = ask(store, said)
    assert receipt.outcome is Outcome.ASKED
    assert graph(store) == ["Tara judo"]
    assert yes(store, receipt.action).outcome is Outcome.DONE


def test_a_child_or_another_origin_asks_an_adult(store: Store) -> None:
    by_child = ask(store, proposal("m1", origin=Origin.SAID), CHILD)
    by_tool = ask(store, proposal("m2", origin=Origin.TOOL))
    assert by_child.outcome is by_tool.outcome is Outcome.ASKED
    assert graph(store) == []


def test_a_direct_request_that_joins_an_overheard_one_asks(store: Store) -> None:
    put(store, proposal("m1", merge_key="k"))
    said = proposal("m2", merge_key="k", origin=Origin.SAID)
    assert ask(store, said).outcome is Outcome.ASKED
    assert graph(store) == []
