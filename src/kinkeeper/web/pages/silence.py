"""Activity: how much was heard, and how little of it was said."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import Connection

from kinkeeper.core.gates import Stage
from kinkeeper.observer import repository
from kinkeeper.observer.accounts.metrics import LedgerDay, NearMiss, load_metrics
from kinkeeper.web.access.door import Relative
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.pages.page_queries import load_message
from kinkeeper.web.views.ledger import ledger
from kinkeeper.web.views.quotes import Quote

router = APIRouter(include_in_schema=False)

_DAYS = 14


@router.get("/silence")
async def silence_page(request: Request, person: Relative) -> HTMLResponse:
    """Show the last two weeks."""
    desk = desk_of(request, person)

    def read(conn: Connection) -> Mapping[str, Any]:
        last = desk.wording.today
        found = load_metrics(
            conn, desk.household, desk.wording.zone, first=last - timedelta(days=_DAYS - 1),
            last=last, now=desk.now,
        )  # fmt: skip
        quotes = near_misses(conn, desk, found.days)
        return {"days": ledger(found.days, quotes, wording=desk.wording)}

    return await show("silence.html", desk, "silence", read)


def near_misses(
    conn: Connection, desk: Desk, days: Sequence[LedgerDay]
) -> Mapping[NearMiss, tuple[Quote, float]]:
    """Return the near misses as they are quoted, with what the first look would have needed.

    Args:
        conn: Any transaction.
        desk: Who looks.
        days: Of the ledger.
    """
    found = {}
    for miss in (miss for day in days for miss in day.near_misses):
        stored = load_message(conn, desk.household, miss.message_id, miss.chat_id)
        if stored is None:
            continue
        gates = repository.gates_of(conn, desk.household, str(stored.id))
        needed = [gate.threshold for gate in gates if gate.stage == Stage.TRIPWIRE.value]
        if needed:
            found[miss] = (desk.quotes.of(stored), needed[0])
    return found
