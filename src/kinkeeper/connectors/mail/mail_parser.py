"""Mails of other people, out of their bytes, HTML as its visible words. Reading one never fails. Pure.

The standard library's reader of mails raises many kinds of errors, and takes quadratic time on some headers:
what it reads is cut first, and a mail whose parts cannot be read still has its sender and subject.
"""

import re
from datetime import datetime
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.utils import getaddresses
from html import unescape

from kinkeeper.core.addresses import is_mail_address
from kinkeeper.language.text import shorten, strip_controls
from kinkeeper.mail.model import Address, ReceivedMail, is_message_id, one_line

# The visible words of an HTML mail. Pure.
#
# Anybody may send a mail, so every document is read in one pass: the standard library's parser
# raises on some input, and takes quadratic time on tags and comments that never end.

_HIDDEN = frozenset({"head", "script", "style", "template", "title"})
_BREAKS = frozenset({"br", "div", "li", "p", "tr", "h1", "h2", "h3", "h4", "table", "blockquote"})
_RAW = frozenset({"script", "style"})
"""Elements whose content is no HTML: only their own end tag ends them."""

_NAME = re.compile(r"/?[A-Za-z][A-Za-z0-9]*")
_REST_OF_TAG = re.compile(r"""[^>"']*+(?:"[^"]*+"[^>"']*+|'[^']*+'[^>"']*+)*+>""")
_LONG_REFERENCE = re.compile(r"&#[xX]?[0-9A-Fa-f]{8,};?")
"""A number that no character has; a very long one would be an error."""


class _Words:
    """Collects the words outside hidden elements."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._hidden: list[str] = []

    def add(self, text: str) -> None:
        if not self._hidden:
            self.parts.append(unescape(_LONG_REFERENCE.sub("\ufffd", text)))

    def tag(self, name: str) -> None:
        is_end, plain = name.startswith("/"), name.removeprefix("/")
        if plain in _BREAKS:
            self.parts.append("\n")
        elif is_end and plain in self._hidden:
            del self._hidden[self._hidden.index(plain) :]
        elif not is_end and plain in _HIDDEN and plain not in self._hidden:
            self._hidden.append(plain)


def text_of_html(html: str) -> str:
    """Return the text of an HTML document as a reader would see it; a tag that never ends hides the rest."""
    words, at = _Words(), 0
    while (begin := html.find("<", at)) >= 0:
        words.add(html[at:begin])
        at = _read_markup(html, begin, words)
    words.add(html[at:])
    lines = (" ".join(line.split()) for line in "".join(words.parts).splitlines())
    return "\n".join(line for line in lines if line)


def _read_markup(html: str, begin: int, words: _Words) -> int:
    """Read what begins with "<" and return where it ends."""
    if html.startswith("<!--", begin):
        return _after(html, "-->", begin + 4)
    if html.startswith(("<!", "<?"), begin):
        return _after(html, ">", begin)
    name = _NAME.match(html, begin + 1)
    if name is None:
        words.add("<")
        return begin + 1
    found = name.group().lower()
    rest = _REST_OF_TAG.match(html, name.end())
    words.tag(found)
    if rest is None:
        return len(html)
    return _after_raw(html, found, rest.end()) if found in _RAW else rest.end()


def _after(html: str, end: str, at: int) -> int:
    found = html.find(end, at)
    return len(html) if found < 0 else found + len(end)


def _after_raw(html: str, name: str, at: int) -> int:
    """Return where the end tag of an element with raw content begins."""
    found = re.compile(f"</{name}", re.IGNORECASE).search(html, at)
    return len(html) if found is None else found.start()


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
