"""One connection to a tool server; what it says is made harmless to show and of bearable length."""

import codecs
import os
import re
import unicodedata
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, TextContent

from kinkeeper.actions.requests.tools import ForeignTool, ToolAnswer
from kinkeeper.connectors.tools.model import ToolServer
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.ids import payload_hash
from kinkeeper.models.connection import find_addresses, is_public

# Text of a program's pipe, of which no line may become longer than can be read.
#
# The protocol's library gathers a line until it ends, however long that takes, and asks only for an
# encoding by its name. So this is one.

ENCODING: Final = "kinkeeper-limited-lines"
"""UTF-8 in lines of limited length."""
LONGEST_LINE: Final = 1024 * 1024


class _Decoder(codecs.IncrementalDecoder):
    """Decodes UTF-8 piece by piece."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._inner = codecs.getincrementaldecoder("utf-8")(errors)
        self._length = 0

    def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override]  # noqa: FBT001, FBT002 - as the library calls it
        """Return the text of a piece.

        Raises:
            UnicodeError: The line it belongs to is too long, or it is no UTF-8.
        """
        _, end, rest = data.rpartition(b"\n")
        self._length = len(rest) if end else self._length + len(data)
        if self._length > LONGEST_LINE:
            raise UnicodeError(f"a line is longer than {LONGEST_LINE:,} bytes")
        return self._inner.decode(data, final)


def _find(name: str) -> codecs.CodecInfo | None:
    if name != ENCODING.replace("-", "_"):
        return None
    plain = codecs.lookup("utf-8")
    return codecs.CodecInfo(plain.encode, plain.decode, incrementaldecoder=_Decoder, name=ENCODING)


codecs.register(_find)


# What a foreign server says, made harmless to show and of bearable length. Pure.
#
# Characters that are not seen can carry instructions to a model or disguise a text to people; a
# schema can ask a checker for more work than there is. Both are reduced to what is needed.

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,63}")
_LONGEST_DESCRIPTION = 300
_LONGEST_WORD = 120
_LONGEST_ANSWER = 8000
_MOST_ITEMS = 200
_DEEPEST = 8
_MOST_KEPT = 20_000  # characters, each part counted as _PART of them
_PART = 20
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_PLAIN = frozenset(
    {
        "type",
        "const",
        "enum",
        "required",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "format",
    }
)
_WORDS = frozenset({"title", "description"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf"})
_LOCAL = ("#/$defs/", "#/definitions/")


def clean_text(text: str, *, longest: int = _LONGEST_ANSWER, lines: bool = True) -> str:
    """Return a text without characters that are not seen.

    Args:
        longest: Most characters of it.
        lines: Whether line breaks stay.
    """
    kept = "".join(
        each
        if (lines and each == "\n") or unicodedata.category(each) not in _UNSEEN
        else (" " if each.isspace() else "")
        for each in text[: 4 * longest]
    )
    kept = kept.strip() if lines else " ".join(kept.split())
    return kept if len(kept) <= longest else f"{kept[: longest - 1]}…"


def clean_data(value: Any, *, depth: int = 0) -> Any:
    """Return JSON of bearable size, its texts cleaned; what lies too deep is left out."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, bool | int | float) or value is None:
        return value
    if depth >= _DEEPEST:
        return None
    if isinstance(value, Mapping):
        some = list(value.items())[:_MOST_ITEMS]
        return {_word(str(key)): clean_data(item, depth=depth + 1) for key, item in some}
    if isinstance(value, list | tuple):
        return [clean_data(item, depth=depth + 1) for item in value[:_MOST_ITEMS]]
    return None


def described(
    server: str, name: str, description: str, schema: Mapping[str, Any], *, is_safe: bool
) -> ForeignTool:
    """Return a tool as it may be shown.

    Args:
        name: There, exactly as it is called by.
        description: In its own words.
        schema: Of its arguments, as it gives it.
        is_safe: Whether it may be called unasked.
    """
    definition = payload_hash({"name": name, "description": description, "schema": dict(schema)})
    reading = _Reading(schema.get("$defs") or schema.get("definitions"))
    kept = reading.part(schema)
    if reading.left < 0:  # a part of it could refuse what the whole would take
        kept = {}
    return ForeignTool(
        server=server,
        name=name,
        description=clean_text(description, longest=_LONGEST_DESCRIPTION, lines=False),
        schema=kept | {"type": "object"},
        definition=definition,
        is_safe=is_safe,
    )


