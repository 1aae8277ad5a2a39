"""POST /api/sessions/messages: what was said in other programs' sessions, to be remembered."""

import asyncio
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException

from kinkeeper.core.errors import InputError
from kinkeeper.core.time import check_told
from kinkeeper.household.model import Household
from kinkeeper.household.viewing import HOUSEHOLD_SCOPE, person_scope, project_scope
from kinkeeper.memory.context.streaming import Thread
from kinkeeper.memory.sessions import SessionMessage, take_in
from kinkeeper.memory.statements.sensitive import holds_sensitive
from kinkeeper.messaging.records import storable
from kinkeeper.web.access.door import Reader, house_of
from kinkeeper.web.access.model import Person
from kinkeeper.web.access.viewing import viewer_of
from kinkeeper.web.context import context_of

router = APIRouter(tags=["memory"])

_LONGEST_NAME = 200

Name = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME, pattern=r"\S")]


def _told(instant: datetime) -> datetime:
    try:
        return check_told(instant)
    except InputError as error:
        raise ValueError(error) from None


class About(BaseModel):
    """What else is known of a pair; more may stand there, and is kept with it."""

    model_config = ConfigDict(extra="allow")

    project: Name | None = None
    private: bool | None = None


class Pair(BaseModel):
    """A person's message in a session, and what was answered.

    With `metadata.project` it belongs to that project, with `metadata.private` to the person alone, with
    `"private": false` to everybody of the household. Where nothing is said it is everybody's, unless it tells of the
    person's own health, money, keys or love.
    """

    model_config = ConfigDict(alias_generator=to_camel)

    content_session_id: Name
    user_message: Annotated[str, Field(min_length=1, pattern=r"\S")]
    assistant_response: str | None = None
    message_id: Name | None = None
    source: Name = "unknown"
    channel: Name = "unknown"
    timestamp: Annotated[datetime, AfterValidator(_told)] | None = None
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
async def post_message(request: Request, person: Reader) -> Queued:
    """Take in a pair; answers once it is stored. What is worth remembering is read out of it later.

    The same pair sent again is stored once: by its `messageId`, else by session, time and text.
    """
    house, now = house_of(request, person), context_of(request).clock.now()
    pair = _pair(await request.body())
    # Of megabytes it takes half a second, in which others are answered.
    message = await asyncio.to_thread(_message, pair, person, house.household)
    taken = await house.store.write(lambda conn: take_in(conn, house.household.id, message, at=now))
    if house.streaming is not None and taken.is_new:
        house.streaming.turn_ended(
            Thread(viewer_of(person, now=context_of(request).clock.now()), taken.session_id), asked=message.user_message,
            answered=message.assistant_response or "",
        )  # fmt: skip
    return Queued.model_validate({"sessionId": taken.session_id, "repeat": not taken.is_new})


def _pair(body: bytes) -> Pair:
    """Return what was sent.

    Raises:
        HTTPException: It is no pair; the message says what is missing or wrong.
    """
    try:
        return Pair.model_validate_json(body)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'the body'}: {each['msg']}"
            for each in error.errors(include_url=False, include_input=False)
        )
        raise HTTPException(HTTPStatus.BAD_REQUEST, wrong) from None


def _message(pair: Pair, person: Person, household: Household) -> SessionMessage:
    at = pair.timestamp
    if at is not None and at.tzinfo is None:
        at = at.replace(tzinfo=household.zone)
    answer = pair.assistant_response
    return SessionMessage(
        content_session_id=storable(pair.content_session_id),
        user_message=storable(pair.user_message),
        assistant_response=None if answer is None else storable(answer),
        source=storable(pair.source), channel=storable(pair.channel), timestamp=at,
        message_id=pair.message_id, metadata=pair.metadata.model_dump(exclude_unset=True),
        member=person.member.id, scope=_scope(pair, person),
    )  # fmt: skip


def _scope(pair: Pair, person: Person) -> str:
    about = pair.metadata
    if about.project is not None and not about.private:
        return project_scope(storable(about.project))
    is_private = about.private if about.private is not None else holds_sensitive(pair.user_message)
    return person_scope(person.member.id) if is_private else HOUSEHOLD_SCOPE
