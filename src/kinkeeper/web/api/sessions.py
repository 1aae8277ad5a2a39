"""Sessions of other programs: what was said in them, to be remembered, and the memories that one begins with."""

import asyncio
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from kinkeeper.actions.session_words import keep
from kinkeeper.core.errors import DeniedError
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_scope, project_scope
from kinkeeper.memory.context.context_builder import Assembled, Memory, Part, assembled
from kinkeeper.memory.context.prefetch import Thread
from kinkeeper.memory.context.session_facts import Tier, as_markdown, as_record, injected
from kinkeeper.memory.model import Category, StatementType
from kinkeeper.memory.sessions import SessionMessage, session_of
from kinkeeper.memory.statements.secrecy import audience_of, secrecy_of
from kinkeeper.messaging.message_json import storable
from kinkeeper.web.access import door
from kinkeeper.web.access.door import Proposer, house_of, viewer_of
from kinkeeper.web.access.model import Person
from kinkeeper.web.context import context_of
from kinkeeper.web.route_parts import ToldTime

router = APIRouter(tags=["memory"])

SessionName = Annotated[str, Query(min_length=1, max_length=200)]


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
            recent=list(fitted.recent),
            facts=Remembered.of(list(fitted.facts)),
            episodes=Remembered.of(list(fitted.episodes)),
            tokens=fitted.tokens,
            cuts=[
                CutPart(part=cut.part, index=cut.index, tokens=cut.tokens, kept=cut.kept)
                for cut in fitted.cuts
            ],
            is_cold=found.is_cold,
        )


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
    session: Annotated[SessionName | None, Query()] = None,
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
            house.store,
            house.streaming,
            Thread(viewer, session_of(person.member.id, session)),
            now=now,
            budget=house.context_tokens,
            names=names,
            zone=house.household.zone,
        )
    return Context(**as_record(found, names), turn=Turn.of(turn) if turn else None)


_LONGEST_NAME = 200
_LONGEST_TEXT = 65_536  # characters; what is said in one go, and read at once
_LONGEST_METADATA = 16_384  # characters as JSON

Name = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME, pattern=r"\S")]


class About(BaseModel):
    """What else is known about a pair; further fields are kept with it."""

    model_config = ConfigDict(extra="allow")

    project: Name | None = None
    private: bool | None = None


class Pair(BaseModel):
    """A person's message in a session, and what was answered.

    With `metadata.project` it belongs to that project, with `metadata.private` only to the person, with
    `"private": false` to the whole household. By default it belongs to the household, unless it is about the
    person's own health, feelings, money, keys or love life. A wish in the message to keep it secret, from everybody or from some,
    is always respected.
    """

    model_config = ConfigDict(alias_generator=to_camel)

    content_session_id: Name
    user_message: Annotated[str, Field(min_length=1, pattern=r"\S")]
    assistant_response: str | None = None
    message_id: Name | None = None
    source: Name = "unknown"
    channel: Name = "unknown"
    timestamp: ToldTime | None = None
    metadata: About = About()


class Queued(BaseModel):
    """A pair that is stored."""

    model_config = ConfigDict(alias_generator=to_camel)

    status: Literal["queued"] = "queued"
    session_id: str
    repeat: bool


@router.post(
    "/api/sessions/messages",
    status_code=HTTPStatus.ACCEPTED,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": Pair.model_json_schema()}},
        }
    },
)
async def post_message(request: Request, person: Proposer) -> Queued:
    """Store a pair; the response is sent once it is stored. Memories are extracted from it later.

    The same pair of the same person sent again is stored once: by its `messageId`, or by session and time. Other
    words with a `messageId` that the session has already are refused with status 409. What children and
    guests say about others, and everything sent with a program's token, waits for approval before it is remembered.

    A message and an answer have at most 65,536 characters each; longer texts are imported.

    Raises:
        DeniedError: The sign-in is read-only, or the project is not for this person.
        HTTPException: The pair is too long, or none.
    """
    if not person.may_propose:
        raise DeniedError("this sign-in is read-only")
    house, now = house_of(request, person), context_of(request).clock.now()
    pair = _pair(await request.body())
    _require_readable(pair)
    message = _message(pair, house.household)
    # Of the longest it takes a while, in which others are answered.
    scope = await asyncio.to_thread(_scope, pair, person)
    taken = await house.store.write(
        lambda conn: keep(
            conn,
            message,
            person.author,
            household=house.household,
            member=person.member,
            scope=scope,
            at=now,
        )
    )
    if house.streaming is not None and taken.is_new:
        house.streaming.turn_ended(
            Thread(viewer_of(person, now=now), session_of(person.member.id, taken.session_id)),
            asked=message.user_message,
            answered=message.assistant_response or "",
        )
    return Queued.model_validate({"sessionId": taken.session_id, "repeat": not taken.is_new})


def _pair(body: bytes) -> Pair:
    """Return what was sent."""
    try:
        return Pair.model_validate_json(body)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'the body'}: {each['msg']}"
            for each in error.errors(include_url=False, include_input=False)
        )
        raise HTTPException(HTTPStatus.BAD_REQUEST, wrong) from None


def _require_readable(pair: Pair) -> None:
    """Refuse what would take long to read, while everybody else waits."""
    metadata = pair.metadata.model_dump_json(exclude_unset=True)
    for name, text, most in (
        ("userMessage", pair.user_message, _LONGEST_TEXT),
        ("assistantResponse", pair.assistant_response or "", _LONGEST_TEXT),
        ("metadata", metadata, _LONGEST_METADATA),
    ):
        if len(text) > most:
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"{name} is too long: it has {len(text):,} characters, and at most {most:,} are accepted; "
                "longer texts belong into an import (kinkeeper import)",
            )


def _message(pair: Pair, household: Household) -> SessionMessage:
    at = pair.timestamp
    if at is not None and at.tzinfo is None:
        at = at.replace(tzinfo=household.zone)
    answer = pair.assistant_response
    return SessionMessage(
        content_session_id=storable(pair.content_session_id),
        user_message=storable(pair.user_message),
        assistant_response=None if answer is None else storable(answer),
        source=storable(pair.source),
        channel=storable(pair.channel),
        timestamp=at,
        message_id=pair.message_id,
        metadata=pair.metadata.model_dump(exclude_unset=True),
    )


def _scope(pair: Pair, person: Person) -> str:
    about, member, household = pair.metadata, person.member.id, person.household
    if about.private:
        return person_scope(member)
    wish = secrecy_of(pair.user_message, household, member)
    if about.project is not None:
        own = person_scope(member)
        return project_scope(storable(about.project)) if wish is None else own
    if about.private is None:
        return audience_of(pair.user_message, household, member)
    return HOUSEHOLD_SCOPE if wish is None else wish.scope
