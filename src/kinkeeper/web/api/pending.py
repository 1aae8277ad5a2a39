"""What waits for a yes, as JSON, a person's decisions about it, and the daily digest that lists it."""

from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Self

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from kinkeeper.actions import approvals, reversal
from kinkeeper.actions.authority import PressDetails
from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.model import ActionStatus, PendingAction, RejectReason
from kinkeeper.actions.payload import action_record
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.repository import list_actions
from kinkeeper.actions.reversal import restore
from kinkeeper.digest.content import DigestWords, gather
from kinkeeper.digest.repository import digest_time, last_digest, parse_time, set_digest_time
from kinkeeper.observer import feedback
from kinkeeper.web.access.door import (
    Decider,
    Relative,
    action_shown_to,
    house_of,
    may_read,
    require_may_read,
    viewer_of,
)
from kinkeeper.web.access.model import Person
from kinkeeper.web.context import context_of

router = APIRouter(tags=["pending"])


class DigestTime(BaseModel):
    """The local time of somebody's digest: "18:00", "7pm", "off"."""

    at: Annotated[str, Field(max_length=20, examples=["18:00"])]


class DigestRecord(BaseModel):
    """A digest as it would be sent now; the lists contain action ids. `at` is null if it is off."""

    at: str | None
    text: str
    waiting: list[str]
    unassigned: list[str]
    expired: list[str]


@router.get("/api/digest")
async def tell_digest(request: Request, person: Decider) -> DigestRecord:
    """Return what is waiting, what is unassigned tomorrow, and what has expired since the last digest."""
    house, now = house_of(request, person), context_of(request).clock.now()
    household, words = house.household, DigestWords(house.household)

    def read(conn: Connection) -> DigestRecord:
        digest = gather(
            conn,
            household,
            person.member,
            day=now.astimezone(household.zone).date(),
            now=now,
            since=last_digest(conn, household.id, person.member.id),
        )
        at = digest_time(conn, household, person.member.id)
        return DigestRecord(
            at=None if at is None else f"{at:%H:%M}",
            text=words.text(digest),
            waiting=[each.id for each in digest.waiting],
            unassigned=[words.nobody(each) for each in digest.unassigned],
            expired=[each.id for each in digest.expired],
        )

    return await house.store.read(read)


@router.post("/api/digest")
async def choose_digest_time(request: Request, person: Decider, wanted: DigestTime) -> DigestRecord:
    """Change the time of the digest, or turn it off."""
    house, now = house_of(request, person), context_of(request).clock.now()
    at = parse_time(wanted.at)
    await house.store.write(
        lambda conn: set_digest_time(conn, house.household.id, person.member.id, at, now=now)
    )
    return await tell_digest(request, person)


_PAGE = 100
_MOST = 500


class FrozenPayload(BaseModel):
    """What an approval would write; the hash covers everything that a person is shown."""

    hash: str
    version: int
    effects: list[dict[str, Any]]
    choices: list[dict[str, Any]]


class ActionRecord(BaseModel):
    """A proposal and its current state."""

    id: str
    type: str
    status: ActionStatus
    summary: str
    assigned_to: list[str]
    child: list[str]
    activity: str | None
    dates: list[str]
    times: list[str]
    origin: str
    source_type: str
    source_id: str
    chat_id: str | None
    extraction: dict[str, Any]
    extraction_confidence: float
    suggested_event: dict[str, Any] | None
    confirm_payload: FrozenPayload
    choices: list[str]
    conflict_key: str | None
    stakes: Stakes
    request: dict[str, Any] | None
    shown: dict[str, Any]
    created_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    confirmed_at: datetime | None
    confirmed_by: str | None
    choice: str | None
    receipt: dict[str, Any] | None
    undone_at: datetime | None
    undone_by: str | None

    @classmethod
    def of(cls, action: PendingAction) -> Self:
        """Return the record of an action."""
        return cls.model_validate(action_record(action))


class ActionPage(BaseModel):
    """Some actions, oldest first.

    `next` is the value of `after` for the next page; null at the end.
    """

    actions: list[ActionRecord]
    next: str | None


class Press(BaseModel):
    """A decision. With the hash of what was shown, it is refused if the card has changed."""

    payload_hash: Annotated[str, Field(min_length=64, max_length=64)] | None = None


class ChoicePress(Press):
    """One of the ways to settle it."""

    choice: Annotated[str, Field(min_length=1, max_length=200)]


class RejectPress(Press):
    """A no, with what was wrong where somebody says so."""

    reason: RejectReason | None = None


class Feedback(BaseModel):
    """What was wrong with a card."""

    reason: RejectReason


class Told(BaseModel):
    """The result of a decision, taken from its receipt."""

    outcome: Outcome
    message: str
    changed: bool
    choices: list[str]
    action: ActionRecord

    @classmethod
    def of(cls, receipt: Receipt) -> Self:
        """Return what a receipt says."""
        return cls(
            outcome=receipt.outcome,
            message=receipt.message,
            changed=receipt.is_change,
            choices=list(receipt.choices),
            action=ActionRecord.of(receipt.action),
        )


