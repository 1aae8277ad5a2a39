"""The life of a pending action: every allowed transition, written down once. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.core.errors import InvariantError


class Cause(StrEnum):
    """What moves an action on."""

    PROPOSE = "propose"
    CONFIRM = "confirm"  # a person pressed Confirm, or one of the choices
    SAID = "said"  # a person asked for it directly, and it needs no further question
    REJECT = "reject"
    EXPIRE = "expire"
    SUPERSEDE = "supersede"
    WITHDRAW = "withdraw"
    EXECUTE = "execute"
    SUCCEED = "succeed"
    FAIL = "fail"
    UNDO = "undo"  # stays done, marked as taken back
    RESTORE = "restore"  # a person brought back what had expired, as a new action
    PUT_BACK = "put_back"  # a person undid that


TRANSITIONS: Mapping[tuple[ActionStatus | None, Cause], ActionStatus] = MappingProxyType(
    {
        (None, Cause.PROPOSE): ActionStatus.PENDING,
        (ActionStatus.PENDING, Cause.CONFIRM): ActionStatus.CONFIRMED,
        (ActionStatus.PENDING, Cause.SAID): ActionStatus.CONFIRMED,
        (ActionStatus.PENDING, Cause.REJECT): ActionStatus.REJECTED,
        (ActionStatus.PENDING, Cause.EXPIRE): ActionStatus.EXPIRED,
        (ActionStatus.PENDING, Cause.SUPERSEDE): ActionStatus.SUPERSEDED,
        (ActionStatus.PENDING, Cause.WITHDRAW): ActionStatus.WITHDRAWN,
        (ActionStatus.CONFIRMED, Cause.EXECUTE): ActionStatus.EXECUTING,
        (ActionStatus.EXECUTING, Cause.SUCCEED): ActionStatus.DONE,
        (ActionStatus.EXECUTING, Cause.FAIL): ActionStatus.FAILED,
        (ActionStatus.DONE, Cause.UNDO): ActionStatus.DONE,
        (None, Cause.RESTORE): ActionStatus.PENDING,
        (ActionStatus.PENDING, Cause.PUT_BACK): ActionStatus.EXPIRED,
    }
)

# Only a person decides; rules and time may withdraw, supersede and expire.
DECISIONS = frozenset(
    {Cause.CONFIRM, Cause.SAID, Cause.REJECT, Cause.UNDO, Cause.RESTORE, Cause.PUT_BACK}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One journaled step of an action.

    Attributes:
        from_status: Status before; None of a new action.
        to_status: Status after.
        cause: What moved it.
        at: When, aware.
        by: Member id of the person who did; None where a rule or time did.
        detail: The choice, the reason, or the source or action that caused it.
    """

    from_status: ActionStatus | None
    to_status: ActionStatus
    cause: Cause
    at: datetime
    by: str | None = None
    detail: str | None = None


class Refusal(StrEnum):
    """Why a press changed nothing."""

    DENIED = "denied"  # not an adult of the household
    NOT_YOURS = "not_yours"  # speaks in the name of another adult
    WRONG_CHAT = "wrong_chat"  # pressed in another chat than the card stands in
    STALE_CARD = "stale_card"  # what the card showed is not what is stored
    LATE = "late"  # expired, superseded or withdrawn before
    DUPLICATE = "duplicate"  # decided before
    TAMPERED = "tampered"  # the stored payload is not the one that was frozen


def step(
    status: ActionStatus | None,
    cause: Cause,
    *,
    at: datetime,
    by: str | None = None,
    detail: str | None = None,
) -> Transition:
    """Return the transition that a cause makes.

    Args:
        status: Where the action stands; None of a new one.
        cause: What moves it on.
        at: When, aware.
        by: Member id of the person who decides; needed by a decision, refused otherwise.
        detail: For the journal.

    Raises:
        InvariantError: The cause does not move an action that stands there, or a decision has no
            person, or something else has one.
    """
    to_status = TRANSITIONS.get((status, cause))
    if to_status is None:
        raise InvariantError(f"an action that is {status or 'new'} has no transition {cause!r}")
    if (cause in DECISIONS) != (by is not None):
        raise InvariantError(f"{cause!r} by {by!r}: only a person can do this")
    return Transition(
        from_status=status, to_status=to_status, cause=cause, at=at, by=by, detail=detail
    )


def is_due(action: PendingAction, now: datetime) -> bool:
    """Whether a pending action's time is over."""
    return action.status is ActionStatus.PENDING and action.expires_at <= now


def as_of(action: PendingAction, now: datetime) -> PendingAction:
    """Return the action as it stands at `now`: one whose time is over counts as expired."""
    if not is_due(action, now):
        return action
    expired_at = action.expires_at
    return replace(action, status=ActionStatus.EXPIRED, decided_at=expired_at)
