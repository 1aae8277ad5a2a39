"""What happens to every connection and request before and after its route.

Before: an id, the Host check, the client's rate, the size of the body. After: the security headers, a count, a log line
that names the route's template and no address, text or person. An error that no route expected ends
here as a 500 that says nothing.
"""

import asyncio
import itertools
import secrets
from collections.abc import Sequence
from time import perf_counter
from typing import Any, Final

import structlog
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from kinkeeper.core.errors import KinkeeperError
from kinkeeper.observability.log import without_message_text
from kinkeeper.web import problems
from kinkeeper.web.context import WebContext
from kinkeeper.web.security.browser_protection import ALWAYS, OVER_TLS
from kinkeeper.web.security.hosts import is_our_host
from kinkeeper.web.security.request_limits import (
    RateGate,
    announced_length,
    counted,
    largest_body,
    too_large,
)

# Connections of the HTTP server that do not send their request in time are closed.

HEADER_SECONDS: Final = 10.0
"""How long a client may take from connecting, or from a request's first byte, to the end of its headers."""


class TimedProtocol(HttpToolsProtocol):
    """The server's protocol with a time limit for request headers.

    An idle connection between two requests is closed by the server's own keep-alive limit.
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit of the first request."""
        super().connection_made(transport)
        self._wait()

    def on_message_begin(self) -> None:
        """Start the time limit of a further request on the same connection."""
        super().on_message_begin()
        if self._waiting is None:
            self._wait()

    def on_headers_complete(self) -> None:
        """End the time limit: the request is there."""
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the time limit with the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(HEADER_SECONDS, self._close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _close(self) -> None:
        self._waiting = None
        if not self.transport.is_closing():
            self.transport.abort()


log = structlog.get_logger()

_UNMATCHED = "unmatched"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_QUIET_BELOW = 400
_MOST_HOSTS = 100


class Guard:
    """The outermost layer of the server.

    Args:
        hot: Routes with fixed paths that are called past everything inside.
    """

    def __init__(
        self, inside: ASGIApp, *, context: WebContext, application: FastAPI, hot: Sequence[Route]
    ) -> None:
        self._inside = inside
        self._context = context
        self._application = application
        self._hot = {(method, each.path): each for each in hot for method in each.methods or ()}
        self._templates: dict[Any, str] | None = None
        self._rates = RateGate(context.rates)
        self._trusted_hosts: set[str] = set()
        self._prefix = secrets.token_hex(4)
        self._numbers = itertools.count()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._inside(scope, receive, send)
            return
        answer = _Answer(scope, send, f"{self._prefix}-{next(self._numbers):x}")
        scope[problems.REQUEST_ID] = answer.id
        try:
            await self._serve(scope, receive, answer)
        except Exception as error:  # noqa: BLE001 - the border of the server: logged without text, answered 500
            log.error(  # noqa: TRY400 - a traceback would quote what people wrote
                "web.request.failed", request=answer.id, reason=without_message_text(error)
            )
            if answer.status is None:
                await problems.bug(Request(scope))(scope, receive, answer.send)
        self._record(scope, answer)

    async def _serve(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        if refused := self._refused(scope):
            await refused(scope, receive, answer.send)
            return
        length = announced_length(scope)
        if length is None:
            receive = counted(receive, largest_body(scope["path"]))
        route = self._hot.get((scope["method"], scope["path"]))
        if route is None:
            await self._inside(scope, receive, answer.send)
            return
        scope["app"], scope["endpoint"] = self._application, route.endpoint
        request = Request(scope, receive)
        try:
            response: Response = await route.endpoint(request)
        except (KinkeeperError, HTTPException) as error:
            response = problems.answer(request, error)
        await response(scope, receive, answer.send)

    def _refused(self, scope: Scope) -> ASGIApp | None:
        host = _host(scope)
        if host not in self._trusted_hosts:
            if not is_our_host(host, self._context.names):
                detail = "this server does not use that host name; set PUBLIC_URL to its address"
                return problems.refusal(Request(scope), 421, detail)
            if len(self._trusted_hosts) < _MOST_HOSTS:
                self._trusted_hosts.add(host)
        client = scope.get("client")
        waits = self._rates.seconds_to_wait(
            scope["method"],
            scope["path"],
            self._context.clock.now(),
            address=client[0] if client else "",
            login=lambda: self._application.state.door.login_of(Request(scope)),
        )
        if waits:
            return problems.refusal(
                Request(scope),
                429,
                "too many requests; wait and try again",
                problems.retry_after(waits),
            )
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            detail = "the address contains a null character"
            return problems.refusal(Request(scope), 400, detail)
        most = largest_body(scope["path"])
        if (announced_length(scope) or 0) > most:
            error = too_large(most)
            return problems.refusal(Request(scope), error.status_code, error.detail, error.headers)
        return None

    def _record(self, scope: Scope, answer: "_Answer") -> None:
        route = self._template(scope)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        status = answer.status or 0
        if self._context.metrics is not None:
            self._context.metrics.answered(route, method, status, seconds=answer.seconds)
        if status >= _QUIET_BELOW:
            log.info(
                "web.request.refused", request=answer.id, route=route, method=method, status=status
            )

    def _template(self, scope: Scope) -> str:
        if self._templates is None:
            self._templates = {
                each.endpoint: each.path
                for each in iter_route_contexts(self._application.routes)
                if each.endpoint is not None and each.path is not None
            }
        return self._templates.get(scope.get("endpoint"), _UNMATCHED)


class _Answer:
    """Sends an answer with the headers that all carry, and remembers its status."""

    def __init__(self, scope: Scope, send: Send, request_id: str) -> None:
        self.id = request_id
        self.status: int | None = None
        self.seconds = 0.0
        self._began = perf_counter()
        self._is_tls = scope["scheme"] == "https"
        self._send = send

    async def send(self, message: Message) -> None:
        """Pass one message on."""
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            self.seconds = perf_counter() - self._began
            headers = message["headers"]
            headers.extend(ALWAYS)
            headers.append((b"x-request-id", self.id.encode()))
            if self._is_tls:
                headers.append(OVER_TLS)
        await self._send(message)


def _host(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"host":
            text: str = value.decode("latin-1")
            return text
    return ""
