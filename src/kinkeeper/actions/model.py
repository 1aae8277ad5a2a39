"""Pending actions: frozen proposals that await a person, and every transition that is allowed. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from kinkeeper.actions.consent import Origin, Stakes
from kinkeeper.core.errors import InvariantError
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE

FROM_CHAT: Final = "CHAT"
"""Type of the source of what was asked for in conversation; its id is the turn's."""

TOLD: Final = "TOLD"
"""Type of the source of a statement from a session; its id is its member's and the episode's."""

TOLD_TO_THE_ASSISTANT: Final = frozenset({FROM_CHAT, TOLD})
"""Source types of what one person asked of the assistant or told it, and nobody overheard."""

OPENS_TO: Final = "opens_to"
"""In the result of a request that only its person is shown: the scope of those who may read it once it is confirmed."""


class ActionType(StrEnum):
    """What a pending action would change."""

    MAINTENANCE_UPDATE = "maintenance_update"
    EVENT_CREATE = "event_create"
    CARE_ASSIGNMENT = "care_assignment"
    SCHEDULE_CHANGE = "schedule_change"
    MEMORY_FACT = "memory_fact"
    TASK = "task"
    GOAL = "goal"
    NOTE = "note"
    EMAIL = "email"
    FOREIGN_TOOL = "foreign_tool"

    @property
    def is_about_calendar(self) -> bool:
        """Whether it would change what takes place when, with whom."""
        return self in _ABOUT_CALENDAR


_ABOUT_CALENDAR = frozenset(
    {
        ActionType.MAINTENANCE_UPDATE,
        ActionType.EVENT_CREATE,
        ActionType.CARE_ASSIGNMENT,
        ActionType.SCHEDULE_CHANGE,
    }
)


class ActionStatus(StrEnum):
    """Where a pending action stands."""

    PENDING = "pending"  # awaits a person
    CONFIRMED = "confirmed"  # a person said yes; not yet executed
    EXECUTING = "executing"  # effects outside the database are under way
    DONE = "done"  # written; the receipt tells what
    FAILED = "failed"  # confirmed, but could not be executed; nothing was written
    REJECTED = "rejected"  # a person said no
    EXPIRED = "expired"  # nobody answered in time; this is not a no
    SUPERSEDED = "superseded"  # a newer proposal took its place
    WITHDRAWN = "withdrawn"  # what was said has been taken back


class RejectReason(StrEnum):
    """Why a person said no, where they tell."""

    WRONG_PERSON = "wrong_person"
    WRONG_DAY = "wrong_day"
    NOT_A_PLAN = "not_a_plan"
    NOT_TRUE = "not_true"
    ALREADY_KNOWN = "already_known"

    @classmethod
    def of(cls, kind: ActionType) -> tuple["RejectReason", ...]:
        """Return the reasons there can be for what an action would change."""
        if kind is ActionType.MEMORY_FACT:
            others = {cls.WRONG_DAY, cls.NOT_A_PLAN}
        else:
            others = {cls.NOT_TRUE}
        return tuple(reason for reason in cls if reason not in others)

    @property
    def label(self) -> str:
        """Text of its button."""
        return self.value.replace("_", " ").capitalize()


_CONFIRMED = frozenset(
    {ActionStatus.CONFIRMED, ActionStatus.EXECUTING, ActionStatus.DONE, ActionStatus.FAILED}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One way to resolve an action, shown as a button.

    Attributes:
        label: Text of the button.
        effects: What is written when it is chosen: a list of {"effect": name, ...parameters}.
        result: One line that replaces the question once chosen.
    """

    label: str
    effects: tuple[Mapping[str, Any], ...]
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What the observer (or another source) asks a person to confirm.

    Attributes:
        type: What it would change.
        source_type: OBSERVER, CHAT, EMAIL_MANUAL, ...
        source_id: Id of the source within that type; with household and `slot` it identifies the
            action, so that proposing twice adds nothing.
        slot: Tells several actions of one source apart ("0", "1", ...).
        chat_id: Chat it came from, if any.
        extraction: The extraction record it rests on.
        extraction_confidence: In [0, 1].
        summary: One line for people.
        effects: What Confirm writes: a list of {"effect": name, ...parameters}. Frozen and hashed.
        choices: Other ways to resolve it; empty where Confirm is the only one.
        merge_key: Type, dates, child and task in one text; an equal key still pending within the
            last hour is merged. None never merges.
        suggested_event: How the calendar would look, for people ({"summary","start","end",...}) or None.
        conflict_key: Stable key of the conflict it answers, if any.
        origin: How it was learnt; decides, with the stakes, whether anything may run without being asked about.
        stakes: What a mistake would cost by the table of requests; the effects' own count beside it.
        request: What was asked for in conversation: {"domain", "action", "params", "shown", "result"}; `shown` is
            all that a person must see before a yes. Empty of what was not asked for there.
        scope: Who may read and decide it: HOUSEHOLD_SCOPE or "person:<member id>", the narrowest of what it touches.
    """

    household: str
    type: ActionType
    source_type: str
    source_id: str
    slot: str
    chat_id: str | None
    extraction: Mapping[str, Any]
    extraction_confidence: float
    summary: str
    effects: tuple[Mapping[str, Any], ...]
    choices: tuple[Choice, ...]
    merge_key: str | None
    suggested_event: Mapping[str, Any] | None = None
    conflict_key: str | None = None
    origin: Origin = Origin.OBSERVED
    stakes: Stakes = Stakes.LOW
    request: Mapping[str, Any] = field(default_factory=dict)
    scope: str = HOUSEHOLD_SCOPE


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAction:
    """A stored proposal.

    Attributes:
        id: UUID, deterministic from household, source and slot.
        payload_hash: SHA-256 of everything a person is shown and that would be written.
        version: Counts changes of the frozen payload, from 1.
        expires_at: When it expires if nobody decides, aware.
        decided_at: When a person or time settled it.
        decided_by: Member id of that person, if any.
        choice: Label that was chosen, if any.
        receipt: What execution wrote, or why it failed.
        undone_at: When a person took it back after it was done.
        undone_by: Member id of that person.
    """

    id: str
    proposal: Proposal
    payload_hash: str
    version: int
    status: ActionStatus
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None = None
    decided_by: str | None = None
    choice: str | None = None
    receipt: Mapping[str, Any] | None = None
    undone_at: datetime | None = None
    undone_by: str | None = None

    @property
    def is_confirmed(self) -> bool:
        """Whether a person said yes, whatever came of it."""
        return self.status in _CONFIRMED


# The life of a pending action: every allowed transition, written down once. Pure.


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
        by: Member id of the person who decides; needed by a decision, refused otherwise.

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
