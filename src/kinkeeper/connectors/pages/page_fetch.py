"""Single pages over HTTP: which may be read, by which address, how long and how much.

The name of a host is looked up once for each request; every address it has must be public, and the connection goes to
the one that was checked. Redirects are followed by hand, so that each is checked the same.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import httpx

from kinkeeper.background.outside import Page
from kinkeeper.connectors.pages.page_text import lines_of_html, lines_of_text, text_of
from kinkeeper.core.errors import DeniedError, InputError, UnavailableError
from kinkeeper.models.connection import Resolver, find_addresses, is_public

MOST_BYTES: Final = 2_000_000
MOST_SECONDS: Final = 10.0
MOST_REDIRECTS: Final = 3
_PORTS: Final = {"http": 80, "https": 443}
_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_PLAIN: Final = frozenset({"text/plain"})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_HEADERS: Final = {
    "User-Agent": "Kinkeeper",
    "Accept": "text/html, text/plain;q=0.8",
    "Accept-Encoding": "identity",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What one request came to: a body, or where it sends on to."""

    url: httpx.URL
    body: bytes = b""
    kind: str = ""
    charset: str | None = None
    next_address: str | None = None


class PageFetch:
    """Reads pages that a person named, or that are on the household's list.

    Args:
        hosts: Whose pages may be read without being named; so may those of hosts below them.
        private_hosts: Whose pages may be read although they are in the home network.
        resolve: Looks up names.
        most_seconds: How long reading one page may take, redirects included.
    """

    def __init__(
        self,
        *,
        hosts: Collection[str] = (),
        private_hosts: Collection[str] = (),
        resolve: Resolver = find_addresses,
        most_seconds: float = MOST_SECONDS,
    ) -> None:
        self._hosts = {each.lower() for each in hosts}
        self._private_hosts = {each.lower() for each in private_hosts}
        self._resolve = resolve
        self._most_seconds = most_seconds

    def may_read(self, address: str) -> bool:
        """Whether the settings list the host of an address."""
        try:
            return self._is_listed(_checked(address).host)
        except DeniedError:
            return False

    async def read(self, address: str) -> Page:
        """Return the text of a page."""
        url = _checked(address)
        try:
            async with asyncio.timeout(self._most_seconds):
                answer = await self._answer(url)
        except TimeoutError as error:
            message = f"{url.host} took longer than {self._most_seconds:g} seconds"
            raise UnavailableError(message) from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            message = f"{url.host} cannot be reached ({type(error).__name__})"
            raise UnavailableError(message) from error
        return await asyncio.to_thread(_page_of, answer)

    async def _answer(self, first: httpx.URL) -> _Answer:
        url = first
        async with httpx.AsyncClient(trust_env=False, follow_redirects=False) as client:
            for _ in range(1 + MOST_REDIRECTS):
                answer = await self._request(client, url)
                if answer.next_address is None:
                    return answer
                url = self._next(url, answer.next_address)
        raise DeniedError(f"{first.host} sends on more than {MOST_REDIRECTS} times")

    def _next(self, url: httpx.URL, address: str) -> httpx.URL:
        """Return where a page sends on to: within what was named or is listed."""
        try:
            after = _checked(str(url.join(address)))
        except httpx.InvalidURL as error:
            raise DeniedError(f"{url.host} sends on to something that is not an address") from error
        if _bare(after.host) != _bare(url.host) and not self._is_listed(after.host):
            raise DeniedError(f"{url.host} sends on to {after.host}, which nobody named")
        if url.scheme == "https" and after.scheme != "https":
            raise DeniedError(f"{url.host} sends on to a page that is not encrypted")
        return after

    async def _request(self, client: httpx.AsyncClient, url: httpx.URL) -> _Answer:
        request = client.build_request(
            "GET",
            url.copy_with(host=await self._judged(url), fragment=None),
            headers={**_HEADERS, "Host": url.netloc.decode("ascii")},
            extensions={"sni_hostname": url.host},
        )
        response = await client.send(request, stream=True)
        try:
            if response.status_code in _REDIRECTS and "location" in response.headers:
                return _Answer(url=url, next_address=response.headers["location"])
            if response.status_code != HTTPStatus.OK:
                raise _refused(url, response.status_code)
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind not in _HTML | _PLAIN:
                raise InputError(f"{url.host} does not answer with text")
            body = await _body(response, url.host)
            return _Answer(url=url, body=body, kind=kind, charset=response.charset_encoding)
        finally:
            await response.aclose()

    async def _judged(self, url: httpx.URL) -> str:
        """Return the address to connect to: one of those that were checked."""
        try:
            found = await self._resolve(url.host, url.port or _PORTS[url.scheme])
        except (OSError, UnicodeError) as error:
            raise UnavailableError(f"the host name {url.host} is unknown") from error
        if not found:
            raise UnavailableError(f"the host name {url.host} has no address")
        if url.host.lower() not in self._private_hosts and not all(map(is_public, found)):
            raise DeniedError(f"{url.host} leads into this machine or the home network")
        return found[0]

    def _is_listed(self, host: str) -> bool:
        name = host.lower().rstrip(".")
        return any(name == each or name.endswith(f".{each}") for each in self._hosts)


def _checked(address: str) -> httpx.URL:
    """Return an address that may be asked for, as far as that can be seen from it.

    Raises:
        DeniedError: It may not be.
    """
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise DeniedError("that is not the address of a page") from error
    if url.scheme not in _PORTS or not url.host:
        raise DeniedError("only pages at http:// and https:// are read")
    if url.userinfo:
        raise DeniedError("an address with a password in it is not read")
    return url


def _refused(url: httpx.URL, status: int) -> Exception:
    if status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
        return InputError(f"{url.host} has no such page")
    return UnavailableError(f"{url.host} refused (status {status})")


async def _body(response: httpx.Response, host: str) -> bytes:
    """Return the body of an answer, as it was before it was compressed.

    Raises:
        InputError: It is too long, or compressed in a way that was not asked for.
    """
    coding = response.headers.get("content-encoding", "identity").lower()
    if coding not in {"identity", "gzip", "deflate"}:
        raise InputError(f"{host} compresses its pages in a way that cannot be read here")
    pieces, length = list[bytes](), 0
    async for piece in _inflated(response, is_packed=coding != "identity"):
        length += len(piece)
        if length > MOST_BYTES:
            raise InputError(f"{host} answers with more than {MOST_BYTES // 1_000_000} MB")
        pieces.append(piece)
    return b"".join(pieces)


async def _inflated(response: httpx.Response, *, is_packed: bool) -> AsyncIterator[bytes]:
    unpack = zlib.decompressobj(wbits=47)
    async for piece in response.aiter_raw():
        try:
            yield unpack.decompress(piece, MOST_BYTES + 1) if is_packed else piece
        except zlib.error as error:
            raise InputError("the page is damaged") from error


def _page_of(answer: _Answer) -> Page:
    text = text_of(answer.body, answer.charset)
    title, lines = lines_of_html(text) if answer.kind in _HTML else ("", lines_of_text(text))
    return Page(address=str(answer.url.copy_with(fragment=None)), title=title, lines=lines)


def _bare(host: str) -> str:
    return host.lower().rstrip(".").removeprefix("www.")
