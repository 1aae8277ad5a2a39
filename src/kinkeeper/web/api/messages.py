"""Why a message was answered or left alone, as JSON; no word of the message is in it."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel

from kinkeeper.observer.accounts.public_json import trace_record
from kinkeeper.observer.accounts.traces import Mark, load_trace
from kinkeeper.web.access.door import Relative, house_of

router = APIRouter(tags=["observer"])

_LONGEST_ID = 128


class Gate(BaseModel):
    """A gate as it was logged; without a score if none was produced."""

    stage: str
    score: float | None
    threshold: float
    passed: bool
    decision: str


class Rung(BaseModel):
    """One step, in plain words."""

    stage: str
    mark: Mark
    text: str


class MessageTrace(BaseModel):
    """How one message was processed."""

    message_id: str
    chat_id: str
    sender: str
    sent_at: datetime
    tier1_decision: str
    tripwire_confidence: float
    override: str | None
    patterns: list[str]
    evidence: dict[str, Any]
    extraction: dict[str, Any] | None
    extraction_confidence: float | None
    attribution_source: str | None
    brain_relevance: float | None
    redline_decision: str | None
    redline_trigger_rule: str | None
    reply: str | None
    buttons: list[str]
    action: dict[str, Any] | None
    withdrawn_action: str | None
    reason: str
    gates: list[Gate]
    steps: list[Rung]


@router.get("/api/messages/{message_id}/trace")
async def trace(
    request: Request,
    person: Relative,
    message_id: Annotated[
        str,
        Path(
            max_length=_LONGEST_ID,
            description="The channel's id of the message, or the id of its row.",
        ),
    ],
    *,
    chat: Annotated[
        str | None,
        Query(
            max_length=_LONGEST_ID,
            description="Its chat, if several chats have a message with that id.",
        ),
    ] = None,
) -> MessageTrace:
    """Return how a message was decided."""
    house = house_of(request, person)
    found = await house.store.read(
        lambda conn: load_trace(conn, house.household, message_id, chat_id=chat)
    )
    return MessageTrace.model_validate(trace_record(found))
