"""Another program's brain over HTTP: one request a question, nothing kept between them.

Redirects are not followed, proxies of the environment are not used, and nothing that is answered stands in an
error's message. Loading this loads the library for HTTP.
"""

import ssl
from collections.abc import Mapping
from functools import cache

import httpx
from pydantic import SecretStr

from kinkeeper.core.errors import UnavailableError

_LARGEST_ANSWER = 64 * 1024
_OK, _NOT_FOUND = 200, 404
_NOT_LET_IN = frozenset({401, 403})


class BrainServer:
    """Where another program answers questions.

    Args:
        url: Whole address of the route, without parameters.
        token: What it lets callers in with, if it asks.
        seconds: Longest wait for each step; whoever asks limits the whole.
    """

    def __init__(self, url: str, *, token: SecretStr | None, seconds: float) -> None:
        self._url = httpx.URL(url)
        self._token = token
        self._timeout = httpx.Timeout(seconds)

    async def fetch(self, parameters: Mapping[str, str], headers: Mapping[str, str]) -> bytes:
        """Return the body of its answer to one question.

        Args:
            headers: Beside those of every request.

        Raises:
            UnavailableError: There is no answer; the message says why and how to mend it.
        """
        more = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "kinkeeper",
        }
        if self._token is not None:
            more["Authorization"] = f"Bearer {self._token.get_secret_value()}"
        client = httpx.AsyncClient(
            verify=_trusted() if self._url.scheme == "https" else _nobody(),
            timeout=self._timeout,
            trust_env=False,
            follow_redirects=False,
        )
        try:
            async with (
                client,
                client.stream(
                    "GET", self._url, params=parameters, headers={**headers, **more}
                ) as response,
            ):
                return await self._body(response)
        except httpx.TimeoutException as error:
            raise self._unavailable("did not answer in time") from error
        except httpx.ConnectError as error:
            raise self._unavailable(
                "cannot be reached; start it, or correct BRAIN_BASE_URL"
            ) from error
        except httpx.HTTPError as error:
            raise self._unavailable("broke off in the middle of its answer") from error

    async def _body(self, response: httpx.Response) -> bytes:
        status = response.status_code
        if status in _NOT_LET_IN:
            raise self._unavailable("rejects our token; set BRAIN_TOKEN to one that it accepts")
        if status == _NOT_FOUND:
            raise self._unavailable("has no such path or household")
        if response.has_redirect_location:
            raise self._unavailable(
                "redirects to another address; set BRAIN_BASE_URL to that address"
            )
        if status != _OK:
            raise self._unavailable(f"answers with status {status}")
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise self._unavailable("compressed its answer, which was not requested")
        body = bytearray()
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > _LARGEST_ANSWER:
                raise self._unavailable(f"sent more than {_LARGEST_ANSWER >> 10} kB")
        return bytes(body)

    def _unavailable(self, why: str) -> UnavailableError:
        return UnavailableError(f"the brain at {self._url.host} {why}")


@cache
def _trusted() -> ssl.SSLContext:
    """Return what checks certificates; reading all authorities' is slow."""
    return httpx.create_ssl_context()


@cache
def _nobody() -> ssl.SSLContext:
    """Return what trusts no certificate, for connections that have none."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
