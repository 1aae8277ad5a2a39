"""The observer as JSON: how it is doing, why it answered or left a message alone, and quiet on request."""

from datetime import date, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from kinkeeper.observer.accounts.metrics import load_metrics
from kinkeeper.observer.accounts.public_json import metrics_record, trace_record
from kinkeeper.observer.accounts.traces import Mark, load_trace
from kinkeeper.observer.quiet_requests import be_quiet, end_quiet, parse_duration, quiet_until
from kinkeeper.web.access.door import Decider, Owner, Reader, Relative, house_of
from kinkeeper.web.context import context_of
from kinkeeper.web.workload import workload_record

router = APIRouter(tags=["observer"])


class QuietWish(BaseModel):
    """How long to stay quiet unless asked: "2h", "1h30m", "off"."""

    model_config = ConfigDict(populate_by_name=True)

    length: Annotated[str, Field(alias="for", max_length=40, examples=["2h"])]


class Quiet(BaseModel):
    """Until when it is quiet; null if it is not."""

    until: datetime | None


@router.get("/api/quiet")
async def tell_quiet(request: Request, person: Reader) -> Quiet:
    """Return until when it is quiet."""
    house, now = house_of(request, person), context_of(request).clock.now()
    until = await house.store.read(lambda conn: quiet_until(conn, house.household.id, now=now))
    return Quiet(until=until.astimezone(house.household.zone) if until else None)


@router.post("/api/quiet")
async def wish_quiet(request: Request, person: Decider, wish: QuietWish) -> Quiet:
    """Stop unprompted messages for a while, or allow them again."""
    house, now = house_of(request, person), context_of(request).clock.now()
    household, duration = house.household, parse_duration(wish.length)
    if duration is None:
        await house.store.write(lambda conn: end_quiet(conn, household.id))
        return Quiet(until=None)
    until = now + duration
    await house.store.write(
        lambda conn: be_quiet(conn, household.id, until=until, by=person.member.id, now=now)
    )
    return Quiet(until=until.astimezone(household.zone))


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


_DAYS = 30
_MOST_DAYS = 366
Days = Annotated[int, Query(ge=1, le=_MOST_DAYS, description="Number of local days up to today.")]


class NearMissRecord(BaseModel):
    """A message that scored just below the first gate."""

    message_id: str
    chat_id: str
    score: float


class DayRecord(BaseModel):
    """One local day of the silence ledger."""

    day: date
    messages: int
    understood: int
    saved: int
    spoken: int
    near_misses: list[NearMissRecord]


class GateRecord(BaseModel):
    """What one gate did."""

    stage: str
    passed: int
    failed: int
    without_score: int


class FeedbackRecord(BaseModel):
    """Feedback from people."""

    not_right: dict[str, int]
    verdicts: dict[str, int]
    confusion: int
    false_speak_share: float | None


class Figures(BaseModel):
    """The figures of a range of local days."""

    first: date
    last: date
    days: list[DayRecord]
    gates: list[GateRecord]
    spoken_by_rule: dict[str, int]
    spoken_per_day: float
    actions: dict[str, int]
    confirmed_share: float | None
    refusals: dict[str, int]
    refused_presses: dict[str, int]
    feedback: FeedbackRecord
    manual_review: int
    consulted: dict[str, int]
    talk: dict[str, int]


class FailedMessage(BaseModel):
    """A message that a person has to look at; the last error, without its text."""

    message_id: str
    chat_id: str
    error: str


class BackupTrial(BaseModel):
    """The latest nightly backup, restored into a scratch database and compared with the one in use.

    `compared` counts the tables that did not change while it was made; `digest` is a checksum of some rows of each table.
    """

    file: str
    at: datetime
    tables: int
    compared: int
    row_count: int
    digest: str
    is_tried: bool
    is_good: bool
    problem: str


class Workload(BaseModel):
    """The number of messages in each state."""

    first: date
    last: date
    reading: dict[str, int]
    sending: dict[str, int]
    answering: dict[str, int]
    stage_failures: dict[str, int]
    outside: dict[str, int]
    goals: dict[str, int]
    thoughts: dict[str, int]
    remarks: dict[str, int]
    backup: BackupTrial | None
    failed_updates: int
    manual_review: list[FailedMessage]


@router.get("/api/metrics")
async def metrics(request: Request, person: Relative, *, days: Days = _DAYS) -> Figures:
    """Return how often it spoke, what its gates did, and what people decided."""
    house, now = house_of(request, person), context_of(request).clock.now()
    household, zone = house.household.id, house.household.zone
    last = now.astimezone(zone).date()
    first = last - timedelta(days=days - 1)
    found = await house.store.read(
        lambda conn: load_metrics(conn, household, zone, first=first, last=last, now=now)
    )
    return Figures.model_validate({"first": first, "last": last, **metrics_record(found)})


@router.get("/api/observability/jobs")
async def jobs(request: Request, person: Owner, *, days: Days = _DAYS) -> Workload:
    """Return what is waiting to be read or sent, and what failed."""
    house, now = house_of(request, person), context_of(request).clock.now()
    return Workload.model_validate(
        await house.store.read(lambda conn: workload_record(conn, house.household, days, now=now))
    )
