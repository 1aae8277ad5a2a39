"""GET /api/context/inject: the memories that a session begins with, and what its last turns call for."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from starlette.responses import PlainTextResponse, Response

from kinkeeper.memory.context.context_builder import Assembled, Memory, Part, assembled
from kinkeeper.memory.context.prefetch import Thread
from kinkeeper.memory.context.session_facts import Tier, as_markdown, as_record, injected
from kinkeeper.memory.model import Category, StatementType
from kinkeeper.memory.sessions import session_of
from kinkeeper.web.access import door
from kinkeeper.web.access.login_viewer import viewer_of
from kinkeeper.web.context import context_of

router = APIRouter(tags=["memory"])

Name = Annotated[str, Query(min_length=1, max_length=200)]


class Format(StrEnum):
    """How the memories are written."""

    MARKDOWN = "markdown"
    JSON = "json"


class Observation(BaseModel):
    """A fact in a session's context; `facts` are its details."""

    id: str
    type: StatementType
    category: Category
    title: str
    subtitle: str | None
    narrative: str
    speaker: str | None
    facts: list[str]
    created_at: datetime
    tier: Tier


class Remembered(BaseModel):
    """A fact or episode that is relevant to the last turns of a session."""

    id: str
    text: str

    @classmethod
    def of(cls, memories: list[Memory]) -> list["Remembered"]:
        """Return the records of memories."""
        return [cls(id=memory.id, text=memory.text) for memory in memories]


class CutPart(BaseModel):
    """A text that did not fit completely."""

    part: Part
    index: int
    tokens: int
    kept: int


class Turn(BaseModel):
    """What the next turn of a session starts with, within the token budget.

    `is_cold` means that nothing has been looked up for it yet.
    """

    recent: list[str]
    facts: list[Remembered]
    episodes: list[Remembered]
    tokens: int
    cuts: list[CutPart]
    is_cold: bool

    @classmethod
    def of(cls, found: Assembled) -> "Turn":
        """Return the record of a turn's context."""
        fitted = found.fitted
        return cls(
            recent=list(fitted.recent), facts=Remembered.of(list(fitted.facts)),
            episodes=Remembered.of(list(fitted.episodes)), tokens=fitted.tokens,
            cuts=[
                CutPart(part=cut.part, index=cut.index, tokens=cut.tokens, kept=cut.kept)
                for cut in fitted.cuts
            ],
            is_cold=found.is_cold,
        )  # fmt: skip


class Context(BaseModel):
    """What a session starts with: tier by tier, each memory once; `turn` is present if a session was named."""

    observations: list[Observation]
    skipped_tiers: list[Tier]
    counts: dict[Tier, int]
    turn: Turn | None = None


@router.get(
    "/api/context/inject",
    response_model=Context,
    responses={200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}},
)
async def inject(
    request: Request,
    person: door.Viewer,
    *,
    project: Annotated[list[str] | None, Query(max_length=20)] = None,
    query: Annotated[str | None, Query(max_length=2000)] = None,
    session: Annotated[Name | None, Query()] = None,
    form: Annotated[Format, Query(alias="format")] = Format.MARKDOWN,
) -> Context | Response:
    """Return the memories that a session starts with, as Markdown unless JSON is requested.

    A project's memories are included only if it is named, and memories similar to a query only if there is one. With a
    session's id, JSON also contains what is relevant to its last turns.
    """
    house, now = door.house_of(request, person), context_of(request).clock.now()
    names = house.household.names
    viewer = viewer_of(person, now=context_of(request).clock.now(), projects=project or ())
    found = await injected(house.store, house.finder, viewer, query=query, now=now)
    if form is Format.MARKDOWN:
        text = as_markdown(found, house.household.zone, names)
        return PlainTextResponse(text, media_type="text/markdown; charset=utf-8")
    turn = None
    if session is not None:
        turn = await assembled(
            house.store, house.streaming, Thread(viewer, session_of(person.member.id, session)), now=now,
            budget=house.context_tokens, names=names, zone=house.household.zone,
        )  # fmt: skip
    return Context(**as_record(found, names), turn=Turn.of(turn) if turn else None)
