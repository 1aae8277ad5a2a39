"""One remembered thing: why it is believed, setting it right, and what became of that."""

import asyncio
from collections.abc import Mapping
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.actions.button_removal import can_be_undone
from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.core.errors import InputError
from kinkeeper.memory.browser import history
from kinkeeper.memory.corrections import may_set_scope
from kinkeeper.memory.erasure import preview_forget
from kinkeeper.memory.facts import find_fact, load_fact, statements_of
from kinkeeper.web.access.door import Decider, Viewer
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.views.cards import Notice
from kinkeeper.web.views.known import fact_href
from kinkeeper.web.views.memory_changes import erasure_lines, standing_of, versions_of

# What became of a change that somebody made on a page of memory, told on the next page.


class Told(StrEnum):
    """What became of it."""

    REMEMBERED = "remembered"
    ASKED = "asked"
    EDITED = "edited"
    WRONG = "wrong"
    OVER = "over"
    SETTLED = "settled"
    PRIVATE = "private"
    SHARED = "shared"
    FORGOTTEN = "forgotten"
    UNDONE = "undone"
    APPROVED = "approved"
    LEFT = "left"
    NOTHING = "nothing"


_WORDS = {
    Told.REMEMBERED: "Saved.",
    Told.ASKED: "It needs an adult's approval.",
    Told.EDITED: "Saved.",
    Told.WRONG: "Marked as incorrect.",
    Told.OVER: "Marked as outdated.",
    Told.SETTLED: "Settled.",
    Told.PRIVATE: "Only you can see it now.",
    Told.SHARED: "Everyone in the household can see it now.",
    Told.FORGOTTEN: "Erased.",
    Told.UNDONE: "Undone.",
    Told.APPROVED: "It will be done within a few minutes.",
    Told.NOTHING: "Nothing was changed, because something else changed in the meantime. Please check again.",
    Told.LEFT: "Nothing was changed.",
}


def notice_of(told: Told | None, action: str) -> Notice | None:
    """Return what is said at the top of a page.

    Args:
        told: What became of what; None says nothing.
        action: Id of the action, where it can be taken back.
    """
    if told is None:
        return None
    is_good = told is not Told.NOTHING
    return Notice(text=_WORDS[told], undo_id=action if is_good else "", is_good=is_good)


def setting_right(desk: Desk) -> SettingRight:
    """Return what a person does to memories, for whoever makes the request."""
    return SettingRight(household=desk.person.household, member=desk.person.member, now=desk.now)


def told(path: str, wish: Told, receipt: Receipt) -> RedirectResponse:
    """Send the person to a page that tells what became of their wish.

    Args:
        wish: What is told where it came true.
    """
    if receipt.outcome is Outcome.ASKED:
        return back_to(path, Told.ASKED)
    if receipt.outcome is not Outcome.DONE:
        return back_to(path, Told.NOTHING)
    return back_to(path, wish, action=receipt.action if can_be_undone(receipt.action) else None)


def back_to(path: str, told: Told, *, action: PendingAction | None = None) -> RedirectResponse:
    """Send the person to a page that tells something.

    Args:
        action: What can be taken back, if anything.
    """
    query = urlencode({"told": told.value, **({"action": action.id} if action else {})})
    return RedirectResponse(f"{path}?{query}", HTTPStatus.SEE_OTHER)


router = APIRouter(include_in_schema=False)

FactId = Annotated[str, Path(max_length=200)]


@router.get("/memory/facts/{fact_id}")
async def fact_page(
    request: Request,
    person: Viewer,
    fact_id: FactId,
    *,
    outcome: Annotated[Told | None, Query(alias="told")] = None,
    action: Annotated[str, Query(max_length=64)] = "",
) -> HTMLResponse:
    """Show one remembered thing."""
    desk = desk_of(request, person)
    viewer = desk.viewer

    def read(conn: Connection) -> Mapping[str, Any]:
        fact = load_fact(conn, viewer, fact_id)
        said = statements_of(conn, viewer, fact_id)
        words = desk.recollection
        doubt = find_fact(conn, viewer, fact.doubted_by) if fact.doubted_by else None
        follower = fact.superseded_by or fact.merged_into_id
        return {
            "notice": notice_of(outcome, action),
            "fact": words.known(fact, said),
            "may_set_scope": may_set_scope(conn, viewer, fact_id),
            "whose": words.whose(fact, said),
            "evidence": words.evidence(said),
            "versions": versions_of(history(conn, viewer, fact_id), words),
            "otherwise": words.told(doubt) if doubt else None,
            "state": standing_of(
                fact, find_fact(conn, viewer, follower) if follower else None, desk.wording
            ),
        }

    return await show("memory_fact.html", desk, "memory", read)


