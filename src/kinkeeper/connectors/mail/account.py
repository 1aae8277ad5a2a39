"""Where a mail server is, and who we are to it: out of one address. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from kinkeeper.actions.outside.adapter import PointOfNoReturn, RefusedError, Trace, Work
from kinkeeper.core.addresses import is_mail_address


class NotSetUp:
    """Carries nothing out, and says why."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def call(self, work: Work, point_of_no_return: PointOfNoReturn) -> Mapping[str, Any]:
        """Refuse.

        Raises:
            RefusedError: Always.
        """
        raise RefusedError(self._reason)

    async def was_done(self, work: Work) -> Trace:
        """Say that nobody can tell: what was set up before is not there to be asked."""
        return Trace.UNKNOWN


_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_PORTS = {"smtp": 587, "smtps": 465, "imap": 143, "imaps": 993}


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A login at a mail server.

    Attributes:
        host: Name or address.
        username: Empty where the server wants none.
        password: Never shown.
        is_tls_at_once: Whether the connection begins with TLS.
        is_tls_later: Whether the connection must be turned into TLS before anything is said.
    """

    host: str
    port: int
    username: str
    password: str = field(repr=False)
    is_tls_at_once: bool
    is_tls_later: bool

    @property
    def address(self) -> str | None:
        """Return the login where it is a mail address."""
        return self.username if is_mail_address(self.username) else None


def parse_account(url: str, *, protocol: str) -> Account:
    """Return the login that an address names: smtps://user:password@host:port.

    Without the "s" the connection must become TLS by STARTTLS, but for a server on this machine.

    Args:
        url: Special characters of the user and password are written as %40 and the like.
        protocol: "smtp" or "imap".

    Raises:
        ValueError: It is no such address; the message does not quote it, for it holds a password.
    """
    example = f"{protocol}s://user:password@mail.example.org"
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise ValueError(f"must be like {example}") from error
    _check(parts, protocol, example)
    host = parts.hostname or ""
    return Account(
        host=host,
        port=port or _PORTS[parts.scheme],
        username=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        is_tls_at_once=parts.scheme == f"{protocol}s",
        is_tls_later=parts.scheme == protocol and host not in _LOOPBACK,
    )


def _check(parts: SplitResult, protocol: str, example: str) -> None:
    if parts.scheme not in {protocol, f"{protocol}s"} or not parts.hostname:
        raise ValueError(f"must be like {example}")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(
            f"must be like {example}; a /, ? or # in the password must be written as %2F, %3F, %23"
        )
    if parts.username and not parts.password:
        raise ValueError(f"names a user but no password; it must be like {example}")
    login = f"{unquote(parts.username or '')}{unquote(parts.password or '')}"
    if any(ord(char) < ord(" ") for char in login):
        raise ValueError("must not contain control characters")