# A decision that changed nothing answers with its receipt, under a status that says so.
RECEIPTS: dict[int | str, dict[str, Any]] = {403: {"model": Told}, 409: {"model": Told}}


@router.get("/api/pending")
async def pending(
    request: Request,
    person: Relative,
    *,
    status: Annotated[list[ActionStatus] | None, Query()] = None,
    after: Annotated[str, Query(max_length=36)] = "",
    limit: Annotated[int, Query(ge=1, le=_MOST)] = _PAGE,
) -> ActionPage:
    """List actions, oldest first; only those waiting unless other states are requested."""
    house, now = house_of(request, person), context_of(request).clock.now()
    wanted, viewer = frozenset(status or {ActionStatus.PENDING}), viewer_of(person, now=now)
    found = await house.store.read(
        lambda conn: list_actions(
            conn, viewer, statuses=wanted, now=now, after=after or None, limit=limit + 1
        )
    )
    shown = found[:limit]
    return ActionPage(
        actions=[ActionRecord.of(action) for action in shown if may_read(person, action)],
        next=shown[-1].id if len(found) > limit else None,
    )


@router.post("/api/pending/{action_id}/confirm", responses=RECEIPTS)
async def confirm(
    request: Request, response: Response, person: Decider, *, action_id: str, press: Press
) -> Told:
    """Approve an action; if there are several choices, nothing happens and they are listed."""
    return await _decide(
        request,
        response,
        person,
        press=press,
        decision=lambda conn, details: approvals.confirm(conn, action_id, **details),
    )


@router.post("/api/pending/{action_id}/resolve", responses=RECEIPTS)
async def resolve(
    request: Request, response: Response, person: Decider, *, action_id: str, press: ChoicePress
) -> Told:
    """Approve one of the choices."""
    return await _decide(
        request,
        response,
        person,
        press=press,
        decision=lambda conn, details: approvals.resolve(conn, action_id, press.choice, **details),
    )


@router.post("/api/pending/{action_id}/reject", responses=RECEIPTS)
async def reject(
    request: Request, response: Response, person: Decider, *, action_id: str, press: RejectPress
) -> Told:
    """Dismiss an action."""

    def decide(conn: Connection, details: PressDetails) -> Receipt:
        reason = press.reason.value if press.reason else None
        receipt = approvals.reject(conn, action_id, reason=reason, **details)
        if receipt.is_change and press.reason:
            _not_right(conn, person, action_id, press.reason, now=details["now"])
        return receipt

    return await _decide(request, response, person, press=press, decision=decide)


@router.post("/api/pending/{action_id}/feedback", status_code=HTTPStatus.NO_CONTENT)
async def say_what_was_wrong(
    request: Request, person: Decider, action_id: str, said: Feedback
) -> None:
    """Report what was wrong with a card, decided or not; this changes no action."""
    house, now = house_of(request, person), context_of(request).clock.now()

    def write(conn: Connection) -> None:
        action_shown_to(conn, person, action_id, now=now)
        _not_right(conn, person, action_id, said.reason, now=now)

    await house.store.write(write)


@router.post("/api/pending/{action_id}/restore", responses=RECEIPTS)
async def bring_back(
    request: Request, response: Response, person: Decider, *, action_id: str, press: Press
) -> Told:
    """Restore an expired action: the same plan waits again, as a new action."""
    return await _decide(
        request,
        response,
        person,
        press=press,
        decision=lambda conn, details: restore(conn, action_id, **details),
    )


@router.post("/api/actions/{action_id}/undo", responses=RECEIPTS)
async def take_back(request: Request, response: Response, person: Decider, action_id: str) -> Told:
    """Undo an action."""

    def decide(conn: Connection, details: PressDetails) -> Receipt:
        return reversal.undo(
            conn, action_id, member=person.member, household=person.household, now=details["now"]
        )

    return await _decide(request, response, person, press=Press(), decision=decide)


async def _decide(
    request: Request,
    response: Response,
    person: Person,
    *,
    press: Press,
    decision: Callable[[Connection, PressDetails], Receipt],
) -> Told:
    details: PressDetails = {
        "member": person.member,
        "household": person.household,
        "now": context_of(request).clock.now(),
        "expected_hash": press.payload_hash,
    }
    store = house_of(request, person).store
    receipt = await store.write(lambda conn: decision(conn, details))
    require_may_read(person, receipt.action)
    response.status_code = status_for(receipt)
    return Told.of(receipt)


def status_for(receipt: Receipt) -> HTTPStatus:
    """Return the HTTP status of what became of a decision."""
    return _STATUS.get(receipt.outcome, HTTPStatus.OK)


# What somebody pressed was not what is stored, or there is no way back: the asker must look again.
_STATUS = {
    Outcome.CHANGED: HTTPStatus.CONFLICT,
    Outcome.NOT_UNDOABLE: HTTPStatus.CONFLICT,
    Outcome.DENIED: HTTPStatus.FORBIDDEN,
}


def _not_right(
    conn: Connection, person: Person, action_id: str, reason: RejectReason, *, now: datetime
) -> None:
    feedback.say_not_right(
        conn, person.household.id, action_id, reason, by=person.member.id, now=now
    )
