"""POST /observe and /telegram/webhook: messages of a chat, from whatever program bridges it.

One JSON object, an array of them, or one object a line. All are taken in or none: the answer 202
comes after the commit, and what was sent before is only told to be a repeat. Anything that keeps the
messages from being stored is an answer that says so, after which the bridge sends them again.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from pydantic_core import from_json, to_json
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kinkeeper.core.errors import ConflictError, DeniedError, InputError, NotFoundError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.messaging.message_json import parse_message, parse_record
from kinkeeper.observer.intake import Received
from kinkeeper.web.access.door import Allowed, house_of
from kinkeeper.web.access.model import BRIDGES
from kinkeeper.web.context import House, Webhook, context_of
from kinkeeper.web.problems import problem
from kinkeeper.web.route_parts import plain_route

CHANNEL = "http"
MOST_MESSAGES = 100
LONGEST_TEXT = 65_536  # more than any chat service lets somebody write; reading takes its time
_CLOCKS_DIFFER = timedelta(days=1)


async def observe(request: Request) -> Response:
    """Take messages in; answers 202 once they are durable."""
    house = house_of(request, request.state.person)
    body = await request.body()
    records, is_one = read_records(body)
    messages, errors = _messages(records, house, now=context_of(request).clock.now())
    if errors:
        detail = "nothing was stored; correct the items named here and send everything again"
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, errors=errors)
    received = await _take_in(request, house, messages)
    answers = [
        {"message_id": message.message_id, "queued": each.is_queued, "repeat": each.is_repeat}
        for message, each in zip(messages, received, strict=True)
    ]
    return Response(
        to_json(answers[0] if is_one else {"messages": answers}),
        status_code=HTTPStatus.ACCEPTED,
        media_type="application/json",
    )


def read_records(body: bytes) -> tuple[Sequence[Any], bool]:
    """Return the JSON values of a body, and whether it is one alone, in no array.

    Raises:
        InputError: It is no JSON, neither as a whole nor line by line, or holds nothing or too much.
    """
    value = _decoded(body)
    if isinstance(value, dict):
        return (value,), True
    if isinstance(value, list):
        records: Sequence[Any] = value
    else:
        lines = [line for line in body.split(b"\n") if line.strip()]
        _require_few(len(lines))
        records = [_line(number, line) for number, line in enumerate(lines, start=1)]
        return records, len(records) == 1
    _require_few(len(records))
    return records, False


def _decoded(body: bytes) -> Any:
    try:
        return from_json(body)
    except ValueError:
        return None


def _line(number: int, line: bytes) -> Any:
    # The slower decoder knows what is wrong, and bears halves of characters, which chats do contain.
    value = _decoded(line)
    if value is not None:
        return value
    try:
        return parse_record(line)
    except InputError as error:
        raise InputError(f"line {number}: {error}") from error


def _require_few(count: int) -> None:
    if not count:
        raise InputError("the request contains no message")
    if count > MOST_MESSAGES:
        raise InputError(f"{count} messages at once; send at most {MOST_MESSAGES}")


def _messages(
    records: Sequence[Any], house: House, *, now: datetime
) -> tuple[list[InboundMessage], list[dict[str, Any]]]:
    """Return the messages of records, and what is wrong with the others by their place."""
    messages: list[InboundMessage] = []
    errors: list[dict[str, Any]] = []
    for index, record in enumerate(records):
        try:
            messages.append(_message(record, house, now=now))
        except InputError as error:
            errors.append({"where": ["body", index], "message": str(error)})
    return messages, errors


def _message(record: Any, house: House, *, now: datetime) -> InboundMessage:
    if not isinstance(record, dict):
        raise InputError("not a JSON object")
    message, is_local = parse_message(record, channel=CHANNEL)
    if is_local:
        message = replace(message, sent_at=message.sent_at.replace(tzinfo=house.household.zone))
    if len(message.text) > LONGEST_TEXT:
        raise InputError(f'"text" is longer than {LONGEST_TEXT} characters')
    # Words are kept for so many days after they were said: these would never be old.
    if message.sent_at > now + _CLOCKS_DIFFER:
        raise InputError('"sent_at" is in the future; check the clock on the sending machine')
    return message


async def _take_in(
    request: Request, house: House, messages: Sequence[InboundMessage]
) -> Sequence[Received]:
    now = context_of(request).clock.now()

    def work(conn: Connection) -> list[Received]:
        return [
            _received(house, conn, index, message, now=now)
            for index, message in enumerate(messages)
        ]

    return await house.store.write(work)


def _received(
    house: House, conn: Connection, index: int, message: InboundMessage, *, now: datetime
) -> Received:
    try:
        return house.intake.receive(conn, message, now=now)
    except (ConflictError, DeniedError) as error:
        raise type(error)(f"message {index + 1}: {error}; nothing was stored") from error


routes: list[Route] = [plain_route("/observe", observe, rule=Allowed(BRIDGES), methods=("POST",))]


# POST /telegram/webhook: updates as the chat service posts them.

_SECRET_HEADER = "x-telegram-bot-api-secret-token"  # noqa: S105 - a header's name


async def genuine(request: Request) -> Webhook:
    """Rule: lets in who knows the agreed secret.

    Raises:
        NotFoundError: No updates are taken here.
        DeniedError: The secret is missing or wrong.
    """
    webhook = context_of(request).webhook
    if webhook is None:
        raise NotFoundError("updates are not accepted here")
    if not webhook.is_genuine(request.headers.get(_SECRET_HEADER)):
        raise DeniedError("the secret is missing or wrong")
    return webhook


async def receive(request: Request) -> Response:
    """Take in one update; answers once it is durable."""
    webhook: Webhook = request.state.person
    await webhook.receive(await request.body())
    return Response(status_code=200)


webhook_routes: list[Route] = [
    plain_route("/telegram/webhook", receive, rule=genuine, methods=("POST",))
]
