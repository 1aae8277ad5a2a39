"""Mails of other people, out of their bytes. Whatever stands in them, reading one never fails. Pure."""

from datetime import datetime
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses

from kinkeeper.connectors.mail.html_text import text_of_html
from kinkeeper.core.mail_address import is_mail_address
from kinkeeper.language.text import shorten, strip_controls
from kinkeeper.mail.model import Address, is_message_id, one_line
from kinkeeper.mail.reading import ReceivedMail

_LONGEST_TEXT = 600
_LONGEST_LINE = 200
_MOST_REFERENCES = 30


def read_mail(raw: bytes, at: datetime) -> ReceivedMail | None:
    """Return a mail; None where nobody can tell whom it is from.

    Args:
        raw: Its beginning, as the server gave it.
        at: When it arrived, aware.
    """
    message = message_from_bytes(raw)
    sender = _first(addresses_of(message, "From"))
    if sender is None:
        return None
    ids = _header(message, "References").split() or _header(message, "In-Reply-To").split()
    own = _header(message, "Message-ID").strip()
    return ReceivedMail(
        message_id=own if is_message_id(own) else None,
        sender=sender,
        answer_to=_first(addresses_of(message, "Reply-To")) or sender,
        subject=shorten(plain_line(_header(message, "Subject")), _LONGEST_LINE),
        at=at,
        text=shorten(_text(message), _LONGEST_TEXT),
        references=tuple(each for each in ids if is_message_id(each))[-_MOST_REFERENCES:],
    )


def addresses_of(message: Message, header: str) -> list[Address]:
    """Return the addresses in a header of a mail, with the names given there."""
    found = getaddresses([_raw(message, header)])
    return [
        Address(address=address, name=shorten(plain_line(_decoded(name)), _LONGEST_LINE))
        for name, address in found
        if is_mail_address(address)
    ]


def plain_line(text: str) -> str:
    """Return other people's text as one line without anything invisible."""
    return one_line(strip_controls(text))


def _first(addresses: list[Address]) -> Address | None:
    return addresses[0] if addresses else None


def _raw(message: Message, header: str) -> str:
    """Return a header as it came; bytes beyond ASCII, which are not allowed there, count as UTF-8."""
    wanted = header.casefold()
    found = next((value for name, value in message.raw_items() if name.casefold() == wanted), "")
    return found.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _header(message: Message, header: str) -> str:
    return _decoded(_raw(message, header))


def _decoded(text: str) -> str:
    try:
        parts = decode_header(text)
    except (HeaderParseError, ValueError):
        return text
    return "".join(
        _as_text(part, charset) if isinstance(part, bytes) else part for part, charset in parts
    )


def _as_text(data: bytes, charset: str | None) -> str:
    try:
        return data.decode(charset or "utf-8", "replace")
    except LookupError:
        return data.decode("utf-8", "replace")


def _text(message: Message) -> str:
    """Return the plain text of a mail, or the words of its HTML; attachments are not read."""
    bodies = {
        part.get_content_type(): part
        for part in reversed(list(message.walk()))
        if not part.is_multipart() and part.get_content_disposition() != "attachment"
    }
    for kind in ("text/plain", "text/html"):
        part = bodies.get(kind)
        if part is None:
            continue
        data = part.get_payload(decode=True)
        text = _as_text(data if isinstance(data, bytes) else b"", part.get_content_charset())
        words = text_of_html(text) if kind == "text/html" else text
        if words.strip():
            return strip_controls(words).strip()
    return ""
