"""Quiet on request, as JSON."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from kinkeeper.observer.quiet_requests import be_quiet, end_quiet, parse_duration, quiet_until
from kinkeeper.web.access.door import Decider, Reader, house_of
from kinkeeper.web.context import context_of

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
