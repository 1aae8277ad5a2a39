"""Carrying out one request: what only reads is read, what writes becomes an action and runs or awaits a yes."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError
from sqlalchemy import Connection

from kinkeeper.actions import approvals
from kinkeeper.actions.authority import Press, may_settle
from kinkeeper.actions.consent import Consent, consent_for, highest
from kinkeeper.actions.model import FROM_CHAT, OPENS_TO, ActionStatus, PendingAction, Proposal
from kinkeeper.actions.payload import plain
from kinkeeper.actions.receipts import Receipt, executed
from kinkeeper.actions.repository import find_of_slot
from kinkeeper.actions.requests.model import (
    ActionResult,
    Asked,
    Catalogue,
    Decider,
    Prepared,
    RequestKind,
    ResultStatus,
)
from kinkeeper.core.errors import (
    ConflictError,
    InputError,
    InvariantError,
    KinkeeperError,
    UnavailableError,
    UnclearError,
)
from kinkeeper.core.ids import canonical_json, stable_id
from kinkeeper.household.viewers import person_scope
from kinkeeper.language.text import strip_controls
from kinkeeper.messaging.message_json import storable
from kinkeeper.store.store import Store

_STATUSES: Mapping[ActionStatus, ResultStatus] = {
    ActionStatus.PENDING: ResultStatus.AWAITING,
    ActionStatus.CONFIRMED: ResultStatus.UNDER_WAY,
    ActionStatus.EXECUTING: ResultStatus.UNDER_WAY,
    ActionStatus.DONE: ResultStatus.DONE,
    ActionStatus.FAILED: ResultStatus.FAILED,
    ActionStatus.REJECTED: ResultStatus.CANCELLED,
    ActionStatus.EXPIRED: ResultStatus.CANCELLED,
    ActionStatus.SUPERSEDED: ResultStatus.CANCELLED,
    ActionStatus.WITHDRAWN: ResultStatus.CANCELLED,
}


async def perform(
    catalogue: Catalogue,
    store: Store,
    asked: Asked,
    *,
    domain: str,
    action: str,
    params: Mapping[str, Any],
) -> ActionResult:
    """Carry out one request, and say what came of it; what people may get wrong is a result, too.

    The same request of the same turn is carried out once: asked again, it tells how the first stands.

    Args:
        action: Its name.
        params: As planned, not yet checked.
    """
    planned = _planned(domain, action, params)
    try:
        return await _carried_out(
            catalogue,
            store,
            asked,
            planned,
            settle=lambda conn, each: _asked_for(conn, each, asked),
        )
    except UnclearError as error:
        question = str(error)
        return replace(planned, status=ResultStatus.UNCLEAR, error=question, options=error.options)
    except InvariantError:
        raise
    except UnavailableError as error:
        return replace(planned, error=str(error), may_retry=True)
    except KinkeeperError as error:
        return replace(planned, error=str(error))


async def perform_by_hand(
    catalogue: Catalogue,
    store: Store,
    asked: Asked,
    *,
    domain: str,
    action: str,
    params: Mapping[str, Any],
    check: Callable[[Connection], None] | None = None,
) -> ActionResult:
    """Carry out what a person does by hand on a page or with a command: doing it is their yes.

    What somebody may not decide awaits an adult all the same.

    Args:
        asked: Who does it; its turn names this one deed, so that it is done once.
        action: Its name.
        params: Not yet checked.
        check: Asked in the transaction that writes; what it raises prevents the writing.

    Raises:
        NotFoundError: What is meant is not there.
        UnclearError: Several things could be meant, or something is missing.
        ConflictError: It could not be done, because something has changed.
        InputError: The parameters do not fit.
    """
    planned = _planned(domain, action, params)

    def decided(conn: Connection, proposal: Proposal) -> ActionResult:
        if check is not None:
            check(conn)
        result = _asked_for(conn, proposal, asked)
        if result.status is ResultStatus.AWAITING and result.action_id is not None:
            return result_of(_confirmed(conn, result.action_id, asked).action)
        return result

    result = await _carried_out(catalogue, store, asked, planned, settle=decided)
    if result.status is ResultStatus.FAILED:
        raise ConflictError(result.error or f"{domain}.{action} could not be done")
    return result


def propose_prepared(
    conn: Connection,
    kind: RequestKind,
    asked: Asked,
    *,
    params: Mapping[str, Any],
    prepared: Prepared,
) -> ActionResult:
    """Store a request that is prepared already, in the caller's transaction; it awaits what its origin requires."""
    planned = _planned(kind.domain, kind.name, params)
    return _asked_for(conn, _proposal(kind, asked, planned, prepared), asked)


def result_of(action: PendingAction) -> ActionResult:
    """Return how a request stands that was asked for in conversation and writes.

    Raises:
        InvariantError: It was not asked for in conversation.
    """
    request = action.proposal.request
    if not request:
        raise InvariantError(f"action {action.id!r} was not asked for in conversation")
    status = _STATUSES[action.status]
    reason = executed(action).message if status is ResultStatus.FAILED else None
    result = dict(request["result"])
    for written in (action.receipt or {}).get("written", ()):
        result |= written.get("result", {})
    return ActionResult(
        domain=request["domain"],
        action=request["action"],
        status=status,
        params=request["params"],
        result=result,
        summary=action.proposal.summary,
        error=reason,
        action_id=action.id,
    )