@router.post("/memory/facts/{fact_id}/edit")
async def edit(
    request: Request,
    person: Decider,
    fact_id: FactId,
    text: Annotated[str, Form(min_length=1, max_length=1000)],
) -> RedirectResponse:
    """Put it in a person's own words."""
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(
        lambda conn: setting_right(desk).edit(conn, fact_id, text.strip())
    )
    return told(fact_href(fact_id), Told.EDITED, receipt)


@router.post("/memory/facts/{fact_id}/wrong")
async def wrong(request: Request, person: Decider, fact_id: FactId) -> RedirectResponse:
    """Take it out of use: it never was true."""
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(lambda conn: setting_right(desk).wrong(conn, fact_id))
    return told(fact_href(fact_id), Told.WRONG, receipt)


@router.post("/memory/facts/{fact_id}/over")
async def over(request: Request, person: Decider, fact_id: FactId) -> RedirectResponse:
    """Take it out of use: it was so, and is so no more."""
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(lambda conn: setting_right(desk).over(conn, fact_id))
    return told(fact_href(fact_id), Told.OVER, receipt)


@router.post("/memory/facts/{fact_id}/doubt")
async def settle(
    request: Request,
    person: Decider,
    fact_id: FactId,
    holds: Annotated[str, Form(pattern="^(this|other)$")],
) -> RedirectResponse:
    """Say whether it holds, or what somebody said otherwise."""
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(
        lambda conn: setting_right(desk).settle(conn, fact_id, is_changed=holds == "other")
    )
    return told(fact_href(fact_id), Told.SETTLED, receipt)


@router.post("/memory/facts/{fact_id}/scope")
async def set_scope(
    request: Request,
    person: Decider,
    fact_id: FactId,
    private: Annotated[str, Form(pattern="^(yes|no)$")],
) -> RedirectResponse:
    """Keep it to oneself, or let the household see it."""
    desk, is_private = desk_of(request, person), private == "yes"
    receipt = await desk.house.store.write(
        lambda conn: setting_right(desk).set_scope(conn, fact_id, is_private=is_private)
    )
    return told(fact_href(fact_id), Told.PRIVATE if is_private else Told.SHARED, receipt)


@router.get("/memory/facts/{fact_id}/forget")
async def forget_page(request: Request, person: Decider, fact_id: FactId) -> HTMLResponse:
    """Say what would be erased, and ask."""
    desk = desk_of(request, person)
    viewer = desk.viewer

    def read(conn: Connection) -> Mapping[str, Any]:
        said = statements_of(conn, viewer, fact_id)
        return {
            "fact": desk.recollection.known(load_fact(conn, viewer, fact_id), said),
            "evidence": desk.recollection.evidence(said),
            "erased": erasure_lines(preview_forget(conn, viewer, fact_id)),
        }

    return await show("memory_forget.html", desk, "memory", read)


@router.post("/memory/facts/{fact_id}/forget")
async def forget(
    request: Request,
    person: Decider,
    fact_id: FactId,
    sure: Annotated[str, Form(max_length=3)] = "",
) -> RedirectResponse:
    """Erase it for good."""
    if sure != "yes":
        raise InputError("this cannot be undone; tick the box to confirm")
    desk = desk_of(request, person)
    receipt = await desk.house.store.write(lambda conn: setting_right(desk).forget(conn, fact_id))
    await asyncio.to_thread(desk.house.store.fold_log)
    return told("/memory", Told.FORGOTTEN, receipt)
