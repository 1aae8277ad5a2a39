"""What people and rules do to pending actions, each in a transaction of its own."""

from datetime import datetime, timedelta

from kinkeeper.actions.approvals import confirm, reject, resolve
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.journal import count_refusals
from kinkeeper.actions.model import ActionStatus, PendingAction, Proposal, Refusal
from kinkeeper.actions.proposals import propose
from kinkeeper.actions.receipts import Receipt
from kinkeeper.actions.repository import list_actions, load_action
from kinkeeper.actions.reversal import undo
from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store
from pending_samples import FAMILY, NOW, PARENT, proposal, summaries

ANY_TIME = NOW + timedelta(minutes=5)


def put(
    store: Store, stored: Proposal | None = None, *, family: Household = FAMILY, now: datetime = NOW
) -> PendingAction:
    wanted = stored or proposal()
    return store.write_now(lambda conn: propose(conn, wanted, household=family, now=now)).action


def yes(
    store: Store,
    action: PendingAction,
    *,
    member: Member = PARENT,
    family: Household = FAMILY,
    now: datetime = ANY_TIME,
    chat_id: str | None = None,
    expected_hash: str | None = None,
) -> Receipt:
    return store.write_now(
        lambda conn: confirm(
            conn,
            action.id,
            member=member,
            household=family,
            now=now,
            chat_id=chat_id,
            expected_hash=expected_hash,
        )
    )


def no(store: Store, action: PendingAction, *, member: Member = PARENT) -> Receipt:
    return store.write_now(
        lambda conn: reject(
            conn, action.id, member=member, household=FAMILY, now=ANY_TIME, reason="not us"
        )
    )


def pick(store: Store, action: PendingAction, label: str) -> Receipt:
    return store.write_now(
        lambda conn: resolve(conn, action.id, label, member=PARENT, household=FAMILY, now=ANY_TIME)
    )


def back(store: Store, action: PendingAction, *, member: Member = PARENT) -> Receipt:
    return store.write_now(
        lambda conn: undo(conn, action.id, member=member, household=FAMILY, now=ANY_TIME)
    )


def stored_status(store: Store, action: PendingAction) -> ActionStatus:
    return store.read_now(lambda conn: load_action(conn, FAMILY.id, action.id)).status


def graph(store: Store) -> list[str]:
    return store.read_now(summaries)


def refusals(store: Store) -> dict[Refusal, int]:
    return store.read_now(lambda conn: count_refusals(conn, FAMILY.id))


def with_effects(store: Store, *effects: Effect) -> PendingAction:
    return put(store, proposal(effects=tuple(effect.frozen() for effect in effects)))


def everything(store: Store) -> list[PendingAction]:
    return store.read_now(
        lambda conn: list_actions(
            conn, Viewer.whole(FAMILY.id), statuses=tuple(ActionStatus), now=NOW
        )
    )
