"""How it is doing, as JSON: the observer's figures, and the work that waits, runs or failed."""

from datetime import date, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from kinkeeper.observer.accounts.metrics import load_metrics
from kinkeeper.observer.accounts.public_json import metrics_record
from kinkeeper.web.access.door import Owner, Relative, house_of
from kinkeeper.web.context import context_of
from kinkeeper.web.workload import workload_record

router = APIRouter(tags=["observer"])

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


class Workload(BaseModel):
    """The number of messages in each state."""

    first: date
    last: date
    reading: dict[str, int]
    sending: dict[str, int]
    answering: dict[str, int]
    stage_failures: dict[str, int]
    outside: dict[str, int]
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
