"""Where the calendar server is, and which other addresses it may send us to. Pure."""

from dataclasses import dataclass
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit, urlunsplit

from kinkeeper.core.errors import InputError

_SCHEMES = frozenset({"http", "https"})
_PORTS = {"http": 80, "https": 443}
_PROVIDERS = ("icloud.com",)
"""Domains of one owner that answers under several hosts. Elsewhere nobody can tell without a list of public suffixes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server's address without what lets us in.

    Attributes:
        url: To begin with: a collection, or any place from which the server leads to one.
        user: For the server; empty where it asks nobody.
    """

    url: str
    user: str = ""
    password: str = ""

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Return the address of a setting; user and password may stand before the host, percent-encoded.

        Raises:
            InputError: It is no address of a web server; the message does not repeat it.
        """
        parts = urlsplit(text.strip())
        if parts.scheme not in _SCHEMES or not parts.hostname:
            raise InputError("must begin with http:// or https:// and name a host")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        place = host if parts.port is None else f"{host}:{parts.port}"
        return cls(
            url=urlunsplit((parts.scheme, place, parts.path or "/", "", "")),
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
        )

    @property
    def host(self) -> str:
        """Name of the server."""
        return urlsplit(self.url).hostname or ""

    @property
    def is_encrypted(self) -> bool:
        """Whether what is sent there cannot be read on the way."""
        return urlsplit(self.url).scheme == "https"


def followed(base: str, reference: str) -> str:
    """Return the address that a server's answer names.

    A server may name another host only where both belong to a known provider and the connection is encrypted;
    whoever answers must not be able to send us, with the password, anywhere else.

    Args:
        base: Address of what was asked.
        reference: As written in the answer.

    Raises:
        InputError: It leads elsewhere.
    """
    wanted, there = _joined(base, reference)
    here = urlsplit(base)
    is_same = here.hostname == there.hostname and (here.scheme, there.scheme) == ("http", "https")
    if is_same or _place(here) == _place(there):
        return wanted
    hosts = (here.hostname or "", there.hostname or "")
    is_provider = any(all(host.endswith(f".{each}") for host in hosts) for each in _PROVIDERS)
    if is_provider and there.scheme == "https" and there.port in {None, 443}:
        return wanted
    raise InputError(f"the server at {here.hostname} redirects to another host, {there.hostname}")


def path_of(base: str, reference: str) -> str:
    """Return the one spelling of the path of an object that a server names.

    Args:
        base: Address of what was asked.
        reference: As written in the answer, absolute or not.
    """
    _, there = _joined(base, reference)
    return quote(unquote(there.path), safe="/~@:!$&'()*+,;=-._")


def _joined(base: str, reference: str) -> tuple[str, SplitResult]:
    """Return the address that a server names, whole and in its parts."""
    try:
        wanted = urljoin(base, reference)
        parts = urlsplit(wanted)
        _ = parts.port  # raises where it is none
    except ValueError as error:
        raise InputError("the calendar server sent an invalid address") from error
    return wanted, parts


def _place(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)
