"""The household's mailbox over IMAP: reading leaves no trace in it, drafts and copies are looked for first."""

import asyncio
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email import message_from_bytes
from email.errors import HeaderParseError, MessageError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.utils import getaddresses
from html import unescape
from typing import Any, TypeVar

from imapclient import IMAPClient, SocketTimeout
from imapclient.exceptions import IMAPClientError, LoginError

from kinkeeper.connectors.mail.account import Account
from kinkeeper.core.addresses import is_mail_address
from kinkeeper.core.errors import UnavailableError
from kinkeeper.household.name_folding import fold
from kinkeeper.language.text import shorten, strip_controls
from kinkeeper.mail.model import Address, MailQuery, ReceivedMail, is_message_id, one_line

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


T = TypeVar("T")

_TIMEOUT = SocketTimeout(connect=10, read=20)
_PATIENCE_SECONDS = 60.0
_THREADS = 2
_MOST_BYTES = 65_536
_MOST_RECEIVED = 32_000_000
_MOST_HEADERS = 200
_HEADERS = "BODY.PEEK[HEADER.FIELDS (FROM TO CC)]"
_DRAFTS, _SENT, _ALL = b"\\Drafts", b"\\Sent", b"\\All"
_USUAL_NAMES = {_DRAFTS: "Drafts", _SENT: "Sent"}
_NONSENSE = (AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What the library raises on answers that are no IMAP."""
_FLAGS = {_DRAFTS: (b"\\Draft", b"\\Seen"), _SENT: (b"\\Seen",)}


class MailboxRefusedError(UnavailableError):
    """The server does not let us in."""


class Mailbox:
    """One account's folders. Every call connects anew and ends in time, whatever the server does.

    Args:
        account: Where, and who we are.
        patience_seconds: Longest time for one call, > 0.
    """

    def __init__(self, account: Account, *, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        self._account = account
        self._patience = patience_seconds
        # Threads of its own: a server that sends a byte now and then must not hold those of others.
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="mailbox")

    async def search(self, query: MailQuery, *, limit: int) -> Sequence[ReceivedMail]:
        """Return the latest mails that fit, latest first."""
        return await self._do(lambda client: _search(client, query, limit))

    async def correspondents(self, name: str) -> Sequence[Address]:
        """Return whom mail was written to, or who wrote, under a name; those written to first, each once.

        Args:
            name: Part of a name or address.
        """
        return await self._do(lambda client: _correspondents(client, name))

    async def has_draft(self, message_id: str) -> bool:
        """Whether a mail with that id is among the drafts."""
        return await self._do(lambda client: bool(_find(client, _DRAFTS, message_id)))

    async def has_sent(self, message_id: str) -> bool:
        """Whether a mail with that id is among the sent ones."""
        return await self._do(lambda client: bool(_find(client, _SENT, message_id)))

    async def add_draft(self, message: bytes, message_id: str) -> None:
        """Put a mail among the drafts, unless one with its id is there.

        Raises:
            UnavailableError: The mailbox cannot be reached; it may be there all the same.
        """
        await self._do(lambda client: _add(client, _DRAFTS, message, message_id))

    async def add_sent(self, message: bytes, message_id: str) -> None:
        """Put a mail among the sent ones, unless the server has done so itself."""
        await self._do(lambda client: _add(client, _SENT, message, message_id))

    async def remove_draft(self, message_id: str) -> None:
        """Remove the draft with that id, if it is there."""
        await self._do(lambda client: _remove_draft(client, message_id))

    async def folders(self) -> Sequence[str]:
        """Return the names of the folders for drafts and sent mails, as far as there are such."""
        return await self._do(_folder_names)

    async def _do(self, work: Callable[[IMAPClient], T]) -> T:
        loop, opened = asyncio.get_running_loop(), list[IMAPClient]()
        try:
            async with asyncio.timeout(self._patience):
                return await loop.run_in_executor(self._threads, self._connected, work, opened)
        except TimeoutError as error:
            for client in opened:
                with suppress(OSError):
                    # Ends the read in which its thread waits; closing would wait for that read.
                    client.socket().shutdown(socket.SHUT_RDWR)
            raise UnavailableError("the mail server did not answer in time") from error

    def _connected(self, work: Callable[[IMAPClient], T], opened: list[IMAPClient]) -> T:
        try:
            with self._client(opened) as client:
                return work(client)
        except LoginError as error:
            raise MailboxRefusedError(
                "the mail server rejected the login; check IMAP_URL"
            ) from error
        except (IMAPClientError, OSError, MessageError) as error:
            raise UnavailableError(
                f"the mail server cannot be reached ({type(error).__name__})"
            ) from error
        except _NONSENSE as error:
            raise UnavailableError(
                f"the mail server's answer cannot be read ({type(error).__name__})"
            ) from error

    @contextmanager
    def _client(self, opened: list[IMAPClient]) -> Iterator[IMAPClient]:
        account = self._account
        context = ssl.create_default_context()
        client = IMAPClient(
            account.host,
            account.port,
            ssl=account.is_tls_at_once,
            ssl_context=context if account.is_tls_at_once else None,
            timeout=_TIMEOUT,
        )
        client.normalise_times = False
        opened.append(client)
        _limit(client, seconds=self._patience)
        try:
            if account.is_tls_later:
                client.starttls(context)
            client.login(account.username, account.password)
            yield client
        finally:
            client.shutdown()


def _limit(client: IMAPClient, *, seconds: float) -> None:
    """Make every later read fail once the server has sent too much, or for too long."""
    connection: Any = client._imap  # noqa: SLF001 - the library has no limit of its own
    left, deadline = _MOST_RECEIVED, time.monotonic() + seconds

    def limited(read: Callable[..., bytes]) -> Callable[..., bytes]:
        def checked(*size: int) -> bytes:
            nonlocal left
            if sum(size) > left or time.monotonic() > deadline:
                raise OSError("the mail server sent too much data, or answered too slowly")
            data = read(*size)
            left -= len(data)
            return data

        return checked

    connection.read, connection.readline = limited(connection.read), limited(connection.readline)


def _search(client: IMAPClient, query: MailQuery, limit: int) -> Sequence[ReceivedMail]:
    folder = client.find_special_folder(_ALL) or "INBOX"
    client.select_folder(folder, readonly=True)
    found = sorted(_matching(client, _criteria(query)))[-limit:]
    if not found:
        return []
    fetched = client.fetch(found, [f"BODY.PEEK[]<0.{_MOST_BYTES}>", "INTERNALDATE"])
    mails = [
        read_mail(_fetched_body(fetched[uid]), _arrived(fetched[uid])) for uid in reversed(found)
    ]
    return [mail for mail in mails if mail is not None]


def _criteria(query: MailQuery) -> list[Any]:
    criteria: list[Any] = []
    if query.sender:
        criteria += ["FROM", one_line(query.sender)]
    for word in query.words:
        criteria += ["TEXT", one_line(word)]
    if query.is_unread:
        criteria.append("UNSEEN")
    if query.since:
        criteria += ["SINCE", query.since]
    if query.before:
        criteria += ["BEFORE", query.before]
    return criteria or ["ALL"]


def _matching(client: IMAPClient, criteria: list[Any]) -> Sequence[int]:
    is_ascii = all(str(each).isascii() for each in criteria)
    found: Sequence[int] = client.search(criteria, None if is_ascii else "UTF-8")
    return found


def _correspondents(client: IMAPClient, name: str) -> Sequence[Address]:
    wanted = fold(name).split()
    found: dict[str, Address] = {}
    for folder, criterion in ((_folder(client, _SENT), "TO"), ("INBOX", "FROM")):
        if folder is None or not wanted:
            continue
        client.select_folder(folder, readonly=True)
        uids = sorted(_matching(client, [criterion, max(wanted, key=len)]))[-_MOST_HEADERS:]
        fetched = client.fetch(uids, [_HEADERS]) if uids else {}
        for uid in reversed(uids):
            message = parse_message(_fetched_body(fetched[uid]))
            for address in addresses_of(message, criterion.capitalize()):
                words = fold(f"{address.name} {address.address.partition('@')[0]}")
                if all(word in words for word in wanted):
                    found.setdefault(address.address.casefold(), address)
    return list(found.values())


def _folder(client: IMAPClient, use: bytes) -> str | None:
    """Return the folder for a use, by what the server says or by its usual name."""
    named: str | None = client.find_special_folder(use)
    if named is None and client.folder_exists(_USUAL_NAMES[use]):
        named = _USUAL_NAMES[use]
    return named


def _folder_names(client: IMAPClient) -> Sequence[str]:
    return [name for use in (_DRAFTS, _SENT) if (name := _folder(client, use))]


def _find(client: IMAPClient, use: bytes, message_id: str) -> Sequence[int]:
    """Return the UIDs of the mails with exactly that id."""
    folder = _folder(client, use)
    if folder is None:
        return []
    client.select_folder(folder, readonly=True)
    found: Sequence[int] = client.search(["HEADER", "Message-ID", message_id])
    fetched = client.fetch(found, ["ENVELOPE"]) if found else {}
    # Some servers look for parts of an id.
    return [uid for uid in found if fetched[uid][b"ENVELOPE"].message_id == message_id.encode()]


def _add(client: IMAPClient, use: bytes, message: bytes, message_id: str) -> None:
    folder = _folder(client, use)
    if folder is None:
        folder = _USUAL_NAMES[use]
        client.create_folder(folder)
    if not _find(client, use, message_id):
        client.append(folder, message, _FLAGS[use])


def _remove_draft(client: IMAPClient, message_id: str) -> None:
    found = _find(client, _DRAFTS, message_id)
    folder = _folder(client, _DRAFTS)
    if not found or folder is None:
        return
    client.select_folder(folder)
    client.delete_messages(found, silent=True)
    # Without this extension a server could only remove everything that anybody has marked.
    if client.has_capability("UIDPLUS"):
        client.uid_expunge(found)


def _fetched_body(fetched: dict[bytes, Any]) -> bytes:
    return next((value for key, value in fetched.items() if key.startswith(b"BODY[")), b"")


def _arrived(fetched: dict[bytes, Any]) -> datetime:
    at: datetime = fetched[b"INTERNALDATE"]
    return at.astimezone(UTC)
