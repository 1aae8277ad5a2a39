"""One connection to a tool server with the protocol's own library: a program started here, or an address."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, TextContent

from kinkeeper.actions.requests.tools import ForeignTool, ToolAnswer
from kinkeeper.connectors.tools.lines import ENCODING
from kinkeeper.connectors.tools.model import ToolServer
from kinkeeper.connectors.tools.output_sanitizer import (
    clean_data,
    clean_text,
    described,
    is_tool_name,
)
from kinkeeper.core.errors import UnavailableError
from kinkeeper.models.privacy import find_addresses, is_public

_MOST_PAGES = 50
_MOST_TOOLS = 200
_PORTS = {"http": 80, "https": 443}
_LOCAL_NAMES = (".local", ".lan", ".internal", ".home.arpa")
_BUSY_SECONDS = 30.0
MOST_BYTES = 1024 * 1024
"""Longest answer of a tool server that is read: reading one holds up everything else, a megabyte for half a second."""


class ToolClient:
    """Speaks with one server over an open connection.

    Args:
        server: As the settings name it.
        client: Of the library, connected.
    """

    def __init__(self, server: ToolServer, client: Client) -> None:
        self._server = server
        self._client = client

    async def list(self) -> list[ForeignTool]:
        """Return the tools it offers, as they may be shown; those whose names cannot be are left out."""
        found: list[ForeignTool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor, cache_mode="bypass")
            for tool in page.tools:
                if is_tool_name(tool.name) and len(found) < _MOST_TOOLS:
                    known = described(
                        self._server.name, tool.name, tool.description or "", tool.input_schema,
                        is_safe=False,
                    )  # fmt: skip
                    found.append(known)
            cursor = page.next_cursor
            if cursor is None or len(found) >= _MOST_TOOLS:
                break
        return list({tool.name: tool for tool in found}.values())[:_MOST_TOOLS]

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call a tool and return what it answers, as it may be shown."""
        # Not `call_tool`: it checks the answer by a schema of the server's, whose patterns may never end.
        result = await self._client.session.send_request(
            CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments))),
            CallToolResult,
            request_read_timeout_seconds=self._server.timeout.total_seconds(),
        )
        texts = [each.text for each in result.content if isinstance(each, TextContent)]
        return ToolAnswer(
            text=clean_text("\n".join(texts)), data=clean_data(result.structured_content),
            is_error=result.is_error,
        )  # fmt: skip


@asynccontextmanager
async def opened(server: ToolServer) -> AsyncIterator[ToolClient]:
    """Connect for the length of the block, which must end in the task that began it.

    Args:
        server: As the settings name it.

    Raises:
        UnavailableError: It cannot be started or reached.
    """
    async with AsyncExitStack() as stack:
        # What a program writes to its error output is its own business, and may quote the household.
        errors = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))  # noqa: ASYNC230, PTH123, SIM115 - no disk, closed by the stack
        if server.command is not None:
            program = StdioServerParameters(
                command=server.command,
                args=list(server.args),
                env=dict(server.env),
                encoding=ENCODING,
            )
            transport = stdio_client(program, errlog=errors)
        else:
            http = httpx2.AsyncClient(
                headers={**server.headers, "Accept-Encoding": "identity"}, trust_env=False, follow_redirects=False,
                timeout=httpx2.Timeout(_BUSY_SECONDS, read=server.timeout.total_seconds()),
                transport=_JudgedTransport(server),
            )  # fmt: skip
            await stack.enter_async_context(http)
            transport = streamable_http_client(server.url or "", http_client=http)
        client = Client(transport, cache=None, read_timeout_seconds=server.timeout.total_seconds())
        yield ToolClient(server, await stack.enter_async_context(client))


def reason_of(error: BaseException) -> str:
    """Return why a connection failed, in words that quote nothing of the server's own.

    Args:
        error: As raised, perhaps in groups.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, UnavailableError):
        return str(error)
    if isinstance(error, FileNotFoundError):
        return "its program does not exist"
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, MCPError):
        return f"it refused the request (code {error.error.code})"
    return f"it cannot be reached ({type(error).__name__})"


class _JudgedTransport(httpx2.AsyncBaseTransport):
    """Connects to an address that was judged, whatever the name leads to a moment later."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to its host."""
        host, address = request.url.host, await self._judged(request.url)
        request.url = request.url.copy_with(host=address)
        request.extensions = {**request.extensions, "sni_hostname": host}
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise UnavailableError("it compresses its answers although it was asked not to")
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Limited(response.stream)
        return response

    async def aclose(self) -> None:
        """Close its connections."""
        await self._inner.aclose()

    async def _judged(self, url: httpx2.URL) -> str:
        try:
            found = await find_addresses(url.host, url.port or _PORTS[url.scheme])
        except OSError as error:
            raise UnavailableError(f"the host name {url.host} is unknown") from error
        if not found:
            raise UnavailableError(f"the host name {url.host} has no address")
        if not may_be_private(self._server) and not all(map(is_public, found)):
            raise UnavailableError(
                f"{url.host} is an address of this machine or network; if that is intended, set "
                f"allow_private = true for {self._server.name}"
            )
        return found[0]


class _Limited(httpx2.AsyncByteStream):
    """The body of an answer, cut off where it is too long to be read; so is a stream of events."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for piece in self._body:
            length += len(piece)
            if length > MOST_BYTES:
                await self._body.aclose()
                raise UnavailableError(f"its answer is longer than {MOST_BYTES:,} bytes")
            yield piece

    async def aclose(self) -> None:
        """Close the body."""
        await self._body.aclose()


def may_be_private(server: ToolServer) -> bool:
    """Whether an address of this machine or network is what the settings mean.

    Args:
        server: As the settings name it.
    """
    host = urlsplit(server.url or "").hostname or ""
    is_plain = host == "localhost" or host.endswith(_LOCAL_NAMES) or "." not in host
    return server.allows_private or is_plain or _is_address(host)


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()
