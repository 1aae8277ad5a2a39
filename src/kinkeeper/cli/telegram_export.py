"""Messages out of a Telegram Desktop export (`result.json` of one chat). Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from kinkeeper.cli.chat_lines import BadLine, ChatLine, chat_line
from kinkeeper.core.errors import InputError


def is_export(record: Mapping[str, Any]) -> bool:
    """Whether a JSON object is an export of one chat."""
    return isinstance(record.get("messages"), list) and "id" in record


def export_lines(export: Mapping[str, Any]) -> Iterator[ChatLine | BadLine]:
    """Yield the messages and reactions of an export in the order they were sent.

    What is no message (somebody joined, the title changed) is left out. Lines are counted as
    messages are, from 1.

    Args:
        export: One that `is_export`.
    """
    found: list[tuple[datetime, ChatLine | BadLine]] = []
    latest = datetime.min.replace(tzinfo=UTC)
    for number, message in enumerate(export["messages"], start=1):
        try:
            for line in _lines(number, message, export["id"]):
                latest = line.message.sent_at
                found.append((latest, line))
        except InputError as error:
            found.append((latest, BadLine(number=number, error=str(error))))
    found.sort(key=lambda item: item[0])
    yield from (line for _, line in found)


def _lines(number: int, message: Any, chat_id: Any) -> Iterator[ChatLine]:
    if not isinstance(message, Mapping):
        raise InputError("a message in the export is not an object")
    if message.get("type") != "message":
        return
    sent_at, offset = _times(message)
    common = {"chat_id": chat_id, "message_id": message.get("id")}
    line = chat_line(
        number,
        {
            **common,
            **_sender(message),
            "text": _text(message.get("text", "")),
            "sent_at": sent_at.isoformat(),
            "reply_to": message.get("reply_to_message_id"),
        },
    )
    yield replace(line, account=_account(message))
    for reaction in _mappings(message.get("reactions")):
        for giver in _mappings(reaction.get("recent")):
            yield _reaction(number, common, reaction, giver, offset)


def _reaction(
    number: int,
    common: Mapping[str, Any],
    reaction: Mapping[str, Any],
    giver: Mapping[str, Any],
    offset: timedelta,
) -> ChatLine:
    emoji = _text(reaction.get("emoji", ""))
    given_at = _instant(giver.get("date")) - offset
    line = chat_line(
        number,
        {
            "chat_id": common["chat_id"],
            "message_id": f"{common['message_id']}:{emoji}:{giver.get('from_id')}",
            **_sender(giver),
            "text": emoji,
            "sent_at": given_at.isoformat(),
            "kind": "reaction",
            "target": common["message_id"],
        },
    )
    return replace(line, account=_account(giver))


def _sender(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"sender": record.get("from") or record.get("from_id")}


def _account(record: Mapping[str, Any]) -> str | None:
    account = str(record.get("from_id", "")).removeprefix("user")
    return account if account.isdecimal() else None


def _times(message: Mapping[str, Any]) -> tuple[datetime, timedelta]:
    """Return when a message was sent, and how far the exporting machine's clock was ahead of UTC."""
    local = _instant(message.get("date"))
    seconds = str(message.get("date_unixtime", ""))
    if not seconds.isdecimal() or len(seconds) > len("9999999999"):
        return local, timedelta()
    sent_at = datetime.fromtimestamp(int(seconds), UTC)
    return sent_at, local - sent_at


def _instant(value: Any) -> datetime:
    try:
        return datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
    except ValueError as error:
        raise InputError(f'"date" is {value!r}, which is not a real date and time') from error


def _text(value: Any) -> str:
    """Return a text that may come in pieces (bold, links, mentions)."""
    if isinstance(value, list):
        return "".join(_text(piece) for piece in value)
    if isinstance(value, Mapping):
        return _text(value.get("text", ""))
    return value if isinstance(value, str) else ""


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
