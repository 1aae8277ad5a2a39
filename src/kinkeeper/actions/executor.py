"""The one place through which anything lasting changes: it writes what a person said yes to.

Before it writes it looks for that yes in the journal, not only in the action's row, and compares the
frozen payload with its hash. All effects of an action are written, or none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from kinkeeper.actions import action_retention, authority
from kinkeeper.actions.action_writes import advance
from kinkeeper.actions.consent import Consent, consent_for, highest
from kinkeeper.actions.effects.contract import Effect, Execution
from kinkeeper.actions.journal import list_transitions, record_refusal
from kinkeeper.actions.model import ActionStatus, Cause, PendingAction, Refusal
from kinkeeper.actions.payload import payload_hash
from kinkeeper.actions.registry import reaches_outside, read_effects, stakes_of
from kinkeeper.actions.repository import load_action
from kinkeeper.core.errors import (
    ConflictError,
    DeniedError,
    InputError,
    InvariantError,
    NotFoundError,
)
from kinkeeper.core.ids import stable_id

TAMPERED = "the stored action differs from the one that was shown"


def execute(conn: Connection, household: str, action_id: str, *, now: datetime) -> PendingAction:
    """Write the effects of a confirmed action, in the caller's transaction.

    Args:
        action_id: An action that a person has just said yes to.

    Returns:
        The action, done or failed: its receipt tells what was written or why nothing was. Or still being
        executed, where it reaches outside the database and a worker has to settle it.

    Raises:
        NotFoundError: The household has no action with that id.
        InvariantError: Nobody said yes to it.
    """
    action = load_action(conn, household, action_id, for_update=True)
    decided_by = require_consent(conn, action)
    action = _advanced(advance(conn, action, Cause.EXECUTE, at=now))
    if payload_hash(action.proposal, version=action.version) != action.payload_hash:
        record_refusal(conn, household, action_id, reason=Refusal.TAMPERED, by=decided_by, at=now)
        return _failed(conn, action, TAMPERED, now)
    try:
        effects = read_effects(household, chosen_effects(action))
        hidden = authority.hidden_by(conn, household, effects)
        with conn.begin_nested():
            execution = Execution(
                household=household,
                action_id=action.id,
                change_id=action.id,
                decided_by=decided_by,
                at=now,
                scope=action.proposal.scope,
            )
            written = _write(conn, effects, execution)
    except (ConflictError, DeniedError, InputError, NotFoundError) as error:
        return _failed(conn, action, str(error), now)
    if reaches_outside(chosen_effects(action)):
        return action
    receipt = {"outcome": "done", "written": written}
    done = _advanced(advance(conn, action, Cause.SUCCEED, at=now, receipt=receipt))
    action_retention.let_go(conn, done)
    authority.narrow(conn, done, hidden)
    return done


def require_consent(conn: Connection, action: PendingAction) -> str:
    """Return the member whose yes an action rests on.

    Raises:
        InvariantError: It is not confirmed, the journal knows no such yes, or the yes came without
            a question where one is due.
    """
    last = list_transitions(conn, action.proposal.household, action.id)[-1:]
    if action.status is not ActionStatus.CONFIRMED or not last:
        raise InvariantError(f"action {action.id!r} is {action.status}; nobody confirmed it")
    decision = last[0]
    person = decision.by
    if decision.to_status is not ActionStatus.CONFIRMED or person is None:
        raise InvariantError(f"action {action.id!r} has no person's decision in the journal")
    if person != action.decided_by:
        raise InvariantError(f"action {action.id!r} was confirmed by somebody else")
    if decision.cause is Cause.SAID:
        stakes = highest(action.proposal.stakes, stakes_of(chosen_effects(action)))
        consent = consent_for(action.proposal.origin, stakes)
        if consent is not Consent.RUN_AT_ONCE:
            raise InvariantError(f"action {action.id!r} needed approval first")
    return person


def chosen_effects(action: PendingAction) -> Sequence[Mapping[str, Any]]:
    """Return what would be written: the chosen way's effects, or those of Confirm."""
    if action.choice is None:
        return action.proposal.effects
    chosen = [each for each in action.proposal.choices if each.label == action.choice]
    if len(chosen) != 1:
        raise InvariantError(f"action {action.id!r} has no choice {action.choice!r}")
    return chosen[0].effects


def change_id(action_id: str, number: int) -> str:
    """Return what identifies one effect of an action: the same at every try.

    Args:
        number: Position of the effect, from 0.
    """
    return stable_id(action_id, number)


def _write(
    conn: Connection, effects: Sequence[Effect], execution: Execution
) -> list[dict[str, str]]:
    written = []
    for number, effect in enumerate(effects):
        one = replace(execution, change_id=change_id(execution.action_id, number))
        made = effect.apply(conn, one)
        written.append({"effect": effect.effect, "change_id": made or one.change_id})
    return written


def _failed(conn: Connection, action: PendingAction, reason: str, now: datetime) -> PendingAction:
    receipt = {"outcome": "failed", "reason": reason}
    failed = advance(conn, action, Cause.FAIL, at=now, receipt=receipt)
    return _advanced(failed)


def _advanced(action: PendingAction | None) -> PendingAction:
    """Return an action nobody else could move, for its row is held by this transaction."""
    if action is None:
        raise InvariantError("another process changed the action while it was being executed")
    return action