@dataclass(slots=True)
class _Reading:
    """Reads one tool's schema; references can make a short one endless, so what is kept of it is limited.

    Attributes:
        definitions: What its references lead to.
        left: What may still be kept; below zero it is more than can be checked at bounded cost.
    """

    definitions: Any
    left: int = _MOST_KEPT

    def part(self, schema: Any, depth: int = 0) -> dict[str, Any]:
        """Return the part of a schema that can be checked at bounded cost, references resolved."""
        self.left -= _PART
        if not isinstance(schema, Mapping) or depth >= _DEEPEST or self.left < 0:
            return {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            known = self.definitions if isinstance(self.definitions, Mapping) else {}
            name = reference.removeprefix(_LOCAL[0]).removeprefix(_LOCAL[1])
            return self.part(known.get(name), depth + 1)
        some = list(schema.items())[:_MOST_ITEMS]
        kept = ((key, self._value(key, value, depth + 1)) for key, value in some)
        return {key: value for key, value in kept if value is not None}

    def _value(self, key: str, value: Any, depth: int) -> Any:
        """Return what is kept under a key of a schema; None for nothing."""
        if key in _PLAIN:
            return self._scalars(value)
        if key in _WORDS and isinstance(value, str):
            return self._scalars(_word(value))
        if key == "properties" and isinstance(value, Mapping):
            some = list(value.items())[:_MOST_ITEMS]
            return {
                name: self.part(each, depth)
                for name, each in some
                if self._scalars(_word(name)) == name and not name.startswith("$")
            }
        if key == "items" or (key == "additionalProperties" and isinstance(value, Mapping)):
            return self.part(value, depth)
        if key == "additionalProperties" and isinstance(value, bool):
            return value
        if key in _LISTS and isinstance(value, list):
            return [self.part(each, depth) for each in value[:_MOST_ITEMS]]
        return None

    def _scalars(self, value: Any) -> Any:
        """Return a value, or those of a list, that are no structures of their own."""
        if isinstance(value, list):
            some = [each for each in value[:_MOST_ITEMS] if not isinstance(each, list | dict)]
            return [self._scalars(each) for each in some]
        if isinstance(value, dict) or self.left < 0:
            return None
        kept = clean_data(value)
        self.left -= len(kept) if isinstance(kept, str) else 1
        return kept


def _word(text: str) -> str:
    return clean_text(text, longest=_LONGEST_WORD, lines=False)


def is_tool_name(name: str) -> bool:
    """Whether a tool's name can be shown and asked for: short, letters, digits and few signs."""
    return _NAME.fullmatch(name) is not None


_MOST_PAGES = 50
_MOST_TOOLS = 200
_PORTS = {"http": 80, "https": 443}
_LOCAL_NAMES = (".local", ".lan", ".internal", ".home.arpa")
_BUSY_SECONDS = 30.0
MOST_BYTES = 1024 * 1024
"""Longest answer of a tool server that is read: reading one holds up everything else, a megabyte for half a second."""


class ToolClient:
    """Speaks with one server over an open connection."""

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
                        self._server.name,
                        tool.name,
                        tool.description or "",
                        tool.input_schema,
                        is_safe=False,
                    )
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
            text=clean_text("\n".join(texts)),
            data=clean_data(result.structured_content),
            is_error=result.is_error,
        )


@asynccontextmanager
async def opened(server: ToolServer) -> AsyncIterator[ToolClient]:
    """Connect for the length of the block, which must end in the task that began it."""
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
                headers={**server.headers, "Accept-Encoding": "identity"},
                trust_env=False,
                follow_redirects=False,
                timeout=httpx2.Timeout(_BUSY_SECONDS, read=server.timeout.total_seconds()),
                transport=_JudgedTransport(server),
            )
            await stack.enter_async_context(http)
            transport = streamable_http_client(server.url or "", http_client=http)
        client = Client(transport, cache=None, read_timeout_seconds=server.timeout.total_seconds())
        yield ToolClient(server, await stack.enter_async_context(client))


def reason_of(error: BaseException) -> str:
    """Return why a connection failed, in words that quote nothing of the server's own."""
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
    """Whether an address of this machine or network is what the settings mean."""
    host = urlsplit(server.url or "").hostname or ""
    is_plain = host == "localhost" or host.endswith(_LOCAL_NAMES) or "." not in host
    return server.allows_private or is_plain or _is_address(host)


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()
