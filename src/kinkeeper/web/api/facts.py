"""Single facts as JSON: what they rest on, how they came about, and what people change of them."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Self

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator
from sqlalchemy import Connection

from kinkeeper.actions.receipts import Receipt
from kinkeeper.actions.setting_right import SettingRight
from kinkeeper.memory.browser import Version, history
from kinkeeper.memory.confidence import confidence_now
from kinkeeper.memory.context.session_facts import Names, name_of
from kinkeeper.memory.facts import load_fact, statements_of
from kinkeeper.memory.journal import Cause
from kinkeeper.memory.model import Category, Fact, FactStatus, Origin, Statement, StatementType
from kinkeeper.messaging.message_json import storable
from kinkeeper.web.access.door import Decider, Viewer, house_of
from kinkeeper.web.access.login_viewer import viewer_of
from kinkeeper.web.access.model import Person
from kinkeeper.web.api.pending import RECEIPTS, Told, status_for
from kinkeeper.web.context import context_of

router = APIRouter(tags=["memory"])

_LONGEST = 2000


class Evidence(BaseModel):
    """A sentence that a fact is based on, as it was said."""

    episode_id: str
    text: str
    speaker: str | None
    said_at: datetime

    @classmethod
    def of(cls, statement: Statement, names: Names) -> Self:
        """Return the record of a statement, with the names of the household for its members."""
        return cls(
            episode_id=statement.episode_id, text=statement.text,
            speaker=name_of(statement.speaker, names), said_at=statement.said_at,
        )  # fmt: skip


class FactRecord(BaseModel):
    """A fact; `facts` are its details, `confidence` is its current confidence."""

    id: str
    scope: str
    category: Category
    type: StatementType
    subject: str
    slot: str | None
    title: str
    subtitle: str | None
    narrative: str
    facts: list[str]
    origin: Origin
    source: str
    confidence: float
    evidence_count: int
    derived_from: list[str]
    status: FactStatus
    is_active: bool
    superseded_by: str | None
    merged_into_id: str | None
    is_contradicted: bool
    doubted_by: str | None
    is_edited: bool
    held_from: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    said_at: datetime
    created_at: datetime
    last_evidence_at: datetime
    archived_at: datetime | None

    @classmethod
    def of(cls, fact: Fact, *, now: datetime) -> Self:
        """Return the record of a fact."""
        return cls(
            id=fact.id, scope=fact.scope, category=fact.category, type=fact.type,
            subject=fact.subject, slot=fact.slot, title=fact.title, subtitle=fact.subtitle,
            narrative=fact.narrative, facts=list(fact.details), origin=fact.origin,
            source=fact.source, confidence=round(confidence_now(fact, now), 4),
            evidence_count=fact.evidence_count, derived_from=list(fact.derived_from),
            status=fact.status, is_active=fact.is_current(now), superseded_by=fact.superseded_by,
            merged_into_id=fact.merged_into_id, is_contradicted=fact.is_contradicted,
            doubted_by=fact.doubted_by,
            is_edited=fact.is_edited, held_from=fact.held_from, valid_from=fact.valid_from,
            valid_to=fact.valid_to, said_at=fact.said_at, created_at=fact.created_at,
            last_evidence_at=fact.last_evidence_at, archived_at=fact.archived_at,
        )  # fmt: skip


class FactWithEvidence(FactRecord):
    """A fact and what it rests on."""

    evidence: list[Evidence]


class VersionRecord(BaseModel):
    """A fact after one change; `change_set` is null for the state before the oldest change that is still kept."""

    change_set: str | None
    cause: Cause | None
    at: datetime | None
    by: str | None
    fact: FactRecord

    @classmethod
    def of(cls, version: Version, *, now: datetime) -> Self:
        """Return the record of a version."""
        change = version.change
        return cls(
            change_set=change.id if change else None, cause=change.cause if change else None,
            at=change.made_at if change else None, by=change.made_by if change else None,
            fact=FactRecord.of(version.fact, now=now),
        )  # fmt: skip


class FactChange(BaseModel):
    """One change to a fact: its wording, that it was never true, or who may recall it."""

    model_config = ConfigDict(extra="forbid")

    narrative: Annotated[str, Field(min_length=1, max_length=_LONGEST, pattern=r"\S")] | None = None
    wrong: bool | None = None
    private: bool | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        given = (self.narrative is not None, self.wrong is True, self.private is not None)
        if sum(given) != 1:
            raise ValueError("send exactly one of: narrative, wrong (true), private")
        return self


@router.get("/api/facts/{fact_id}")
async def show(request: Request, person: Viewer, fact_id: str) -> FactWithEvidence:
    """Return a fact, whatever its status, and what it is based on."""
    now = context_of(request).clock.now()
    viewer = viewer_of(person, now=now)

    def read(conn: Connection) -> tuple[Fact, Sequence[Statement]]:
        return load_fact(conn, viewer, fact_id), statements_of(conn, viewer, fact_id)

    house = house_of(request, person)
    fact, said = await house.store.read(read)
    names = house.household.names
    record = FactRecord.of(fact, now=now).model_dump()
    return FactWithEvidence(**record, evidence=[Evidence.of(each, names) for each in said])


@router.get("/api/facts/{fact_id}/history")
async def show_history(request: Request, person: Viewer, fact_id: str) -> list[VersionRecord]:
    """List the versions of a fact, newest first, with the time, person and reason of each change."""
    now = context_of(request).clock.now()
    viewer = viewer_of(person, now=now)

    versions = await house_of(request, person).store.read(
        lambda conn: history(conn, viewer, fact_id)
    )
    return [VersionRecord.of(version, now=now) for version in versions]


@router.patch("/api/facts/{fact_id}", responses=RECEIPTS)
async def change(
    request: Request, response: Response, person: Decider, *, fact_id: str, wish: FactChange
) -> Told:
    """Correct a fact; the returned action can be undone."""

    def decide(conn: Connection, right: SettingRight) -> Receipt:
        if wish.narrative is not None:
            return right.edit(conn, fact_id, storable(wish.narrative).strip())
        if wish.wrong:
            return right.wrong(conn, fact_id)
        return right.set_scope(conn, fact_id, is_private=bool(wish.private))

    return await _decided(request, response, person, decide)


@router.delete("/api/facts/{fact_id}", responses=RECEIPTS)
async def forget(request: Request, response: Response, person: Decider, fact_id: str) -> Told:
    """Erase a fact and the words it is based on. This cannot be undone."""
    told = await _decided(
        request, response, person, lambda conn, right: right.forget(conn, fact_id)
    )
    await asyncio.to_thread(house_of(request, person).store.fold_log)
    return told


@router.post("/api/memory/changes/{change_set}/undo", responses=RECEIPTS)
async def take_back(request: Request, response: Response, person: Decider, change_set: str) -> Told:
    """Undo a whole memory change, made by a person or a nightly run."""
    return await _decided(
        request, response, person, lambda conn, right: right.take_back(conn, change_set)
    )


async def _decided(
    request: Request,
    response: Response,
    person: Person,
    decision: Callable[[Connection, SettingRight], Receipt],
) -> Told:
    right = SettingRight(
        household=person.household, member=person.member, now=context_of(request).clock.now()
    )
    store = house_of(request, person).store
    receipt = await store.write(lambda conn: decision(conn, right))
    response.status_code = status_for(receipt)
    return Told.of(receipt)
