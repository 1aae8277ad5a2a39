"""The connection to a CalDAV server, and its calls: where the calendar is, what changed, objects.

Written here on the HTTP library the program has anyway: the known client library may be used as this program
is, but it asks for libraries that may not, and for an HTTP stack of its own.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Self
from urllib.parse import urljoin

import httpx

from kinkeeper.connectors.caldav import wire
from kinkeeper.connectors.caldav.address import Address, followed, path_of
from kinkeeper.connectors.caldav.wire import Collection, Delta, Mark, Version
from kinkeeper.core.errors import ConflictError, DeniedError, InputError, UnavailableError
from kinkeeper.models.connection import trusted

# One connection to a calendar server: requests out, answers of bearable size back, errors in our
# words.

PATIENCE = timedelta(seconds=30)
"""Longest wait for one answer."""

_MOST_BYTES = 16_000_000
_MOST_WAITS = 4
"""After so many waits an answer that still trickles in is given up."""
_UNAUTHORIZED, _TOO_MANY, _FAULTS = 401, 429, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a server answered.

    Attributes:
        headers: Names in small letters.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Sends requests to one server; close it at the end.

    Args:
        patience: Longest wait for one answer.
    """

    def __init__(self, address: Address, *, patience: timedelta = PATIENCE) -> None:
        self._host = address.host
        self._longest = _MOST_WAITS * patience.total_seconds()
        self._http = httpx.AsyncClient(
            auth=httpx.BasicAuth(address.user, address.password) if address.user else None,
            timeout=patience.total_seconds(),
            follow_redirects=False,
            trust_env=False,
            verify=trusted(is_plain=not address.is_encrypted),
            headers={"User-Agent": "kinkeeper", "Accept-Encoding": "identity"},
        )

    async def send(
        self, method: str, url: str, body: bytes = b"", *, headers: Mapping[str, str]
    ) -> Reply:
        """Return what the server answers, unless it lets nobody in or has a fault.

        Args:
            url: Of the same server, or one it led to.

        Raises:
            DeniedError: It refuses the user or the password.
        """
        try:
            async with asyncio.timeout(self._longest):
                reply = await self._sent(method, url, body, headers)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            raise UnavailableError(
                f"the calendar server at {self._host} cannot be reached ({type(error).__name__})"
            ) from error
        if reply.status == _UNAUTHORIZED:
            raise DeniedError(
                f"the calendar server at {self._host} rejected the user name or password"
            )
        if reply.status >= _FAULTS or reply.status == _TOO_MANY:
            raise UnavailableError(
                f"the calendar server at {self._host} answered with status {reply.status}"
            )
        return reply

    async def _sent(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        async with self._http.stream(method, url, content=body, headers=headers) as response:
            content = bytearray()
            # As sent: a compressed answer was not asked for, and a small one may unpack to gigabytes.
            async for piece in response.aiter_raw():
                content += piece
                if len(content) > _MOST_BYTES or "content-encoding" in response.headers:
                    raise UnavailableError(
                        f"the calendar server at {self._host} sent an unreasonably large answer"
                    )
        found = {name.lower(): value for name, value in response.headers.items()}
        return Reply(status=response.status_code, headers=found, body=bytes(content))

    async def close(self) -> None:
        """Let go of the connection."""
        await self._http.aclose()


_MOST_HOPS = 5
_MOST_CUTS = 1000
_AT_ONCE = 50
_XML = "application/xml; charset=utf-8"
_ICS = "text/calendar; charset=utf-8"
_OK, _MULTI_STATUS, _CHANGED = 200, 207, 412
_MOVED = frozenset({301, 302, 307, 308})
_GONE = frozenset({404, 410})
_EVENTS = "VEVENT"


class CalDavClient:
    """Speaks with one server; use it in an `async with` block.

    Every call raises DeniedError where the server refuses, and UnavailableError where it cannot be
    reached or understood now.

    Args:
        patience: Longest wait for one answer.
    """

    def __init__(self, address: Address, *, patience: timedelta = PATIENCE) -> None:
        self._address = address
        self._transport = Transport(address, patience=patience)

    async def __aenter__(self) -> Self:
        """Return the client."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close its connection."""
        await self._transport.close()

    async def find_calendar(self) -> Collection:
        """Return the calendar that the address names, or the only one it leads to.

        Raises:
            InputError: There is none, or several; the message names them.
        """
        url, answers = await self._looked_at(self._address.url)
        here = _first(answers)
        if here.is_calendar:
            return _collection(url, here)
        found = await self._calendars_of(url, here)
        host = self._address.host
        if not found:
            raise InputError(f"there is no calendar at {host}; give the full address of one")
        if len(found) > 1:
            listed = ", ".join(f"{each.name or '?'} at {each.url}" for each in found)
            raise InputError(f"{host} has several calendars; give the address of one: {listed}")
        return found[0]

    async def _calendars_of(self, url: str, here: wire.Answer) -> list[Collection]:
        """Return the calendars in the home of whoever we are let in as, or in the place itself."""
        if here.home is None and here.principal is not None:
            url, answers = await self._looked_at(followed(url, here.principal))
            here = _first(answers)
        if here.home is not None:
            url = followed(url, here.home)
        url, answers = await self._looked_at(url, depth=1)
        found = [
            _collection(followed(url, each.href), each) for each in answers.all if each.is_calendar
        ]
        return [each for each in found if each.takes(_EVENTS)]

    async def changes(self, url: str, since: Mark) -> Delta:
        """Return what changed in a collection, or all of it where the server cannot tell.

        Args:
            since: State up to which all is known.
        """
        _, answers = await self._looked_at(url)
        now = _first(answers)
        if since.ctag is not None and since.ctag == now.ctag:
            return Delta(etags={}, is_complete=False, mark=since)
        if now.sync_token is not None:
            delta = await self._changes_since(url, since.token, ctag=now.ctag)
            if delta is not None:
                return delta
        _, listed = await self._looked_at(url, depth=1, names=wire.OBJECT_PROPERTIES)
        # The state was asked for before the list: what comes in between is told again the next time.
        mark = Mark(token=now.sync_token, ctag=now.ctag)
        return Delta(etags=_etags(url, listed), is_complete=True, mark=mark)

    async def _changes_since(
        self, url: str, token: str | None, *, ctag: str | None
    ) -> Delta | None:
        """Return what changed since a token; None where the server cannot tell."""
        etags: dict[str, str | None] = {}
        asked = token or ""
        for _ in range(_MOST_CUTS):
            reply = await self._ask("REPORT", url, wire.sync_report(asked))
            if reply.status != _MULTI_STATUS:
                return None
            answers = await asyncio.to_thread(wire.read_answers, reply.body)
            if answers.sync_token is None:
                return None
            etags |= _etags(url, answers)
            asked = answers.sync_token
            if not any(each.is_cut for each in answers.all):
                mark = Mark(token=asked, ctag=ctag)
                return Delta(etags=etags, is_complete=token is None, mark=mark)
        return None

    async def fetch(self, url: str, paths: Sequence[str]) -> Mapping[str, Version]:
        """Return objects by path; those that are gone are left out."""
        found = {}
        for begin in range(0, len(paths), _AT_ONCE):
            body = wire.multiget(paths[begin : begin + _AT_ONCE])
            reply = await self._ask("REPORT", url, body, depth=1)
            for each in (await self._read(reply)).all:
                if each.data is not None and each.etag is not None:
                    version = Version(etag=each.etag, data=each.data.encode())
                    found[path_of(url, each.href)] = version
        return found

    async def create(self, url: str, path: str, data: bytes) -> str | None:
        """Put a new object into a collection.

        Returns:
            Its etag; None where the server changed what it was given, or does not say.

        Raises:
            ConflictError: Something is there already.
        """
        return await self._put(url, path, data, {"If-None-Match": "*"})

    async def replace(self, url: str, path: str, data: bytes, *, etag: str) -> str | None:
        """Put an object in the place of exactly this version of it.

        Args:
            etag: Of the version that was seen.

        Returns:
            Its new etag; None where the server changed what it was given, or does not say.

        Raises:
            ConflictError: Another version stands there.
        """
        return await self._put(url, path, data, {"If-Match": etag})

    async def remove(self, url: str, path: str, *, etag: str) -> None:
        """Remove exactly this version of an object; one that is gone already is no error.

        Args:
            etag: Of the version that was seen.

        Raises:
            ConflictError: Another version stands there.
            InputError: The server does not let it be removed.
        """
        reply = await self._transport.send("DELETE", urljoin(url, path), headers={"If-Match": etag})
        if reply.status not in _GONE:
            self._check_written(reply)

    async def _put(
        self, url: str, path: str, data: bytes, condition: Mapping[str, str]
    ) -> str | None:
        headers = {"Content-Type": _ICS, **condition}
        reply = await self._transport.send("PUT", urljoin(url, path), data, headers=headers)
        self._check_written(reply)
        return reply.headers.get("etag")

    def _check_written(self, reply: Reply) -> None:
        if reply.status == _CHANGED:
            raise ConflictError("the calendar server has a different version")
        if not _OK <= reply.status < 300:  # noqa: PLR2004 - the class of success
            raise InputError(f"{self._address.host} refused it (status {reply.status})")

    async def _looked_at(
        self, url: str, *, depth: int = 0, names: Sequence[str] = wire.COLLECTION_PROPERTIES
    ) -> tuple[str, wire.Answers]:
        """Return where a resource really is, and what the server says of it."""
        for _ in range(_MOST_HOPS):
            reply = await self._ask("PROPFIND", url, wire.propfind(names), depth=depth)
            if reply.status not in _MOVED:
                return url, await self._read(reply)
            url = followed(url, reply.headers.get("location", ""))
        raise UnavailableError(f"the calendar server at {self._address.host} redirects in a loop")

    async def _ask(self, method: str, url: str, body: bytes, *, depth: int = 0) -> Reply:
        headers = {"Content-Type": _XML, "Depth": str(depth)}
        return await self._transport.send(method, url, body, headers=headers)

    async def _read(self, reply: Reply) -> wire.Answers:
        if reply.status != _MULTI_STATUS:
            raise DeniedError(
                f"{self._address.host} has no calendar at this address (status {reply.status}); correct it"
            )
        return await asyncio.to_thread(wire.read_answers, reply.body)


def _first(answers: wire.Answers) -> wire.Answer:
    return answers.all[0] if answers.all else wire.Answer(href="")


def _collection(url: str, answer: wire.Answer) -> Collection:
    return Collection(
        url=url if url.endswith("/") else f"{url}/", name=answer.name, components=answer.components
    )


def _etags(url: str, answers: wire.Answers) -> dict[str, str | None]:
    own = path_of(url, url).rstrip("/")
    return {
        path_of(url, each.href): None if each.is_gone else each.etag
        for each in answers.all
        if not each.is_collection and path_of(url, each.href).rstrip("/") != own
        if each.is_gone or each.etag
    }
