"""One model server over HTTP: who may be reached, how much may come back, what its failures mean.

Redirects are not followed, proxies of the environment are not used, and nothing that a server answers
stands in an error's message: it may repeat what it was sent. Loading this loads the library for HTTP.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from datetime import timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import httpx
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from kinkeeper.core.time import SystemClock, as_utc
from kinkeeper.models.endpoints import Endpoint
from kinkeeper.models.model import ModelError, Outcome, StatusError

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host name, as text; raises OSError where it has none."""

_PRIVATE = tuple(
    ipaddress.ip_network(block)
    for block in (
        "127.0.0.0/8",
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "169.254.0.0/16",
        "100.64.0.0/10",
        "::1/128",
        "fc00::/7",
        "fe80::/10",
    )
)
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


# What the status of an HTTP answer means for a call to a model. Pure but for the clock of a given
# date.

_OUTCOMES: Mapping[int, Outcome] = {
    HTTPStatus.REQUEST_TIMEOUT: Outcome.TIMEOUT,
    HTTPStatus.CONFLICT: Outcome.OVERLOADED,
    HTTPStatus.TOO_EARLY: Outcome.OVERLOADED,
    HTTPStatus.TOO_MANY_REQUESTS: Outcome.OVERLOADED,
    HTTPStatus.SERVICE_UNAVAILABLE: Outcome.OVERLOADED,
}
_REMEDIES: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "it rejected the API key; correct MODEL_API_KEY",
    HTTPStatus.FORBIDDEN: "it rejected the API key; correct MODEL_API_KEY",
    HTTPStatus.NOT_FOUND: "it has no such model or path; correct MODEL_NAME or MODEL_URL",
}


class _Error(BaseModel):
    param: str | None = None


class _Refusal(BaseModel):
    error: _Error


def is_success(status: int) -> bool:
    """Whether the answer is one to the call."""
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def status_error(status: int, headers: Mapping[str, str], body: bytes, *, host: str) -> StatusError:
    """Return what a status that is no success means, and whether the same call may succeed soon.

    Args:
        headers: Of the answer, with names of any case.
        body: Of the answer, or its beginning; only the name of a parameter is taken from it.
        host: Who answered.
    """
    is_server_fault = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    usual = Outcome.SERVER_ERROR if is_server_fault else Outcome.REJECTED
    outcome = _OUTCOMES.get(status, usual)
    remedy = _remedy(status, outcome)
    return StatusError(
        f"the model server at {host} answered {status}: {remedy}",
        status=status,
        outcome=outcome,
        may_retry=outcome is not Outcome.REJECTED,
        retry_after=_retry_after(headers.get("Retry-After")),
        parameter=_parameter(body),
    )


def _parameter(body: bytes) -> str | None:
    try:
        return _Refusal.model_validate_json(body, strict=True).error.param
    except ValidationError:
        return None


def _remedy(status: int, outcome: Outcome) -> str:
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return "it redirects to another address, and redirects are not followed; set MODEL_URL to that address"
    if outcome is Outcome.REJECTED:
        return _REMEDIES.get(status, "it did not accept the request; see its log")
    return "it is busy" if outcome is Outcome.OVERLOADED else "see its log"


