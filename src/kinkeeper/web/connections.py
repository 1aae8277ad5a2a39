"""Connections of the HTTP server that do not send their request in time are closed."""

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

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
