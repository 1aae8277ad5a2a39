"""Why something was said, kept or left alone, and how little of what was heard was said."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import Connection

from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.core.gates import Stage
from kinkeeper.messaging import inbox
from kinkeeper.observer import feedback, repository
from kinkeeper.observer.accounts.metrics import LedgerDay, NearMiss, load_metrics
from kinkeeper.observer.accounts.proof import Proof
from kinkeeper.observer.accounts.traces import load_trace
from kinkeeper.observer.feedback import Verdict
from kinkeeper.web.access.door import Decider, Relative
from kinkeeper.web.pages.desk import Desk, desk_of, show
from kinkeeper.web.pages.page_queries import load_message
from kinkeeper.web.views.addresses import replay_href, why_href
from kinkeeper.web.views.quotes import Quote
from kinkeeper.web.views.why import ledger, proof_words, why

router = APIRouter(include_in_schema=False)

MessageId = Annotated[str, Path(max_length=128)]
Chat = Annotated[str | None, Query(max_length=128)]

_VERDICTS = {
    Verdict.GOOD_CALL: "Good call",
    Verdict.KEEP_QUIET: "Should have stayed quiet",
    Verdict.SPEAK: "Should have spoken",
}


@router.get("/why/{message_id:path}")
async def why_page(
    request: Request, person: Relative, message_id: MessageId, *, chat: Chat = None
) -> HTMLResponse:
    """Show the way of one message."""
    desk = desk_of(request, person)
    return await show("why.html", desk, "silence", lambda conn: _read(conn, desk, message_id, chat))


@router.post("/why/{message_id:path}")
async def judge(
    request: Request,
    person: Decider,
    message_id: MessageId,
    *,
    chat: Chat = None,
    verdict: Annotated[Verdict, Form()],
) -> RedirectResponse:
    """Note what somebody thinks of the decision."""
    desk = desk_of(request, person)

    def write(conn: Connection) -> str:
        trace = load_trace(conn, desk.house.household, message_id, chat_id=chat)
        feedback.judge(
            conn, desk.household, trace.row.id, verdict, by=person.member.id, now=desk.now
        )
        return why_href(trace.message_id, trace.chat_id)

    return RedirectResponse(await desk.house.store.write(write), HTTPStatus.SEE_OTHER)


@router.post("/replay/{message_id:path}")
async def replay(
    request: Request, person: Decider, message_id: MessageId, *, chat: Chat = None
) -> HTMLResponse:
    """Decide it again, keep nothing, and show how it compares."""
    desk = desk_of(request, person)
    if desk.house.prover is None:
        raise NotFoundError("this server cannot re-run decisions")
    trace = await desk.house.store.read(
        lambda conn: load_trace(conn, desk.house.household, message_id, chat_id=chat)
    )
    proof: Proof | str
    try:
        proof = await desk.house.prover.prove(trace.row.id)
    except ConflictError as error:
        proof = str(error)
    return await show(
        "why.html",
        desk,
        "silence",
        lambda conn: {**_read(conn, desk, message_id, chat), "proof": proof_words(proof)},
    )


def _read(conn: Connection, desk: Desk, message_id: str, chat: str | None) -> Mapping[str, Any]:
    trace = load_trace(conn, desk.house.household, message_id, chat_id=chat)
    stored = inbox.load(conn, desk.household, int(trace.row.id))
    quote = desk.quotes.of(stored) if stored else None
    by = desk.person.member.id
    return {
        "why": why(trace, quote),
        "verdicts": _VERDICTS,
        "given": feedback.verdict_of(conn, desk.household, trace.row.id, by=by),
        "address": why_href(trace.message_id, trace.chat_id),
        "proof": None,
        "replay_address": replay_href(trace.message_id, trace.chat_id)
        if desk.house.prover and desk.person.may_decide
        else "",
    }


# Activity: how much was heard, and how little of it was said.

_DAYS = 14


@router.get("/silence")
async def silence_page(request: Request, person: Relative) -> HTMLResponse:
    """Show the last two weeks."""
    desk = desk_of(request, person)

    def read(conn: Connection) -> Mapping[str, Any]:
        last = desk.wording.today
        found = load_metrics(
            conn,
            desk.household,
            desk.wording.zone,
            first=last - timedelta(days=_DAYS - 1),
            last=last,
            now=desk.now,
        )
        quotes = near_misses(conn, desk, found.days)
        return {"days": ledger(found.days, quotes, wording=desk.wording)}

    return await show("silence.html", desk, "silence", read)


def near_misses(
    conn: Connection, desk: Desk, days: Sequence[LedgerDay]
) -> Mapping[NearMiss, tuple[Quote, float]]:
    """Return the near misses as they are quoted, with what the first look would have needed."""
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