def _planned(domain: str, action: str, params: Mapping[str, Any]) -> ActionResult:
    return ActionResult(
        domain=domain, action=action, status=ResultStatus.FAILED, params=_storable(plain(params))
    )


def _storable(value: Any) -> Any:
    """Return plain data with all its texts as databases store them and people see them.

    What cannot be seen would be agreed to unseen.
    """
    match value:
        case str():
            return strip_controls(storable(value))
        case dict():
            return {storable(name): _storable(item) for name, item in value.items()}
        case list():
            return [_storable(item) for item in value]
        case _:
            return value


def _confirmed(conn: Connection, action_id: str, asked: Asked) -> Receipt:
    return approvals.confirm(
        conn, action_id, member=asked.member, household=asked.household, now=asked.now
    )


async def _carried_out(
    catalogue: Catalogue,
    store: Store,
    asked: Asked,
    planned: ActionResult,
    *,
    settle: Callable[[Connection, Proposal], ActionResult],
) -> ActionResult:
    kind = catalogue.get(planned.domain, planned.action)
    parameters = _typed(kind, planned.params)
    if kind.read is not None:
        found = await kind.read(parameters, asked)
        return replace(
            planned, status=ResultStatus.DONE, result=plain(found.result), card=found.card
        )
    if kind.prepare is None:
        raise InvariantError(f"request {kind.key!r} neither reads nor writes")
    earlier = await store.read(lambda conn: _earlier(conn, asked))
    if earlier is not None:
        return earlier
    proposal = _proposal(kind, asked, planned, await kind.prepare(parameters, asked))
    return await store.write(lambda conn: settle(conn, proposal))


def _asked_for(conn: Connection, proposal: Proposal, asked: Asked) -> ActionResult:
    receipt = approvals.request(
        conn,
        proposal,
        member=asked.member,
        household=asked.household,
        now=asked.now,
        is_group=asked.is_shared,
    )
    return _as_it_stands(conn, receipt.action, asked)


def _as_it_stands(conn: Connection, action: PendingAction, asked: Asked) -> ActionResult:
    """Return how a request stands, with whose yes it awaits."""
    result = result_of(action)
    if result.status is not ResultStatus.AWAITING:
        return result
    return replace(result, decider=decider_of(conn, action, asked))


def decider_of(conn: Connection, action: PendingAction, asked: Asked) -> Decider:
    """Return whose yes can carry out what awaits one, for who asked for it or looks at it."""
    house = asked.household
    press = Press(member=asked.member, household=house, now=asked.now)
    if may_settle(conn, action, press):
        return Decider.ASKER
    adults = (replace(press, member=each) for each in house.members if each.is_adult)
    can_any = any(may_settle(conn, action, each) for each in adults)
    return Decider.ADULT if can_any else Decider.NOBODY


def _typed(kind: RequestKind, params: Mapping[str, Any]) -> BaseModel:
    try:
        return kind.parameters.model_validate(params)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()
        )
        raise InputError(f"{kind.key} has invalid parameters: {problems}") from error


def _earlier(conn: Connection, asked: Asked) -> ActionResult | None:
    found = find_of_slot(
        conn,
        asked.household.id,
        source_type=FROM_CHAT,
        source_id=asked.turn_id,
        slot=str(asked.number),
    )
    return None if found is None else _as_it_stands(conn, found, asked)


def _proposal(
    kind: RequestKind, asked: Asked, planned: ActionResult, prepared: Prepared
) -> Proposal:
    opens = {OPENS_TO: asked.scope} if asked.is_unsaid else {}
    return Proposal(
        household=asked.household.id,
        type=prepared.type,
        source_type=FROM_CHAT,
        source_id=asked.turn_id,
        slot=str(asked.number),
        chat_id=None,
        extraction={},
        extraction_confidence=asked.confidence,
        summary=prepared.summary,
        effects=prepared.effects,
        choices=(),
        merge_key=_merge_key(kind, asked, prepared),
        origin=asked.origin,
        stakes=highest(kind.stakes, prepared.stakes),
        scope=person_scope(asked.member.id) if opens else asked.scope,
        request={
            "domain": kind.domain,
            "action": kind.name,
            "params": planned.params if prepared.params is None else plain(prepared.params),
            "shown": plain(prepared.shown),
            "result": plain(prepared.result) | opens,
            "asked_by": asked.member.id,
        },
    )


def _merge_key(kind: RequestKind, asked: Asked, prepared: Prepared) -> str | None:
    """Return what is the same for what looks the same to its person in one thread: asked for twice, it waits once.

    What runs at once waits for nobody.
    """
    stakes = highest(kind.stakes, prepared.stakes)
    if asked.member.is_adult and consent_for(asked.origin, stakes) is not Consent.ASK:
        return None
    said = {"summary": prepared.summary, "shown": plain(prepared.shown)}
    return stable_id(
        asked.household.id,
        FROM_CHAT,
        asked.thread_id,
        asked.member.id,
        asked.origin,
        kind.key,
        canonical_json(said),
    )
