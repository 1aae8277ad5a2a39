"""The conversation with the assistant."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from secrets import token_hex
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.repository import read_actions
from kinkeeper.conversation import events, threads, turns
from kinkeeper.conversation.threads import usual_thread_id
from kinkeeper.conversation.turn import Turn
from kinkeeper.conversation.turns import LONGEST_TEXT
from kinkeeper.core.errors import NotFoundError
from kinkeeper.messaging.message_json import storable
from kinkeeper.web.access.door import Reader
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.speakers import CHANNEL, conversation_of
from kinkeeper.web.views.talk import shown_turns

router = APIRouter(include_in_schema=False)

_MOST_SHOWN = 50
_MOST_THREADS = 20
_ID = Query(max_length=threads.LONGEST_ID)


@router.get("/chat")
async def chat_page(
    request: Request,
    person: Reader,
    *,
    thread: Annotated[str, _ID] = "",
    new: Annotated[bool, Query()] = False,
) -> HTMLResponse:
    """Show a conversation, by default the usual one."""
    conversation_of(request, person)
    desk = desk_of(request, person)
    member, home = person.member, person.household
    usual = usual_thread_id(home.id, member.id, CHANNEL, None, login=home.login_of(member))
    asked = token_hex(16) if new else thread or usual

    def read(conn: Connection) -> Mapping[str, Any]:
        listed = threads.list_threads(conn, home, member, limit=_MOST_THREADS)
        own = threads.find_thread(conn, home, member, asked)
        if thread and own is None and thread != usual:
            raise NotFoundError(f"you have no conversation {thread!r}")
        wanted = asked if own is None else own.id
        found = turns.last_turns(conn, home.id, wanted, last=_MOST_SHOWN) if own else ()
        return {
            "thread": wanted,
            "is_fresh": not found,
            "after": _place(conn, desk, wanted, found),
            "seen": events.last_number(conn, desk.household, wanted),
            "turns": shown_turns(found, _actions(conn, desk, found), desk.wording),
            "others": [each for each in listed if each.id != wanted],
            "longest": LONGEST_TEXT,
            "moment": desk.wording.moment,
        }

    return await show("chat.html", desk, "chat", read)


@router.post("/chat/say")
async def say(
    request: Request,
    person: Reader,
    *,
    text: Annotated[str, Form(min_length=1, max_length=LONGEST_TEXT, pattern=r"\S")],
    thread: Annotated[str, Form(max_length=threads.LONGEST_ID)] = "",
) -> RedirectResponse:
    """Take in a message of a browser that runs no scripts; the page shows the answer once it is there."""
    said = await conversation_of(request, person).say(
        person.member, storable(text), channel=CHANNEL, thread_id=storable(thread) or None
    )
    return RedirectResponse(f"/chat?thread={said.thread_id}", status_code=HTTPStatus.SEE_OTHER)


def _place(conn: Connection, desk: Desk, thread_id: str, found: Sequence[Turn]) -> int:
    """Return where the page's stream goes on: before what is still under way, or at the end."""
    for turn in found:
        if turn.outcome is None:
            return events.number_before(conn, desk.household, thread_id, turn.id)
    return events.last_number(conn, desk.household, thread_id)


def _actions(conn: Connection, desk: Desk, found: Sequence[Turn]) -> Mapping[str, PendingAction]:
    ids = {
        result.action_id
        for turn in found
        for result in turn.results
        if result.action_id is not None
    }
    return {each.id: each for each in read_actions(conn, desk.viewer, sorted(ids))}
