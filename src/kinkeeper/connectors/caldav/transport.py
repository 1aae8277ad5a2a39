"""One connection to a calendar server: requests out, answers of bearable size back, errors in our words."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import httpx

from kinkeeper.connectors.caldav.address import Address
from kinkeeper.core.errors import DeniedError, UnavailableError

PATIENCE = timedelta(seconds=30)
"""Longest wait for one answer."""

_MOST_BYTES = 50_000_000
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
        self._http = httpx.AsyncClient(
            auth=httpx.BasicAuth(address.user, address.password) if address.user else None,
            timeout=patience.total_seconds(), follow_redirects=False, trust_env=False,
            verify=_trust(is_plain=not address.is_encrypted), headers={"User-Agent": "kinkeeper"},
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
            async with self._http.stream(method, url, content=body, headers=headers) as response:
                content = bytearray()
                async for piece in response.aiter_bytes():
                    content += piece
                    if len(content) > _MOST_BYTES:
                        raise UnavailableError(
                            f"the calendar server at {self._host} answers more than can be right"
                        )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnavailableError(
                f"the calendar server at {self._host} cannot be reached ({type(error).__name__})"
            ) from error
        status = response.status_code
        if status == _UNAUTHORIZED:
            raise DeniedError(f"the calendar server at {self._host} refuses the user or password")
        if status >= _FAULTS or status == _TOO_MANY:
            raise UnavailableError(f"the calendar server at {self._host} answers {status}")
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Reply(status=status, headers=headers, body=bytes(content))

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
