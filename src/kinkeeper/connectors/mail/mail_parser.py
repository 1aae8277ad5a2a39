"""Mails of other people, out of their bytes. Whatever stands in them, reading one never fails. Pure.

The standard library's reader of mails raises many kinds of errors, and takes quadratic time on some headers:
what it reads is cut first, and a mail whose parts cannot be read still has its sender and subject.
"""

from datetime import datetime
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.utils import getaddresses

from kinkeeper.connectors.mail.html_text import text_of_html
from kinkeeper.core.mail_address import is_mail_address
from kinkeeper.language.text import shorten, strip_controls
from kinkeeper.mail.mailbox import ReceivedMail
from kinkeeper.mail.model import Address, is_message_id, one_line

_LONGEST_TEXT = 600
_LONGEST_LINE = 200
_MOST_REFERENCES = 30
_LONGEST_HEADER = 8_192
_FAULTS = (AssertionError, HeaderParseError, LookupError, RecursionError, TypeError, ValueError)
"""What the library's reader raises on text that is no proper mail."""


def read_mail(raw: bytes, at: datetime) -> ReceivedMail | None:
    """Return a mail; None where nobody can tell whom it is from.

    Args:
        raw: Its beginning, as the server gave it.
        at: When it arrived, aware.
    """
    message = parse_message(raw)
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


def parse_message(raw: bytes) -> Message:
    """Return a mail in its parts, or only its headers where the parts are nested too deeply."""
    try:
        return message_from_bytes(raw)
    except _FAULTS:
        return BytesParser().parsebytes(raw.partition(b"\r\n\r\n")[0], headersonly=True)


def addresses_of(message: Message, header: str) -> list[Address]:
    """Return the addresses in a header of a mail, with the names given there; none where it is no such header."""
    try:
        found = getaddresses([_raw(message, header)])
    except _FAULTS:
        return []
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
    return found[:_LONGEST_HEADER].encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _header(message: Message, header: str) -> str:
    return _decoded(_raw(message, header))


def _decoded(text: str) -> str:
    try:
        parts = decode_header(text)
    except _FAULTS:
        return text
    return "".join(
        _as_text(part, charset) if isinstance(part, bytes) else part for part, charset in parts
    )


def _as_text(data: bytes, charset: str | None) -> str:
    try:
        return data.decode(charset or "utf-8", "replace")
    except _FAULTS:
        return data.decode("utf-8", "replace")


def _text(message: Message) -> str:
    """Return the plain text of a mail, or the words of its HTML; attachments are not read."""
    try:
        bodies = {
            part.get_content_type(): part
            for part in reversed(list(message.walk()))
            if not part.is_multipart() and part.get_content_disposition() != "attachment"
        }
    except _FAULTS:
        return ""
    for kind in ("text/plain", "text/html"):
        text = _body(bodies[kind]) if kind in bodies else ""
        words = text_of_html(text) if kind == "text/html" else text
        if words.strip():
            return strip_controls(words).strip()
    return ""


def _body(part: Message) -> str:
    try:
        data, charset = part.get_payload(decode=True), part.get_content_charset()
    except _FAULTS:
        return ""
    return _as_text(data, charset) if isinstance(data, bytes) else ""