def _retry_after(value: str | None) -> timedelta | None:
    """Return how long a server asks to wait: it says seconds, or until when."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return timedelta(seconds=min(int(value), 86_400))
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    if until.tzinfo is None:
        return None
    return max(as_utc(until) - SystemClock().now(), timedelta())


LARGEST_ANSWER = 4 * 1024 * 1024
_LONGEST_REFUSAL = 16 * 1024
_CONNECT_SECONDS = 5.0
_LOOKED_UP_SECONDS = 30.0
_PORTS = {"http": 80, "https": 443}


class ServerConnection:
    """Sends requests to one server. Use it on one event loop, and close it there.

    Args:
        allows_public: Whether text of a group chat may go to a public host.
    """

    def __init__(
        self, endpoint: Endpoint, *, allows_public: bool, resolve: Resolver = find_addresses
    ) -> None:
        self._endpoint = endpoint
        self._allows_public = allows_public
        self._resolve = resolve
        self._url = ""
        self._base: httpx.URL | None = None
        self._client: httpx.AsyncClient | None = None
        self._addresses: Sequence[str] = ()
        self._look_up_at = 0.0

    async def base_path(self) -> str:
        """Return the path of the server's base address, without a slash at the end.

        Raises:
            ModelError: A server of our own could not be started.
        """
        return (await self._started()).path.rstrip("/")

    async def fetch(self, path: str, *, seconds: float) -> bytes:
        """Return what the server answers to a GET that carries nothing of a household.

        Args:
            seconds: Longest wait for each piece of the answer.
        """
        async with self._sent("GET", path, None, is_ambient=False, seconds=seconds) as pieces:
            return b"".join([piece async for piece in pieces])

    async def post(
        self, path: str, body: Mapping[str, Any], *, is_ambient: bool, seconds: float
    ) -> bytes:
        """Post JSON and return the whole answer.

        Args:
            is_ambient: Whether it holds text that nobody addressed to the assistant.
            seconds: Longest wait for each piece of the answer; the caller limits the whole.

        Raises:
            ModelError: There is no answer, none that succeeds, or it is too long; or such text may not
                leave for this host.
        """
        content = to_json(body)
        async with self._sent(
            "POST", path, content, is_ambient=is_ambient, seconds=seconds
        ) as pieces:
            return b"".join([piece async for piece in pieces])

    async def post_for_lines(
        self, path: str, body: Mapping[str, Any], *, is_ambient: bool, seconds: float
    ) -> AsyncGenerator[bytes]:
        """Post JSON and yield the answer line by line; closing it closes the connection.

        Args and errors are those of `post`.
        """
        content = to_json(body)
        rest = b""
        async with self._sent(
            "POST", path, content, is_ambient=is_ambient, seconds=seconds
        ) as pieces:
            async for piece in pieces:
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    yield line
        if rest:
            yield rest

    async def is_private(self) -> bool:
        """Whether all addresses of the server are of this machine, a local network or a VPN.

        Raises:
            ModelError: Its name is not known.
        """
        base = await self._started()
        return all(is_private(address) for address in await self._looked_up(base))

    async def close(self) -> None:
        """Close what is open; harmless to repeat."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    @asynccontextmanager
    async def _sent(
        self, method: str, path: str, content: bytes | None, *, is_ambient: bool, seconds: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        base = await self._started()
        addresses = await self._allowed(base, is_ambient=is_ambient)
        with _translated(base):
            async with AsyncExitStack() as closing:
                response = await self._answered(
                    [
                        self._request(base, address, method, path, content, seconds)
                        for address in addresses
                    ]
                )
                closing.push_async_callback(response.aclose)
                if not is_success(response.status_code):
                    raise await _refusal(response, host=base.host)
                yield await closing.enter_async_context(aclosing(_limited(response)))

    async def _answered(self, requests: Sequence[httpx.Request]) -> httpx.Response:
        """Send the request to the first address that can be connected to."""
        client = self._opened()
        for request in requests[:-1]:
            try:
                return await client.send(request, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await client.send(requests[-1], stream=True)

    def _request(  # noqa: PLR0917 - what it is made of
        self,
        base: httpx.URL,
        address: str,
        method: str,
        path: str,
        content: bytes | None,
        seconds: float,
    ) -> httpx.Request:
        headers = {"Host": base.netloc.decode(), "Accept-Encoding": "identity"}
        if content is not None:
            headers["Content-Type"] = "application/json"
        if self._endpoint.api_key is not None:
            headers["Authorization"] = f"Bearer {self._endpoint.api_key.get_secret_value()}"
        return self._opened().build_request(
            method,
            base.copy_with(host=address, path=path),
            content=content,
            headers=headers,
            timeout=httpx.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds)),
            extensions={"sni_hostname": base.host},
        )

    def _opened(self) -> httpx.AsyncClient:
        if self._client is None:
            is_plain = self._base is not None and self._base.scheme == "http"
            self._client = httpx.AsyncClient(
                verify=trusted(is_plain=is_plain), trust_env=False, follow_redirects=False
            )
        return self._client

    async def _started(self) -> httpx.URL:
        url = self._endpoint.url if self._endpoint.start is None else await self._endpoint.start()
        if self._base is None or self._url != url:
            self._url, self._base, self._look_up_at = url, httpx.URL(url), 0.0
        return self._base

    async def _allowed(self, base: httpx.URL, *, is_ambient: bool) -> Sequence[str]:
        """Return the addresses to connect to: those that were judged, whatever the name has by then."""
        addresses = await self._looked_up(base)
        if is_ambient and not self._allows_public:
            require_private(base.host, addresses)
        if not addresses:
            raise unreachable(base.host, "its host name has no address")
        return addresses

    async def _looked_up(self, base: httpx.URL) -> Sequence[str]:
        now = asyncio.get_running_loop().time()
        if now >= self._look_up_at:
            try:
                self._addresses = await self._resolve(base.host, base.port or _PORTS[base.scheme])
            except OSError as error:
                raise unreachable(base.host, "its host name is unknown") from error
            self._look_up_at = now + _LOOKED_UP_SECONDS
        return self._addresses


def unreachable(host: str, reason: str) -> ModelError:
    """Return that a server cannot be reached, and how to mend it."""
    return ModelError(
        f"the model server at {host} cannot be reached: {reason}; start it, or correct MODEL_URL",
        outcome=Outcome.UNREACHABLE,
    )


def trusted(*, is_plain: bool) -> ssl.SSLContext:
    """Return whose certificates are believed: those of well-known authorities, and of the system's."""
    if is_plain:
        # Reading them costs more than everything else here, and nobody would be asked for one.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


async def _refusal(response: httpx.Response, *, host: str) -> StatusError:
    body = b""
    async for piece in response.aiter_raw():
        body += piece
        if len(body) >= _LONGEST_REFUSAL:
            break
    return status_error(response.status_code, response.headers, body, host=host)


async def _limited(response: httpx.Response) -> AsyncGenerator[bytes]:
    # As it came: an answer that is packed, unasked, is not unpacked to who knows what size.
    size = 0
    async for piece in response.aiter_raw():
        size += len(piece)
        if size > LARGEST_ANSWER:
            raise ModelError(
                f"the model server's answer is longer than {LARGEST_ANSWER >> 20} MB",
                outcome=Outcome.SERVER_ERROR,
            )
        yield piece


@contextmanager
def _translated(base: httpx.URL) -> Iterator[None]:
    try:
        yield
    except httpx.ConnectTimeout as error:
        raise unreachable(base.host, f"no answer within {_CONNECT_SECONDS:g} s") from error
    except httpx.ConnectError as error:
        is_about_trust = "certificate" in str(error).lower()
        reason = (
            "its certificate is not trusted (set SSL_CERT_FILE to the certificates you trust)"
            if is_about_trust
            else "it refused the connection"
        )
        raise unreachable(base.host, reason) from error
    except httpx.TimeoutException as error:
        raise ModelError(
            f"the model server at {base.host} stopped answering", outcome=Outcome.TIMEOUT
        ) from error
    except httpx.HTTPError as error:
        raise ModelError(
            f"the model server at {base.host} broke off its answer; see its log",
            outcome=Outcome.SERVER_ERROR,
        ) from error
