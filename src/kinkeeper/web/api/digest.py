"""A person's daily digest, as JSON, and the time they want it at."""

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from kinkeeper.digest.content import DigestWords, gather
from kinkeeper.digest.model import parse_time
from kinkeeper.digest.repository import digest_time, last_digest, set_digest_time
from kinkeeper.web.access.door import Decider, house_of
from kinkeeper.web.context import context_of

router = APIRouter(tags=["pending"])


class DigestTime(BaseModel):
    """The local time of somebody's digest: "18:00", "7pm", "off"."""

    at: Annotated[str, Field(max_length=20, examples=["18:00"])]


class DigestRecord(BaseModel):
    """A digest as it would be sent now; the lists contain action ids. `at` is null if it is off."""

    at: str | None
    text: str
    waiting: list[str]
    unassigned: list[str]
    expired: list[str]


@router.get("/api/digest")
async def tell_digest(request: Request, person: Decider) -> DigestRecord:
    """Return what is waiting, what is unassigned tomorrow, and what has expired since the last digest."""
    house, now = house_of(request, person), context_of(request).clock.now()
    household, words = house.household, DigestWords(house.household)

    def read(conn: Connection) -> DigestRecord:
        digest = gather(
            conn, household, person.member, day=now.astimezone(household.zone).date(), now=now,
            since=last_digest(conn, household.id, person.member.id),
        )  # fmt: skip
        at = digest_time(conn, household, person.member.id)
        return DigestRecord(
            at=None if at is None else f"{at:%H:%M}", text=words.text(digest),
            waiting=[each.id for each in digest.waiting],
            unassigned=[words.nobody(each) for each in digest.unassigned],
            expired=[each.id for each in digest.expired],
        )  # fmt: skip

    return await house.store.read(read)


@router.post("/api/digest")
async def choose_digest_time(request: Request, person: Decider, wanted: DigestTime) -> DigestRecord:
    """Change the time of the digest, or turn it off."""
    house, now = house_of(request, person), context_of(request).clock.now()
    at = parse_time(wanted.at)
    await house.store.write(
        lambda conn: set_digest_time(conn, house.household.id, person.member.id, at, now=now)
    )
    return await tell_digest(request, person)
