"""What a phone shares with the app: it becomes a message that the person reads, and sends or leaves."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse

from kinkeeper.conversation.turns import LONGEST_TEXT
from kinkeeper.web.access.door import Allowed
from kinkeeper.web.access.model import READERS, Person
from kinkeeper.web.pages.desk import desk_of, show

router = APIRouter(include_in_schema=False)

Sharer = Annotated[Person, Depends(Allowed(READERS, only_shows=True))]
Shared = Annotated[str, Form()]


@router.post("/share")
async def share(
    request: Request, person: Sharer, *, title: Shared = "", text: Shared = "", url: Shared = ""
) -> HTMLResponse:
    """Show what was shared as a message that is not sent yet; nothing is stored."""
    message = as_message(title, text, url)
    values = {
        "message": message[:LONGEST_TEXT],
        "is_cut": len(message) > LONGEST_TEXT,
        "longest": LONGEST_TEXT,
    }
    return await show("share.html", desk_of(request, person), "chat", lambda _conn: values)


def as_message(*parts: str) -> str:
    """Return what was shared as one text, each part once; phones often send an address twice. Pure."""
    told: list[str] = []
    for part in (each.strip() for each in parts):
        if part and not any(part in earlier for earlier in told):
            told.append(part)
    return "\n".join(told)
