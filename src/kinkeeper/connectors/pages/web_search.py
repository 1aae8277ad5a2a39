"""A search engine that the settings name, asked over HTTP as SearXNG answers: in JSON."""

import asyncio
from collections.abc import Sequence
from typing import Final

import httpx
from pydantic import BaseModel, ValidationError

from kinkeeper.background.outside import Hit
from kinkeeper.core.errors import UnavailableError
from kinkeeper.language.text import one_line, shorten, strip_controls

MOST_BYTES: Final = 1_000_000
MOST_SECONDS: Final = 10.0
_MOST_HITS: Final = 10
_LONGEST_TITLE: Final = 120
_LONGEST_TEXT: Final = 400
_LONGEST_ADDRESS: Final = 500
_MODERATE, _STRICT = "1", "2"


class _Result(BaseModel):
    url: str = ""
    title: str | None = ""
    content: str | None = ""


class _Results(BaseModel):
    results: tuple[_Result, ...] = ()


class SearxSearch:
    """Asks one SearXNG server.

    Args:
        url: Of the server, without `/search`; it may be in the home network.
        language: In which results are wanted ("en-GB").
    """

    def __init__(self, url: str, *, language: str, most_seconds: float = MOST_SECONDS) -> None:
        self._url = f"{url.rstrip('/')}/search"
        self._language = language
        self._most_seconds = most_seconds

    async def search(self, query: str, *, is_strict: bool) -> Sequence[Hit]:
        """Return what there is, best first."""
        wanted = {
            "q": query,
            "format": "json",
            "language": self._language,
            "safesearch": _STRICT if is_strict else _MODERATE,
        }
        try:
            async with asyncio.timeout(self._most_seconds):
                answer = await self._answer(wanted)
        except TimeoutError as error:
            raise UnavailableError("the search engine did not answer in time") from error
        except (httpx.HTTPError, OSError) as error:
            message = f"the search engine cannot be reached ({type(error).__name__})"
            raise UnavailableError(message) from error
        try:
            found = _Results.model_validate_json(answer).results
        except ValidationError as error:
            raise UnavailableError("the search engine's answer is not its JSON") from error
        hits = (_hit(each) for each in found if _is_page(each.url))
        return list({each.address: each for each in hits}.values())[:_MOST_HITS]

    async def _answer(self, wanted: dict[str, str]) -> bytes:
        client = httpx.AsyncClient(trust_env=False, follow_redirects=False)
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        async with (
            client,
            client.stream("GET", self._url, params=wanted, headers=headers) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise UnavailableError(
                    f"the search engine refused (status {response.status_code}); it must allow the format json"
                )
            body = b""
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > MOST_BYTES:
                    raise UnavailableError("the search engine's answer is too long")
            return body


def _is_page(address: str) -> bool:
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, UnicodeError):
        return False
    is_web = url.scheme in {"http", "https"} and bool(url.host) and not url.userinfo
    return is_web and len(address) <= _LONGEST_ADDRESS


def _hit(result: _Result) -> Hit:
    return Hit(
        address=str(httpx.URL(result.url)),
        title=_cleaned(result.title or "", _LONGEST_TITLE),
        text=_cleaned(result.content or "", _LONGEST_TEXT),
    )


def _cleaned(text: str, longest: int) -> str:
    return shorten(one_line(strip_controls(" ".join(text.split()))).strip(), longest)
