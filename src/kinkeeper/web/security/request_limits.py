"""How much a client may send: the size of a request's body, and how many requests."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from ipaddress import IPv6Address, ip_network

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope

# How large a request's body may be, whether it says so or comes in pieces without a length.

KIB = 1024
LARGEST_BYTES = 256 * KIB
_LARGER: Mapping[str, int] = {
    "/observe": 1024 * KIB,
    "/telegram/webhook": 1024 * KIB,
    "/api/events/import": 4096 * KIB,
    "/api/sessions/messages": 1024 * KIB,
    "/v1/chat/completions": 4096 * KIB,
}
_TOO_LARGE = "the body is too large; at most {kib} KiB are accepted here"


def largest_body(path: str) -> int:
    """Return how many bytes a request to a path may have."""
    return _LARGER.get(path, LARGEST_BYTES)


def announced_length(scope: Scope) -> int | None:
    """Return the Content-Length, if the request has one that is a number."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else None
    return None


def too_large(most: int) -> HTTPException:
    """Return the refusal of a body over `most` bytes."""
    detail = _TOO_LARGE.format(kib=most // KIB)
    return HTTPException(413, detail, headers={"Connection": "close"})


def counted(receive: Receive, most: int) -> Receive:
    """Return `receive`, which raises as soon as more than `most` bytes have come."""
    total = 0

    async def receive_counted() -> Message:
        nonlocal total
        message = await receive()
        if message["type"] == "http.request":
            total += len(message.get("body", b""))
            if total > most:
                raise too_large(most)
        return message

    return receive_counted


# How many requests a client may make: token buckets in memory. The time is an argument.

_MOST_CLIENTS = 20_000
_UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_INGEST = frozenset({"/observe", "/telegram/webhook"})
_PROBES = frozenset({"/healthz", "/readyz"})
_LOGIN = ("/login", "/invite/")


class RouteClass(StrEnum):
    """Kinds of requests that are counted apart."""

    PROBE = "probe"
    LOGIN = "login"
    INGEST = "ingest"
    READ = "read"
    WRITE = "write"


_OF_LOGINS = frozenset({RouteClass.READ, RouteClass.WRITE})
"""Kinds of requests that count for a login, where they carry one, and not for their address."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A bucket: holds `burst` requests, refilled at `per_second`; both > 0."""

    per_second: float
    burst: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """What one client may do; None is no limit."""

    probe: Rate | None = Rate(5, 50)
    login: Rate | None = Rate(0.2, 20)
    ingest: Rate | None = Rate(2000, 4000)
    read: Rate | None = Rate(20, 200)
    write: Rate | None = Rate(2, 60)


def route_class(method: str, path: str) -> RouteClass:
    """Return how a request is counted."""
    if path in _INGEST:
        return RouteClass.INGEST
    if path in _PROBES:
        return RouteClass.PROBE
    if path.startswith(_LOGIN):
        return RouteClass.LOGIN
    return RouteClass.WRITE if method in _UNSAFE else RouteClass.READ


def client_of(address: str) -> str:
    """Return whom an address counts for: itself, or the network where one person has many (IPv6)."""
    if ":" not in address:
        return address
    bare = address.partition("%")[0]
    try:
        parsed = IPv6Address(bare)
    except ValueError:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((parsed, 64), strict=False))


class Buckets:
    """What each client has left of one rate; those not seen for longest are forgotten first."""

    def __init__(self, rate: Rate, *, most_clients: int = _MOST_CLIENTS) -> None:
        self._rate = rate
        self._most = most_clients
        self._left: OrderedDict[str, tuple[float, datetime]] = OrderedDict()

    def take(self, client: str, now: datetime) -> float:
        """Take one request from a client's bucket.

        Args:
            client: As `client_of` says.

        Returns:
            0.0, or how many seconds to wait where nothing was left.
        """
        rate = self._rate
        left, since = self._left.get(client, (rate.burst, now))
        # A clock set back refills nothing and takes nothing away.
        elapsed = max(0.0, (now - since).total_seconds())
        left = min(rate.burst, left + elapsed * rate.per_second)
        waits = 0.0 if left >= 1 else (1 - left) / rate.per_second
        self._left[client] = (left - 1 if waits == 0 else left, now)
        self._left.move_to_end(client)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        return waits


class RateGate:
    """The buckets of all kinds of requests."""

    def __init__(self, limits: RateLimits) -> None:
        rates = {kind: getattr(limits, kind.value) for kind in RouteClass}
        self._buckets = {kind: Buckets(rate) for kind, rate in rates.items() if rate is not None}

    def seconds_to_wait(
        self,
        method: str,
        path: str,
        now: datetime,
        *,
        address: str,
        login: Callable[[], str | None],
    ) -> float:
        """Count one request; returns 0.0, or how many seconds its client has to wait.

        Args:
            address: Where it comes from: several people may share it.
            login: Returns the id of the login that it carries, if that is a good one: then it alone is counted.
        """
        kind = route_class(method, path)
        buckets = self._buckets.get(kind)
        if buckets is None:
            return 0.0
        own = login() if kind in _OF_LOGINS else None
        return buckets.take(client_of(address) if own is None else f"login {own}", now)
