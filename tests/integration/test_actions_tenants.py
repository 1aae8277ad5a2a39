"""Finding and counting actions; households that share a database never meet."""

from collections.abc import Iterator
from datetime import UTC, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from kinkeeper.actions.action_retention import purge_extractions
from kinkeeper.actions.journal import count_refusals, list_transitions
from kinkeeper.actions.model import ActionStatus, PendingAction, Refusal
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.proposals import expire_due
from kinkeeper.actions.receipts import Outcome
from kinkeeper.actions.repository import find_action, list_actions, load_action
from kinkeeper.actions.reversal import undo
from kinkeeper.actions.tables import action_transitions, pending_actions
from kinkeeper.core.errors import InputError, NotFoundError
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store
from pending_presses import ANY_TIME, put, yes
from pending_samples import CHILD, FAMILY, NOW, PARENT, household, proposal, summaries


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


# Finding, counting, tenants


def test_an_id_is_found_by_its_beginning(store: Store) -> None:
    action = put(store)
    actions = [action, *(put(store, proposal(f"n{number}")) for number in range(40))]

    def found(text: str) -> PendingAction:
        return store.read_now(lambda conn: find_action(conn, Viewer.whole(FAMILY.id), text))

    assert found(action.id) == found(f" {action.id[:13].upper()} ") == action
    firsts = [each.id[0] for each in actions]
    shared = next(letter for letter in firsts if firsts.count(letter) > 1)
    with pytest.raises(InputError, match="several"):
        found(shared)
    with pytest.raises(InputError):
        found("  ")
    for wrong in ("zz", "%", "_"):
        with pytest.raises(NotFoundError):
            found(wrong)


def test_refusals_are_counted_since_a_time(store: Store) -> None:
    action = put(store)
    yes(store, action, member=CHILD, now=NOW)
    yes(store, action, member=CHILD, now=ANY_TIME)
    counted = store.read_now(lambda conn: count_refusals(conn, FAMILY.id, since=ANY_TIME))
    assert counted == {Refusal.DENIED: 1}


def test_two_households_never_meet(store: Store) -> None:
    ours, others = household(), household("graz")
    here = put(store, proposal(merge_key="k"))
    there = put(store, proposal(household="graz", merge_key="k"), family=others)
    # The worst case: the very same id in both.
    same_id = update(pending_actions).where(pending_actions.c.household == "graz")
    same_id_in_journal = update(action_transitions).where(action_transitions.c.household == "graz")
    store.write_now(lambda conn: conn.execute(same_id.values(id=here.id)))
    store.write_now(lambda conn: conn.execute(same_id_in_journal.values(action_id=here.id)))
    assert here.id != there.id

    def here_now() -> tuple[object, ...]:
        return store.read_now(
            lambda conn: (
                load_action(conn, ours.id, here.id),
                list_transitions(conn, ours.id, here.id),
                list_actions(
                    conn, Viewer.whole(ours.id), statuses=frozenset(ActionStatus), now=NOW
                ),
                count_refusals(conn, ours.id),
                summaries(conn, ours.id),
            )
        )

    before = here_now()
    for press in ("child", "yes", "again"):
        member = CHILD if press == "child" else PARENT
        yes(store, here, member=member, family=others)
    store.write_now(lambda conn: expire_due(conn, "graz", NOW + timedelta(days=9)))
    store.write_now(lambda conn: undo(conn, here.id, member=PARENT, household=others, now=ANY_TIME))
    assert here_now() == before
    assert store.read_now(lambda conn: load_action(conn, "graz", here.id)).undone_at == ANY_TIME
    with pytest.raises(NotFoundError):
        yes(store, here, family=household("linz"))
    with pytest.raises(NotFoundError):
        store.read_now(lambda conn: find_action(conn, Viewer.whole("linz"), here.id[:8]))
    assert yes(store, here).outcome is Outcome.DONE
    assert store.read_now(lambda conn: summaries(conn, "graz")) == []


def test_instants_come_back_in_utc(store: Store) -> None:
    assert put(store, now=NOW.astimezone(FAMILY.zone)).created_at.tzinfo is UTC


def test_old_actions_lose_the_words_of_the_chat_and_nothing_else(store: Store) -> None:
    words = {**proposal().extraction, "extracted_entities": [{"text": "the canary"}]}
    old = put(store, proposal("m1", extraction=words))
    young = put(store, proposal("m2", extraction=words), now=ANY_TIME)

    def purge() -> int:
        return store.write_now(
            lambda conn: purge_extractions(conn, FAMILY.id, created_before=ANY_TIME, now=ANY_TIME)
        )

    assert (purge(), purge()) == (1, 0)
    kept = store.read_now(lambda conn: load_action(conn, FAMILY.id, old.id))
    assert "canary" not in str(action_record(kept))
    assert action_record(kept)["dates"] == ["2026-05-14"]
    assert "canary" in str(store.read_now(lambda conn: load_action(conn, FAMILY.id, young.id)))
    assert yes(store, old).outcome is Outcome.DONE
