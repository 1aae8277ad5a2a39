"""Change a card before it is saved."""

from collections.abc import Mapping
from datetime import date, time
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.observer.cards.card_corrections import Correction, correct
from kinkeeper.web.access.door import Decider
from kinkeeper.web.pages.desk import desk_of, show
from kinkeeper.web.pages.page_queries import load_ground
from kinkeeper.web.pages.pending import Hash, press, told
from kinkeeper.web.views.calendar import clamped
from kinkeeper.web.views.cards import correction_form

router = APIRouter(include_in_schema=False)

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
        day=day, start=_clock(start, "start"), end=_clock(end, "end"),
        owners=tuple(dict.fromkeys(owner)),
    )  # fmt: skip
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
