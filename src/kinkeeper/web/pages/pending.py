"""What waits for a yes: the cards, their correction, and a person's decisions about them."""

from collections.abc import Mapping, Sequence
from datetime import date, time
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.actions import approvals, reversal
from kinkeeper.actions.authority import PressDetails
from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.model import ActionStatus, ActionType, RejectReason
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.registry import stakes_of
from kinkeeper.actions.reversal import restore
from kinkeeper.core.errors import ConflictError, InputError, NotFoundError
from kinkeeper.observer import feedback
from kinkeeper.observer.accounts.metrics import failures
from kinkeeper.observer.cards.card_corrections import Correction, correct
from kinkeeper.web.access.door import Decider, Relative
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.pages.offline import may_be_kept
from kinkeeper.web.pages.page_queries import load_ground, load_message, load_standing
from kinkeeper.web.security.browser_protection import own_page
from kinkeeper.web.views.calendar import clamped
from kinkeeper.web.views.cards import (
    Batch,
    Card,
    Ground,
    Notice,
    batches,
    correction_form,
    is_past,
    lapses_at,
    notice_of,
)

router = APIRouter(include_in_schema=False)

Hash = Annotated[str, Form(alias="hash", min_length=64, max_length=64)]
_MOST_AT_ONCE = 50
_PAGES = {ActionType.TASK: "/tasks", ActionType.NOTE: "/tasks", ActionType.GOAL: "/goals"}


@router.get("/pending")
async def pending_page(
    request: Request,
    person: Relative,
    *,
    about: Annotated[str, Query(max_length=36)] = "",
    outcome: Annotated[Outcome | None, Query()] = None,
    changed: Annotated[bool, Query()] = False,
    saved: Annotated[int, Query(ge=0, le=_MOST_AT_ONCE)] = 0,
) -> HTMLResponse:
    """Show what waits, and what became of the last decision."""
    desk = desk_of(request, person)

    def read(conn: Connection) -> Mapping[str, Any]:
        household = desk.household
        actions = sorted(desk.open_actions(conn), key=lapses_at)
        standing = load_standing(conn, desk.viewer, actions)
        today = desk.now.astimezone(person.household.zone).date()
        cards, past = list[Card](), list[Card]()
        for action in actions:
            card = desk.cards.card(action, load_ground(conn, household, action), standing)
            (past if is_past(action, today) else cards).append(card)
        left = [
            desk.quotes.left(each, load_message(conn, household, each.message_id, each.chat_id))
            for each in failures(conn, household)
        ]
        return {
            "cards": cards,
            "past": past,
            "batches": batches(cards),
            "left": left,
            "expired": [desk.cards.expired(each) for each in desk.expired_actions(conn)],
            "notice": _notice(conn, desk, about, outcome, changed=changed, saved=saved),
        }

    return may_be_kept(await show("pending.html", desk, "pending", read), desk)


@router.post("/pending/{action_id}/confirm")
async def confirm(
    request: Request,
    person: Decider,
    action_id: str,
    *,
    hash_: Hash,
    choice: Annotated[str, Form(max_length=200)] = "",
    sure: Annotated[str, Form(max_length=3)] = "",
) -> RedirectResponse:
    """Say yes, or choose one of the ways."""
    desk = desk_of(request, person)

    def decide(conn: Connection) -> Receipt:
        details = press(desk, hash_)
        action = desk.action(conn, action_id)
        way = [each.effects for each in action.proposal.choices if each.label == choice]
        effects = way[0] if way else action.proposal.effects
        if effects and stakes_of(effects) is Stakes.HIGH and sure != "yes":
            raise InputError("this removes or replaces a whole event; tick the box to confirm")
        if choice:
            return approvals.resolve(conn, action_id, choice, **details)
        return approvals.confirm(conn, action_id, **details)

    return told(await desk.house.store.write(decide))


@router.post("/pending/{action_id}/not-right")
async def not_right(
    request: Request,
    person: Decider,
    action_id: str,
    *,
    hash_: Hash,
    reason: Annotated[RejectReason, Form()],
) -> RedirectResponse:
    """Put it away, and say why."""
    desk = desk_of(request, person)

    def decide(conn: Connection) -> Receipt:
        receipt = approvals.reject(conn, action_id, reason=reason.value, **press(desk, hash_))
        if receipt.is_change:
            feedback.say_not_right(
                conn, desk.household, action_id, reason, by=person.member.id, now=desk.now
            )
        return receipt

    return told(await desk.house.store.write(decide))


@router.post("/pending/{action_id}/restore")
async def bring_back(
    request: Request, person: Decider, action_id: str, *, hash_: Hash
) -> RedirectResponse:
    """Bring back what expired: it waits again."""
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(
        lambda conn: restore(conn, action_id, **press(desk, hash_))
    )
    return told(receipt)


@router.post("/pending/{action_id}/undo")
async def take_back(
    request: Request,
    person: Decider,
    action_id: str,
    *,
    back: Annotated[str, Form(max_length=500)] = "",
) -> RedirectResponse:
    """Take back what was saved.

    Args:
        back: Page of the calendar from which it was saved; empty where it was none.
    """
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(
        lambda conn: reversal.undo(
            conn, action_id, member=person.member, household=person.household, now=desk.now
        )
    )
    page = own_page(back)
    if receipt.outcome is Outcome.UNDONE and page.startswith("/calendar?"):
        return RedirectResponse(f"{page}&about={action_id}", HTTPStatus.SEE_OTHER)
    return told(receipt)


