"""When an action is over, the messages that carry its buttons say so, and lose them.

Called where transitions are journaled, so that no way out of an action can forget it.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus, PendingAction, RejectReason
from kinkeeper.actions.registry import EFFECTS
from kinkeeper.messaging import outbox
from kinkeeper.messaging.outbound import (
    Button,
    Outbound,
    OutboundKind,
    OutboundState,
    StoredOutbound,
    Verb,
)

SETTLED_FIRST = "it was decided before it was sent"
UNDER_WAY = frozenset({ActionStatus.PENDING, ActionStatus.CONFIRMED, ActionStatus.EXECUTING})

_RESULTS: Mapping[ActionStatus, str] = MappingProxyType(
    {
        ActionStatus.DONE: "Done",
        ActionStatus.FAILED: "This couldn't be done, and nothing was changed",
        ActionStatus.REJECTED: "Declined",
        ActionStatus.EXPIRED: "Expired, nothing was changed",
        ActionStatus.SUPERSEDED: "Replaced by something newer",
        ActionStatus.WITHDRAWN: "Withdrawn in the chat",
    }
)


def announce(conn: Connection, action: PendingAction, *, now: datetime) -> None:
    """Put a change for every message that carries an action's buttons, once the action is over.

    A message that nobody asked for and that has not gone out yet stays unsaid.

    Args:
        conn: In the write transaction that moves the action on.
        action: As it is now stored.
    """
    if action.status in UNDER_WAY:
        return
    household = action.proposal.household
    for row in outbox.carriers(conn, household, action.id):
        is_unsaid = row.state is OutboundState.QUEUED and row.message.is_unprompted
        if is_unsaid and outbox.drop_waiting(conn, household, row.id, reason=SETTLED_FIRST):
            continue
        outbox.put(conn, household, _change(action, row), now=now)


def result_line(action: PendingAction) -> str:
    """Return the one line that says how an action ended."""
    summary = action.proposal.summary
    if action.undone_at is not None:
        return f"Undone: {summary}"
    if (action.receipt or {}).get("outcome") == "unknown":
        return f"This may have been done; check before trying again: {summary}"
    results = [each.result for each in action.proposal.choices if each.label == action.choice]
    if action.status is ActionStatus.DONE and results:
        return results[0]
    return f"{_RESULTS[action.status]}: {summary}"


def can_be_undone(action: PendingAction) -> bool:
    """Whether something was written that can be taken back, and was not yet."""
    if action.status is not ActionStatus.DONE or action.undone_at is not None:
        return False
    written = (action.receipt or {}).get("written", ())
    kinds = [EFFECTS.get(each["effect"]) for each in written]
    return bool(kinds) and all(kind is not None and kind.undo is not None for kind in kinds)


def _change(action: PendingAction, row: StoredOutbound) -> Outbound:
    end = "undone" if action.undone_at is not None else action.status.value
    return Outbound(
        channel=row.message.channel,
        chat_id=row.message.chat_id,
        body=result_line(action),
        dedupe_key=f"result:{row.id}:{end}",
        kind=OutboundKind.EDIT,
        edits=row.id,
        buttons=_buttons(action, row),
        action_id=action.id,
        is_unprompted=False,
        is_soundless=True,
    )


def _buttons(action: PendingAction, row: StoredOutbound) -> tuple[Button, ...]:
    if can_be_undone(action):
        return (Button(label="Undo", verb=Verb.UNDO),)
    if action.status is ActionStatus.EXPIRED:
        return (Button(label="Restore", verb=Verb.RESTORE),)
    audience = row.message.audience
    if action.status is ActionStatus.REJECTED and audience == action.decided_by is not None:
        return tuple(
            Button(label=each.label, verb=Verb.REASON, choice=each.value)
            for each in RejectReason.of(action.proposal.type)
        )
    return ()
