"""Which Host and Origin a request may name: against DNS rebinding and forged forms. Pure."""

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

_LOOPBACK = frozenset({"localhost", "localhost."})


def name_of(host: str) -> str:
    """Return the name or address in a Host header, without port, in lower case."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def is_our_host(host: str, names: Collection[str]) -> bool:
    """Whether a Host header names this server.

    A page that was rebound to this machine's address still sends its own name. So names must be
    known; a plain address cannot be rebound.

    Args:
        names: Known host names, in lower case.
    """
    name = name_of(host)
    return name in _LOOPBACK or name in names or is_address(name)


def is_address(name: str) -> bool:
    """Whether a name is a plain IP address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(name: str) -> bool:
    """Whether a host setting is reachable from this machine only."""
    if name.lower() in _LOOPBACK:
        return True
    return is_address(name) and ip_address(name).is_loopback


def is_same_origin(origin: str, scheme: str, host: str) -> bool:
    """Whether an Origin header is the address the request was sent to.

    Args:
        origin: As sent; "null" is nobody's.
        host: The request's Host header.
    """
    try:
        parts = urlsplit(origin)
    except ValueError:  # half an IPv6 address
        return False
    return parts.scheme == scheme.lower() and parts.netloc.lower() == host.lower()
