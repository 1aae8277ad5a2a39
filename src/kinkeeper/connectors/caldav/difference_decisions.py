"""What people decided about the differences they were asked about."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions import proposals
from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.repository import load_action
from kinkeeper.connectors.caldav.difference_cards import KEEP_OURS
from kinkeeper.connectors.caldav.sync_records import (
    NEVER,
    ObjectRow,
    ObjectState,
    change_object,
    forget_objects,
)
from kinkeeper.connectors.caldav.things import Thing
from kinkeeper.core.errors import NotFoundError

_OPEN = frozenset({ActionStatus.PENDING, ActionStatus.CONFIRMED, ActionStatus.EXECUTING})
_DECIDED = frozenset({ActionStatus.DONE, ActionStatus.REJECTED})
_DECLINED = "declined: it stays on the server and is left out here"
_NEWER = "the calendar server has a newer version"


def settle_asked(
    conn: Connection,
    household: str,
    rows: Sequence[ObjectRow],
    ours: Mapping[str, Thing],
    *,
    now: datetime,
) -> None:
    """Take into account what became of the questions that were asked.

    A question about one object of which a newer version stands on the server is taken back.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        rows: Of all objects.
        ours: All of ours by id.
        now: Aware.
    """
    asked = [row for row in rows if row.state is ObjectState.ASKED]
    sharing = Counter(row.action_id for row in asked)
    for row in asked:
        action = _action_of(conn, household, row, now)
        mine = ours.get(row.local_id or "")
        if action is not None and action.status in _OPEN:
            is_alone = action.status is ActionStatus.PENDING and sharing[row.action_id] == 1
            if row.etag != row.handled and is_alone:
                proposals.withdraw(conn, action.id, household=household, now=now, by_source=_NEWER)
                change_object(conn, household, row.path, **_looked_at_again(mine))
            continue
        values = _outcome(row, action, mine)
        if values is None:
            forget_objects(conn, household, [row.path])
        else:
            change_object(conn, household, row.path, **values)


def _action_of(
    conn: Connection, household: str, row: ObjectRow, now: datetime
) -> PendingAction | None:
    try:
        action = load_action(conn, household, row.action_id or "")
    except NotFoundError:
        return None
    return proposals.expire_if_due(conn, action, now)


def _outcome(
    row: ObjectRow, action: PendingAction | None, ours: Thing | None
) -> dict[str, Any] | None:
    """Return what is noted of an object once its question is settled; None where it is to be forgotten."""
    if action is not None and action.status is ActionStatus.FAILED:
        return _looked_at_again(ours)
    if action is None or action.status not in _DECIDED:
        pushed = NEVER if ours is None else ours.fingerprint()
        return {"state": ObjectState.UNDECIDED.value, "pushed": pushed}
    is_yes = action.status is ActionStatus.DONE and action.choice != KEEP_OURS
    if is_yes and action.undone_at is None:
        return _taken(row, ours)
    if ours is None:
        return {"state": ObjectState.APART.value, "note": _DECLINED}
    # Ours holds: it is written over exactly the version that was declined.
    return {"state": ObjectState.SYNCED.value, "agreed": NEVER, "pushed": NEVER}


def _taken(row: ObjectRow, ours: Thing | None) -> dict[str, Any] | None:
    if ours is None:
        return _looked_at_again(ours)
    if row.handled is None and ours.is_cancelled:
        return None
    is_equal = ours.shared() == row.offered
    return {
        "state": ObjectState.SYNCED.value,
        "agreed": row.offered,
        "trying": NEVER,
        "pushed": ours.fingerprint() if is_equal else NEVER,
    }


def _looked_at_again(ours: Thing | None) -> dict[str, Any]:
    state = ObjectState.NEW if ours is None else ObjectState.SYNCED
    return {"state": state.value, "handled": NEVER}
