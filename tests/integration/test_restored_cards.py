"""What expired is listed, and can be brought back: once, by an adult, with everything it said."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.actions.action_retention import RESTORABLE, purge_extractions
from kinkeeper.actions.journal import list_transitions
from kinkeeper.actions.model import ActionStatus, Cause, PendingAction
from kinkeeper.actions.payload import payload_hash
from kinkeeper.actions.proposals import withdraw
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.repository import (
    find_by_source,
    load_action,
    open_actions,
    restorable_actions,
)
from kinkeeper.actions.reversal import restore, undo
from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import Viewer, person_scope
from kinkeeper.store.store import Store
from pending_presses import put, yes
from pending_samples import (
    CHILD,
    EXPIRES,
    FAMILY,
    FRIEND,
    GUARDIAN,
    NOW,
    PARENT,
    event,
    proposal,
    summaries,
)
from pending_samples import adding as added

LATE = EXPIRES + timedelta(hours=3)
LONG_AGO = NOW - timedelta(days=300)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


def again(store: Store, action: PendingAction, *, member: Member = GUARDIAN) -> Receipt:
    return store.write_now(
        lambda conn: restore(conn, action.id, member=member, household=FAMILY, now=LATE)
    )


def listed(store: Store, viewer: Viewer | None = None) -> list[str]:
    found = store.read_now(
        lambda conn: restorable_actions(
            conn, viewer or Viewer.whole(FAMILY.id), now=LATE, since=LONG_AGO
        )
    )
    return [each.id for each in found]


def test_what_is_brought_back_is_the_same_plan_with_the_same_source_and_waits_again(
    store: Store,
) -> None:
    old = put(store)
    assert listed(store) == [old.id]
    receipt = again(store, old)
    new = receipt.action
    assert (receipt.outcome, receipt.is_change, new.status) == (
        Outcome.RESTORED,
        True,
        ActionStatus.PENDING,
    )
    assert new.id != old.id
    assert replace(new.proposal, slot="0") == old.proposal
    assert new.payload_hash == old.payload_hash == payload_hash(new.proposal, version=new.version)
    assert new.expires_at == LATE + FAMILY.pending_ttl
    assert listed(store) == []
    [step] = store.read_now(lambda conn: list_transitions(conn, FAMILY.id, new.id))
    assert (step.cause, step.by) == (Cause.RESTORE, GUARDIAN.id)
    of_message = store.read_now(lambda conn: find_by_source(conn, FAMILY.id, "OBSERVER", "m1"))
    assert [each.id for each in of_message] == [old.id, new.id]


def test_bringing_it_back_twice_gives_one_plan_and_its_yes_is_written_once(store: Store) -> None:
    old = put(store)
    new, repeated = again(store, old).action, again(store, old, member=PARENT)
    assert repeated.action.id == new.id
    assert not repeated.is_change
    # Its day is over by now; it can be saved all the same.
    assert yes(store, new, now=LATE).outcome is Outcome.DONE
    assert again(store, old).outcome is Outcome.ALREADY_DONE
    events = store.read_now(summaries)
    assert events == ["Tara m1"]


def test_undoing_it_lets_it_be_expired_again_and_brought_back_again(store: Store) -> None:
    action = put(store)
    seen = {action.id}
    for _ in range(3):
        new = again(store, action).action
        assert new.id not in seen
        seen.add(new.id)
        receipt = store.write_now(
            lambda conn, each=new: undo(  # type: ignore[misc]  # its default is an action
                conn, each.id, member=PARENT, household=FAMILY, now=LATE
            )
        )
        assert (receipt.outcome, receipt.action.status) == (Outcome.UNDONE, ActionStatus.EXPIRED)
        assert listed(store) == [new.id]
        # Whoever still has the first card in front of them means the plan, however often it came back.
    assert again(store, action).action.status is ActionStatus.PENDING
    assert (
        len(store.read_now(lambda conn: open_actions(conn, Viewer.whole(FAMILY.id), now=LATE))) == 1
    )


@pytest.mark.parametrize("member", [CHILD, FRIEND])
def test_only_adults_bring_back(store: Store, member: Member) -> None:
    old = put(store)
    assert again(store, old, member=member).outcome is Outcome.DENIED
    assert listed(store) == [old.id]


def test_what_is_private_is_listed_to_its_owner_and_brought_back_by_nobody_else(
    store: Store,
) -> None:
    secret = event("gift", scope=person_scope(PARENT.id))
    old = put(store, proposal("gift", effects=added(secret)))
    assert listed(store, Viewer.of(FAMILY.id, PARENT.id)) == [old.id]
    assert listed(store, Viewer.of(FAMILY.id, GUARDIAN.id)) == []
    with pytest.raises(NotFoundError):
        again(store, old)
    assert again(store, old, member=PARENT).outcome is Outcome.RESTORED


def test_what_somebody_said_again_is_not_listed_twice(store: Store) -> None:
    old = put(store, proposal("m1", merge_key="same"))
    newer = put(store, proposal("m2", merge_key="same"), now=EXPIRES + timedelta(hours=1))
    assert listed(store) == []
    assert again(store, old).action.id == newer.id


def test_what_did_not_expire_is_not_brought_back(store: Store) -> None:
    declined, done = put(store, proposal("m1")), put(store, proposal("m2"))
    yes(store, done)
    withdrawn = put(store, proposal("m3"))

    def take_back(conn: Connection) -> bool:
        return withdraw(conn, withdrawn.id, household=FAMILY.id, now=NOW, by_source="m9")

    store.write_now(take_back)
    assert again(store, done).outcome is Outcome.ALREADY_DONE
    assert again(store, withdrawn).outcome is Outcome.WITHDRAWN
    assert again(store, declined).outcome is Outcome.RESTORED


def test_its_words_are_kept_for_a_week_after_it_expired_and_then_it_is_not_offered(
    store: Store,
) -> None:
    old = put(store)
    again_at = EXPIRES + RESTORABLE
    again(store, put(store, proposal("other")), member=PARENT)
    yes(store, old, now=LATE)  # settles it

    def purge(now: datetime) -> None:
        store.write_now(
            lambda conn: purge_extractions(conn, FAMILY.id, created_before=now, now=now)
        )

    purge(again_at - timedelta(seconds=1))
    assert old.id in listed(store)
    purge(LATE + RESTORABLE)
    assert old.id not in listed(store)
    with pytest.raises(ConflictError):
        again(store, old)


def test_what_waits_for_long_keeps_all_it_shows_and_can_still_be_confirmed(store: Store) -> None:
    far = event("far", start=event().start + timedelta(days=90))
    waits = put(
        store,
        proposal("far", effects=added(far), request={"domain": "events", "shown": {"a": "b"}}),
    )
    later = NOW + timedelta(days=60)
    store.write_now(
        lambda conn: purge_extractions(conn, FAMILY.id, created_before=later, now=later)
    )
    assert load(store, waits).proposal.request == waits.proposal.request
    assert yes(store, waits, now=later).outcome is Outcome.DONE


def load(store: Store, action: PendingAction) -> PendingAction:
    return store.read_now(lambda conn: load_action(conn, FAMILY.id, action.id))
