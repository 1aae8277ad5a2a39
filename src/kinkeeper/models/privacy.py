"""Which addresses text of a group chat may go to: this machine, the home network, a VPN.

A name is looked up once, every address it has is judged, and the connection is made to one of the
addresses that were judged: a name that answers differently the next time changes nothing.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence

from kinkeeper.models.model import ModelError, Outcome

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host name, as text; raises OSError where it has none."""

_PRIVATE = tuple(
    ipaddress.ip_network(block)
    for block in (
        "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16",
        "100.64.0.0/10", "::1/128", "fc00::/7", "fe80::/10",
    )
)  # fmt: skip
_TRANSLATED = tuple(
    ipaddress.IPv6Network(block)
    for block in (
        "::/96",
        "::ffff:0:0/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2001::/32",
        "2002::/16",
    )
)
"""IPv6 addresses that stand for IPv4 ones."""


def is_private(address: str) -> bool:
    """Whether an IP address is of this machine, a local network or a VPN.

    Args:
        address: IPv4 or IPv6.
    """
    parsed = ipaddress.ip_address(address)
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    judged = mapped or parsed
    return any(judged.version == block.version and judged in block for block in _PRIVATE)


def is_public(address: str) -> bool:
    """Whether an IP address surely leads out of this machine, network and VPN.

    More than the opposite of `is_private`: the unspecified address, for one, is neither, but leads to this
    machine; so do IPv6 addresses in which a gateway finds a private IPv4 address.

    Args:
        address: IPv4 or IPv6.
    """
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return not any(parsed in block for block in _TRANSLATED) and _is_global(parsed)
    return _is_global(parsed)


def _is_global(parsed: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    is_site = isinstance(parsed, ipaddress.IPv6Address) and parsed.is_site_local
    return parsed.is_global and not parsed.is_multicast and not is_site


async def find_addresses(host: str, port: int) -> Sequence[str]:
    """Return the addresses that the system knows of a host, each once, in its order.

    Those that need the name of a network card are left out: they cannot stand in a URL.

    Raises:
        OSError: It knows none.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    known = dict.fromkeys(str(where[0]) for *_, where in found)
    return [address for address in known if "%" not in address]


def require_private(host: str, addresses: Sequence[str]) -> None:
    """Refuse a host of which an address is public.

    Args:
        host: Its name, for the message.

    Raises:
        ModelError: One is public, or it has none.
    """
    public = next((each for each in addresses if not is_private(each)), None)
    if public is not None or not addresses:
        raise ModelError(
            f"{host} is a public host ({public}), and group chat text only goes to private ones; use a server on this machine or your network, or set "
            "ALLOW_REMOTE_MODEL_FOR_CHAT=true",
            outcome=Outcome.PUBLIC_HOST,
        )
