"""Proposals come, merge, and go again without anybody's decision: superseded, withdrawn, expired."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.actions.action_writes import advance, insert_action, insert_source
from kinkeeper.actions.authority import scope_of
from kinkeeper.actions.effects.contract import Effect
from kinkeeper.actions.journal import record_transition
from kinkeeper.actions.lifetime import expiry
from kinkeeper.actions.model import ActionStatus, Cause, PendingAction, Proposal, is_due, step
from kinkeeper.actions.payload import payload_hash
from kinkeeper.actions.registry import reaches_outside, read_effects
from kinkeeper.actions.repository import find_due, find_mergeable, find_of_slot, load_action
from kinkeeper.core.errors import InputError, InvariantError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import as_utc
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import kept_to

MERGE_WINDOW = timedelta(hours=1)
_FIRST_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeResult:
    """What became of a proposal.

    Attributes:
        action: The stored action; an earlier one where the proposal was merged or repeated.
        is_new: Whether it was stored now.
    """

    action: PendingAction
    is_new: bool


def propose(
    conn: Connection,
    proposal: Proposal,
    *,
    household: Household,
    now: datetime,
    restored_by: str | None = None,
) -> ProposeResult:
    """Store a proposal, frozen, to await a person.

    The same source and slot proposed again gives back what was stored first, whatever the new one
    says: a changed mind is a new source that supersedes the old one. Another source with an equal
    merge key joins the first action while that is open and at most an hour old.

    Args:
        household: Whose it is; tells how long it waits.
        restored_by: Member id of the person who brought it back after it had expired; None of what is new.

    Raises:
        InputError: It could never be executed: an unknown effect, parameters that do not fit, an
            event of another household, what is private to several people, or two choices with one label.
    """
    if proposal.household != household.id:
        raise InvariantError(
            f"a proposal for household {proposal.household!r} was sent to {household.id!r}"
        )
    source = {
        "source_type": proposal.source_type,
        "source_id": proposal.source_id,
        "slot": proposal.slot,
    }
    action_id = stable_id(household.id, *source.values())
    stored = find_of_slot(conn, household.id, **source)
    if stored is not None:
        return ProposeResult(action=stored, is_new=False)
    effects = _checked(proposal)
    touched = scope_of(conn, household, effects)
    proposal = replace(proposal, scope=kept_to(touched, proposal.scope))
    earlier = _earlier(conn, proposal, now)
    if earlier is not None:
        insert_source(conn, earlier, source, at=now)
        return ProposeResult(action=earlier, is_new=False)
    action = PendingAction(
        id=action_id,
        proposal=proposal,
        payload_hash=payload_hash(proposal, version=_FIRST_VERSION),
        version=_FIRST_VERSION,
        status=ActionStatus.PENDING,
        created_at=as_utc(now),
        expires_at=expiry(conn, proposal, effects, household=household, asked_at=now),
    )
    insert_action(conn, action)
    insert_source(conn, action, source, at=now)
    cause = Cause.PROPOSE if restored_by is None else Cause.RESTORE
    record_transition(conn, household.id, action_id, step(None, cause, at=now, by=restored_by))
    return ProposeResult(action=load_action(conn, household.id, action_id), is_new=True)


def withdraw(
    conn: Connection, action_id: str, *, household: str, now: datetime, by_source: str
) -> bool:
    """Take back an open action because what was said is no longer meant.

    Args:
        by_source: Id of the message that took it back.

    Returns:
        Whether it was open until now.

    Raises:
        NotFoundError: The household has no action with that id.
    """
    action = expire_if_due(conn, load_action(conn, household, action_id, for_update=True), now)
    return _settle(conn, action, Cause.WITHDRAW, now, detail=by_source) is not None


def supersede(
    conn: Connection, action_id: str, *, household: str, by_action_id: str, now: datetime
) -> bool:
    """Close an open action because a newer one takes its place.

    Returns:
        Whether the older one was open until now.

    Raises:
        NotFoundError: The household has no action with one of these ids.
        InputError: An action cannot take its own place.
    """
    if by_action_id == action_id:
        raise InputError(f"action {action_id!r} cannot supersede itself")
    load_action(conn, household, by_action_id)
    action = expire_if_due(conn, load_action(conn, household, action_id, for_update=True), now)
    return _settle(conn, action, Cause.SUPERSEDE, now, detail=by_action_id) is not None


def expire_due(conn: Connection, household: str, now: datetime) -> list[PendingAction]:
    """Expire every open action whose time is over; return those that did so now, oldest first."""
    settled = [_expire(conn, action, now) for action in find_due(conn, household, now)]
    return [action for action in settled if action is not None]


def expire_if_due(conn: Connection, action: PendingAction, now: datetime) -> PendingAction:
    """Return the action, expired first if its time is over and no sweeper came by."""
    if not is_due(action, now):
        return action
    expired = _expire(conn, action, now)
    return expired or load_action(conn, action.proposal.household, action.id)


def _expire(conn: Connection, action: PendingAction, now: datetime) -> PendingAction | None:
    # Its time was over then, however late somebody looked.
    return advance(conn, action, Cause.EXPIRE, at=now, decided_at=action.expires_at)


def _settle(
    conn: Connection,
    action: PendingAction,
    cause: Cause,
    now: datetime,
    *,
    detail: str | None = None,
) -> PendingAction | None:
    if action.status is not ActionStatus.PENDING:
        return None
    return advance(conn, action, cause, at=now, detail=detail, decided_at=as_utc(now))


def _earlier(conn: Connection, proposal: Proposal, now: datetime) -> PendingAction | None:
    if proposal.merge_key is None:
        return None
    return find_mergeable(
        conn, proposal.household, proposal.merge_key, created_since=now - MERGE_WINDOW, now=now
    )


def _checked(proposal: Proposal) -> list[Effect]:
    """Return all that a proposal could write, whichever way it is resolved."""
    labels = [choice.label.strip().casefold() for choice in proposal.choices]
    if len(set(labels)) < len(labels) or not all(labels):
        raise InputError(f"choices need distinct labels: {labels}")
    found: list[Effect] = []
    for effects in (proposal.effects, *(choice.effects for choice in proposal.choices)):
        found += read_effects(proposal.household, effects)
        # What is done outside is settled on its own; what else were written would stay if that failed.
        if len(effects) > 1 and reaches_outside(effects):
            raise InputError("an effect outside the household needs its own action")
    return found
