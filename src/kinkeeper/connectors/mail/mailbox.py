"""The household's mailbox over IMAP: reading leaves no trace in it, drafts and copies are looked for first."""

import asyncio
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.errors import MessageError
from typing import Any, TypeVar

from imapclient import IMAPClient, SocketTimeout
from imapclient.exceptions import IMAPClientError, LoginError

from kinkeeper.connectors.mail.account import Account
from kinkeeper.connectors.mail.mail_parser import addresses_of, parse_message, read_mail
from kinkeeper.core.errors import UnavailableError
from kinkeeper.household.name_folding import fold
from kinkeeper.mail.model import Address, MailQuery, ReceivedMail, one_line

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
        """Return the latest mails that fit, latest first.

        Args:
            limit: Most to return, > 0.

        Raises:
            UnavailableError: The mailbox cannot be reached.
        """
        return await self._do(lambda client: _search(client, query, limit))

    async def correspondents(self, name: str) -> Sequence[Address]:
        """Return whom mail was written to, or who wrote, under a name; those written to first, each once.

        Args:
            name: Part of a name or address.

        Raises:
            UnavailableError: The mailbox cannot be reached.
        """
        return await self._do(lambda client: _correspondents(client, name))

    async def has_draft(self, message_id: str) -> bool:
        """Whether a mail with that id is among the drafts.

        Raises:
            UnavailableError: The mailbox cannot be reached.
        """
        return await self._do(lambda client: bool(_find(client, _DRAFTS, message_id)))

    async def has_sent(self, message_id: str) -> bool:
        """Whether a mail with that id is among the sent ones.

        Raises:
            UnavailableError: The mailbox cannot be reached.
        """
        return await self._do(lambda client: bool(_find(client, _SENT, message_id)))

    async def add_draft(self, message: bytes, message_id: str) -> None:
        """Put a mail among the drafts, unless one with its id is there.

        Raises:
            UnavailableError: The mailbox cannot be reached; it may be there all the same.
        """
        await self._do(lambda client: _add(client, _DRAFTS, message, message_id))

    async def add_sent(self, message: bytes, message_id: str) -> None:
        """Put a mail among the sent ones, unless the server has done so itself.

        Raises:
            UnavailableError: The mailbox cannot be reached.
        """
        await self._do(lambda client: _add(client, _SENT, message, message_id))

    async def remove_draft(self, message_id: str) -> None:
        """Remove the draft with that id, if it is there.

        Raises:
            UnavailableError: The mailbox cannot be reached.
        """
        await self._do(lambda client: _remove_draft(client, message_id))

    async def folders(self) -> Sequence[str]:
        """Return the names of the folders for drafts and sent mails, as far as there are such.

        Raises:
            UnavailableError: The mailbox cannot be reached.
        """
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
            account.host, account.port, ssl=account.is_tls_at_once,
            ssl_context=context if account.is_tls_at_once else None, timeout=_TIMEOUT,
        )  # fmt: skip
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
    mails = [read_mail(_body(fetched[uid]), _arrived(fetched[uid])) for uid in reversed(found)]
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
            message = parse_message(_body(fetched[uid]))
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


def _body(fetched: dict[bytes, Any]) -> bytes:
    return next((value for key, value in fetched.items() if key.startswith(b"BODY[")), b"")


def _arrived(fetched: dict[bytes, Any]) -> datetime:
    at: datetime = fetched[b"INTERNALDATE"]
    return at.astimezone(UTC)
