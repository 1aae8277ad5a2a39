"""One connection to a calendar server: requests out, answers of bearable size back, errors in our words."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import httpx

from kinkeeper.connectors.caldav.address import Address
from kinkeeper.core.errors import DeniedError, UnavailableError

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
        status: HTTP status.
        headers: Names in small letters.
        body: Whole.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Sends requests to one server; close it at the end.

    Args:
        address: Of the server.
        patience: Longest wait for one answer.
    """

    def __init__(self, address: Address, *, patience: timedelta = PATIENCE) -> None:
        self._host = address.host
        self._longest = _MOST_WAITS * patience.total_seconds()
        self._http = httpx.AsyncClient(
            auth=httpx.BasicAuth(address.user, address.password) if address.user else None,
            timeout=patience.total_seconds(), follow_redirects=False, trust_env=False,
            verify=_trust(is_plain=not address.is_encrypted), headers={"User-Agent": "kinkeeper", "Accept-Encoding": "identity"},
        )  # fmt: skip

    async def send(
        self, method: str, url: str, body: bytes = b"", *, headers: Mapping[str, str]
    ) -> Reply:
        """Return what the server answers, unless it lets nobody in or has a fault.

        Args:
            method: Of HTTP or WebDAV.
            url: Of the same server, or one it led to.
            body: What is sent.
            headers: Besides the usual ones.

        Raises:
            DeniedError: It refuses the user or the password.
            UnavailableError: It cannot be reached, has a fault, or answers without end.
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


def _trust(*, is_plain: bool) -> ssl.SSLContext:
    """Return whose certificates are believed: those of well-known authorities, and of the system's."""
    if is_plain:
        # Reading them costs more than everything else here, and nobody would be asked for one.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context
