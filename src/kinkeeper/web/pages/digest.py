"""A person's daily digest as a page, and the time they want it at."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.digest.content import DigestWords, gather
from kinkeeper.digest.model import parse_time
from kinkeeper.digest.repository import digest_time, last_digest, set_digest_time
from kinkeeper.web.access.door import Decider
from kinkeeper.web.pages.desk import desk_of, show
from kinkeeper.web.views.digest import digest_page

router = APIRouter(include_in_schema=False)


@router.get("/digest")
async def show_digest(request: Request, person: Decider) -> HTMLResponse:
    """Show what is waiting, what is unassigned tomorrow, and what has expired."""
    desk = desk_of(request, person)
    household = desk.house.household

    def read(conn: Connection) -> Mapping[str, Any]:
        digest = gather(
            conn, household, person.member, day=desk.wording.today, now=desk.now,
            since=last_digest(conn, household.id, person.member.id),
        )  # fmt: skip
        cards = [desk.cards.expired(each) for each in digest.expired]
        at = digest_time(conn, household, person.member.id)
        return {"digest": digest_page(digest, DigestWords(household), expired=cards, at=at)}

    return await show("digest.html", desk, "pending", read)


@router.post("/digest/time")
async def choose_time(
    request: Request,
    person: Decider,
    *,
    at: Annotated[str, Form(max_length=20)] = "",
    off: Annotated[bool, Form()] = False,
) -> RedirectResponse:
    """Change the time of the digest, or turn it off."""
    desk = desk_of(request, person)
    wanted = parse_time("off" if off else at)
    await desk.house.store.write(
        lambda conn: set_digest_time(conn, desk.household, person.member.id, wanted, now=desk.now)
    )
    return RedirectResponse("/digest", HTTPStatus.SEE_OTHER)