@router.post("/pending/batch")
async def confirm_several(
    request: Request,
    person: Decider,
    card: Annotated[list[str], Form(max_length=_MOST_AT_ONCE)] = [],  # noqa: B006 - FastAPI copies it
) -> RedirectResponse:
    """Say yes to several cards of one kind; only to those that are plain and easily taken back."""
    desk = desk_of(request, person)

    def decide(conn: Connection) -> int:
        allowed = {
            each.id: each.payload_hash for batch in _batches(conn, desk) for each in batch.cards
        }
        ticked = dict(each.split(":", 1) for each in card if ":" in each)
        receipts = [
            approvals.confirm(conn, action_id, **press(desk, shown))
            for action_id, shown in ticked.items()
            if action_id in allowed
        ]
        return sum(receipt.is_change for receipt in receipts)

    saved = await desk.house.store.write(decide)
    return RedirectResponse(f"/pending?saved={saved}", HTTPStatus.SEE_OTHER)


def _batches(conn: Connection, desk: Desk) -> Sequence[Batch]:
    actions = desk.open_actions(conn)
    standing = load_standing(conn, desk.viewer, actions)
    return batches([desk.cards.card(action, Ground(), standing) for action in actions])


def press(desk: Desk, shown: str) -> PressDetails:
    """Return who decides, and about exactly what."""
    return {
        "member": desk.person.member,
        "household": desk.person.household,
        "now": desk.now,
        "expected_hash": shown,
    }


def told(receipt: Receipt) -> RedirectResponse:
    """Send the person back to the cards, to memory or to the lists, with what became of it."""
    was_done = receipt.action.status is ActionStatus.DONE
    is_undone = receipt.outcome is Outcome.UNDONE and was_done
    kind = receipt.action.proposal.type
    if is_undone and kind is ActionType.MEMORY_FACT:
        return RedirectResponse("/memory?told=undone", HTTPStatus.SEE_OTHER)
    if is_undone and (page := _PAGES.get(kind)) is not None:
        return RedirectResponse(f"{page}?about={receipt.action.id}", HTTPStatus.SEE_OTHER)
    changed = "yes" if receipt.is_change else "no"
    told = urlencode(
        {"about": receipt.action.id, "outcome": receipt.outcome.value, "changed": changed}
    )
    return RedirectResponse(f"/pending?{told}", HTTPStatus.SEE_OTHER)


def _notice(
    conn: Connection, desk: Desk, about: str, outcome: Outcome | None, *, changed: bool, saved: int
) -> Notice | None:
    if saved:
        noun = "thing is" if saved == 1 else "things are"
        return Notice(text=f"{saved} {noun} saved. Each can be undone separately.")
    if outcome is None:
        return None
    try:
        action = desk.action(conn, about)
    except NotFoundError:
        return None
    return notice_of(outcome, action, desk.house.household, is_change=changed)


_MOST_OWNERS = 20


@router.get("/pending/{action_id}/change")
async def change_page(request: Request, person: Decider, action_id: str) -> HTMLResponse:
    """Show the form."""
    desk = desk_of(request, person)

    def read(conn: Connection) -> Mapping[str, Any]:
        action = desk.action(conn, action_id)
        form = correction_form(
            action, household=desk.house.household, people=desk.people, wording=desk.wording
        )
        if form is None or action.status is not ActionStatus.PENDING:
            raise ConflictError("this card can no longer be edited; go back to the inbox")
        ground = load_ground(conn, desk.household, action)
        return {"form": form, "quotes": [desk.quotes.of(each) for each in ground.messages]}

    return await show("correcting.html", desk, "pending", read)


@router.post("/pending/{action_id}/change")
async def change(
    request: Request,
    person: Decider,
    action_id: str,
    *,
    hash_: Hash,
    day: Annotated[date, Form()],
    start: Annotated[str, Form(max_length=8)] = "",
    end: Annotated[str, Form(max_length=8)] = "",
    owner: Annotated[list[str], Form(max_length=_MOST_OWNERS)] = [],  # noqa: B006 - FastAPI copies it
) -> RedirectResponse:
    """Save what the form says in place of what the card said."""
    desk = desk_of(request, person)
    if clamped(day) != day:
        raise InputError(f"{day} is outside the calendar's range; choose another day")
    correction = Correction(
        day=day,
        start=_clock(start, "start"),
        end=_clock(end, "end"),
        owners=tuple(dict.fromkeys(owner)),
    )
    receipt = await desk.house.store.write(
        lambda conn: correct(
            conn, action_id, correction, phrasing=desk.wording.phrasing, **press(desk, hash_)
        )
    )
    return told(receipt)


def _clock(text: str, name: str) -> time | None:
    if not text.strip():
        return None
    try:
        return time.fromisoformat(text.strip())
    except ValueError as error:
        raise InputError(
            f"the {name} {text!r} is not a time of day; write it like 16:30"
        ) from error
