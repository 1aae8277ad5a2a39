"""A chat message out of a JSON object: what every program that brings messages must send. Pure."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from kinkeeper.core.errors import InputError
from kinkeeper.core.messages import InboundMessage, MessageKind

_LONGEST_ID = 128
_YEARS = range(1970, 2200)
_HALF_CHARACTER = re.compile(r"[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Return a text with a sign in place of what databases do not store: half and zero characters."""
    return _HALF_CHARACTER.sub("\ufffd", text)


def parse_record(raw: bytes) -> Mapping[str, Any]:
    """Return the JSON object of a line.

    Raises:
        InputError: The line is not UTF-8, not JSON, or no object.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8 (byte {error.start + 1} of the line); save the file as UTF-8"
        ) from error
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        what = str(error).split(":")[0] if isinstance(error, ValueError) else "nested too deeply"
        raise InputError(f"not JSON ({what}); write one object per line") from error
    if not isinstance(record, Mapping):
        raise InputError("not a JSON object; write one object in braces per line")
    return record


def parse_message(record: Mapping[str, Any], *, channel: str) -> tuple[InboundMessage, bool]:
    """Return the message of a record, and whether its time came without an offset.

    Args:
        record: With chat_id, message_id, sender, text, sent_at; reply_to, kind, target where it has them.

    Returns:
        A time without an offset is local; it stands as if it were UTC, for the caller to place.
    """
    sent_at = _sent_at(record)
    kind = _kind(record)
    target = _id(record, "target")
    if kind is not MessageKind.TEXT and target is None:
        raise InputError(f'"target" is missing: the id of the message this {kind.value} is for')
    message = InboundMessage(
        channel=channel,
        chat_id=_required_id(record, "chat_id"),
        message_id=_required_id(record, "message_id"),
        sender=_required_id(record, "sender"),
        text=_text(record),
        sent_at=sent_at if sent_at.tzinfo else sent_at.replace(tzinfo=UTC),
        reply_to=_id(record, "reply_to"),
        kind=kind,
        target=target,
    )
    return message, sent_at.tzinfo is None


def _required_id(record: Mapping[str, Any], name: str) -> str:
    found = _id(record, name)
    if found is None:
        raise InputError(f'"{name}" is missing')
    return found


def _id(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f'"{name}" must be text, not {_type(value)}')
    text = str(value)
    if not text.strip():
        raise InputError(f'"{name}" is empty')
    if len(text) > _LONGEST_ID:
        raise InputError(f'"{name}" is longer than {_LONGEST_ID} characters')
    if _HALF_CHARACTER.search(text):
        raise InputError(f'"{name}" contains an unpaired surrogate or a null character')
    return text


def _text(record: Mapping[str, Any]) -> str:
    if "text" not in record:
        raise InputError('"text" is missing (an empty one is "")')
    value = record["text"]
    if not isinstance(value, str):
        raise InputError(f'"text" must be text, not {_type(value)}')
    return storable(value)


def _kind(record: Mapping[str, Any]) -> MessageKind:
    value = record.get("kind")
    if value is None:
        return MessageKind.TEXT
    try:
        return MessageKind(value)
    except ValueError as error:
        known = ", ".join(kind.value for kind in MessageKind)
        raise InputError(f'"kind" is {value!r}; use one of {known}') from error


def _sent_at(record: Mapping[str, Any]) -> datetime:
    value = record.get("sent_at")
    if value is None:
        raise InputError('"sent_at" is missing; write e.g. 2026-03-05T18:00:00-06:00')
    if not isinstance(value, str):
        raise InputError(f'"sent_at" must be text like 2026-03-05T18:00:00, not {_type(value)}')
    try:
        instant = datetime.fromisoformat(value.strip())
        has_time = len(value.strip()) > len("2026-03-05")
    except ValueError as error:
        raise InputError(f'"sent_at" is {value!r}, which is not a real date and time') from error
    if not has_time:
        raise InputError(f'"sent_at" is {value!r}; the time of day is missing')
    if instant.year not in _YEARS:
        raise InputError(
            f'"sent_at" is in the year {instant.year}; the year must be between {_YEARS[0]} and {_YEARS[-1]}'
        )
    return instant


def _type(value: object) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
        type(None): "null",
    }
    return names.get(type(value), "a text")
