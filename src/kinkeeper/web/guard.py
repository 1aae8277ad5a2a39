"""What happens to every request before and after its route: one layer, so that it costs little.

Before: an id, the Host check, the client's rate, the size of the body. After: the security headers, a count, a log line
that names the route's template and no address, text or person. An error that no route expected ends
here as a 500 that says nothing.
"""

import itertools
import secrets
from time import perf_counter
from typing import Any

import structlog
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kinkeeper.observability.log import without_message_text
from kinkeeper.web.context import WebContext
from kinkeeper.web.problems import refusal, retry_after
from kinkeeper.web.security.bodies import announced_length, counted, largest_body, too_large
from kinkeeper.web.security.headers import ALWAYS, OVER_TLS
from kinkeeper.web.security.hosts import is_our_host
from kinkeeper.web.security.rates import RateGate

log = structlog.get_logger()

_UNMATCHED = "unmatched"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_QUIET_BELOW = 400


class Guard:
    """The outermost layer of the server.

    Args:
        app: All that lies inside.
        context: Of the server.
        routes: The application, for its routes' templates.
    """

    def __init__(self, app: ASGIApp, *, context: WebContext, routes: FastAPI) -> None:
        self._app = app
        self._context = context
        self._application = routes
        self._templates: dict[Any, str] | None = None
        self._rates = RateGate(context.rates)
        self._trusted_hosts: set[str] = set()
        self._prefix = secrets.token_hex(4)
        self._numbers = itertools.count()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()
        answer = _Answer(scope, send, f"{self._prefix}-{next(self._numbers):x}")
        try:
            refused = self._refused(scope)
            if refused is None:
                await self._app(scope, _limited(scope, receive), answer.send)
            else:
                await refused(scope, receive, answer.send)
        except Exception as error:  # noqa: BLE001 - the border of the server: logged without text, answered 500
            log.error(  # noqa: TRY400 - a traceback would quote what people wrote
                "web.request.failed", request=answer.id, reason=without_message_text(error)
            )
            if answer.status is None:
                await self._failed(scope, receive, answer)
        self._record(scope, answer, perf_counter() - began)

    def _refused(self, scope: Scope) -> ASGIApp | None:
        host = _host(scope)
        if host not in self._trusted_hosts:
            if not is_our_host(host, self._context.names):
                detail = "this server does not go by that name; add its address as PUBLIC_URL"
                return refusal(Request(scope), 421, detail)
            if len(self._trusted_hosts) < _MOST_HOSTS:
                self._trusted_hosts.add(host)
        client = scope.get("client")
        waits = self._rates.seconds_to_wait(
            scope["method"], scope["path"], client[0] if client else "", self._context.clock.now()
        )
        if waits:
            return refusal(Request(scope), 429, "too many requests; wait", retry_after(waits))
        most = largest_body(scope["path"])
        if (announced_length(scope) or 0) > most:
            error = too_large(most)
            return refusal(Request(scope), error.status_code, error.detail, error.headers)
        return None

    async def _failed(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        detail = f"something went wrong here; the log tells more under request {answer.id}"
        await refusal(Request(scope), 500, detail)(scope, receive, answer.send)

    def _record(self, scope: Scope, answer: "_Answer", seconds: float) -> None:
        route = self._template(scope)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        status = answer.status or 0
        self._context.metrics.answered(route, method, status, seconds=seconds)
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


_MOST_HOSTS = 100


class _Answer:
    """Sends an answer with the headers that all carry, and remembers its status."""

    def __init__(self, scope: Scope, send: Send, request_id: str) -> None:
        self.id = request_id
        self.status: int | None = None
        self._is_tls = scope["scheme"] == "https"
        self._send = send

    async def send(self, message: Message) -> None:
        """Pass one message on."""
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            headers = message["headers"]
            headers.extend(ALWAYS)
            headers.append((b"x-request-id", self.id.encode()))
            if self._is_tls:
                headers.append(OVER_TLS)
        await self._send(message)


def _limited(scope: Scope, receive: Receive) -> Receive:
    """Count the body of a request that does not say how large it is; servers hold others to their word."""
    if announced_length(scope) is not None:
        return receive
    return counted(receive, largest_body(scope["path"]))


def _host(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"host":
            text: str = value.decode("latin-1")
            return text
    return ""
