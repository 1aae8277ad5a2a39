"""What a model server can be told to do with a call."""

import asyncio
import gzip
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

from modelserver.exchange import Exchange, Received
from modelserver.protocols import HONEST, Said

Behaviour = Callable[[Exchange], Awaitable[None]]

_JSON = re.compile(r"\{.*\}", re.DOTALL)
_ORDER = re.compile(r"(?:answer|reply|respond|say|output|write)\b[^:\n]*:\s*(.+)", re.IGNORECASE)


def says(
    *pieces: str,
    finish: str = "stop",
    counted: tuple[int, int] | None = HONEST,
    model: str = "test-model",
) -> Behaviour:
    """Answer with a text, in these pieces where pieces are wanted.

    Args:
        pieces: Of the text.
        finish: Why it ends.
        counted: Tokens of the request and of the answer as the server claims; None: it does not count.
        model: Who says it.
    """
    said = Said(pieces=pieces, finish=finish, counted=counted, model=model)

    async def behave(exchange: Exchange) -> None:
        await _tell(exchange, said)

    return behave


def refuses(text: str = "I cannot help with that.") -> Behaviour:
    """Refuse as a model does, with success as HTTP has it."""

    async def behave(exchange: Exchange) -> None:
        await _tell(exchange, Said(pieces=(text,), refusal=True))

    return behave


def computes(answer: Callable[[Received], str]) -> Behaviour:
    """Answer with what a function makes of the call."""

    async def behave(exchange: Exchange) -> None:
        await _tell(exchange, Said(pieces=(answer(exchange.received),)))

    return behave


def obeys() -> Behaviour:
    """Do what the last message says: give back the JSON it holds, or what it orders to be said."""

    def answer(received: Received) -> str:
        text = received.texts[-1]
        if found := _JSON.search(text):
            return found.group(0)
        ordered = _ORDER.search(text)
        return ordered.group(1) if ordered else text

    return computes(answer)


def fails(
    status: int, *, body: bytes = b'{"error": {"message": "no"}}', **headers: str
) -> Behaviour:
    """Answer with an error's status."""

    async def behave(exchange: Exchange) -> None:
        await exchange.whole(body, status, **headers)

    return behave


def refuses_schemas(then: Behaviour) -> Behaviour:
    """Answer 400 to a call with a schema; do something else with others."""

    async def behave(exchange: Exchange) -> None:
        body = exchange.received.body
        kind = body.get("response_format", {}).get("type")
        if kind == "json_schema" or isinstance(body.get("format"), dict):
            await exchange.whole(b'{"error": {"message": "unknown response_format"}}', 400)
        else:
            await then(exchange)

    return behave


def refuses_parameter(name: str, then: Behaviour) -> Behaviour:
    """Answer 400, naming a parameter, to a call that has it; do something else with others."""

    async def behave(exchange: Exchange) -> None:
        if name in exchange.received.body:
            error = {"message": f"Unsupported parameter: '{name}'", "param": name}
            await exchange.whole(json.dumps({"error": error}).encode(), 400)
        else:
            await then(exchange)

    return behave


def stalls(seconds: float, then: Behaviour) -> Behaviour:
    """Wait before doing something else."""

    async def behave(exchange: Exchange) -> None:
        await asyncio.sleep(seconds)
        await then(exchange)

    return behave


def hangs(*pieces: str) -> Behaviour:
    """Say some pieces, then nothing more, until the client goes away."""

    async def behave(exchange: Exchange) -> None:
        if pieces:
            await _begin(exchange, pieces)
        await exchange.until_cut()
        exchange.drop()

    return behave


def breaks_off(*pieces: str, is_polite: bool = False) -> Behaviour:
    """Lose the connection before anything was said, or after some pieces.

    Args:
        pieces: Said before.
        is_polite: Whether the connection is closed in order, so that only what was said shows that
            something is missing.
    """

    async def behave(exchange: Exchange) -> None:
        if pieces:
            await _begin(exchange, pieces)
        if is_polite:
            exchange.writer.close()
        else:
            exchange.drop()

    return behave


def writes(data: bytes, *, kind: str = "application/json") -> Behaviour:
    """Answer 200 with these bytes, whatever they are."""

    async def behave(exchange: Exchange) -> None:
        await exchange.head(kind=kind)
        await exchange.write(data)
        exchange.writer.close()

    return behave


def packs(text: str) -> Behaviour:
    """Answer gzip-packed, though nobody asked for it."""

    async def behave(exchange: Exchange) -> None:
        body = exchange.protocol.whole(Said(pieces=(text,)))
        await exchange.whole(gzip.compress(body), Content_Encoding="gzip")

    return behave


def floods(megabytes: int) -> Behaviour:
    """Answer with one enormous string."""

    async def behave(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.write(b'{"choices": [{"message": {"content": "')
        for _ in range(megabytes):
            await exchange.write(b"a" * (1 << 20))
        await exchange.write(b'"}}]}')
        exchange.writer.close()

    return behave


def pours() -> Behaviour:
    """Stream without an end."""

    async def behave(exchange: Exchange) -> None:
        await exchange.head(kind=exchange.protocol.kind)
        piece = next(exchange.protocol.lines(Said(pieces=("and so on " * 100,))))
        try:
            while True:
                await exchange.write(piece)
        except ConnectionError:
            exchange.received.is_cut.set()

    return behave


def drips(seconds: float) -> Behaviour:
    """Send a little now and then, without an end."""

    async def behave(exchange: Exchange) -> None:
        await exchange.head(kind=exchange.protocol.kind)
        piece = next(exchange.protocol.lines(Said(pieces=("a",))))
        try:
            while True:
                await exchange.write(piece if exchange.received.is_streamed else b" ")
                await asyncio.sleep(seconds)
        except ConnectionError:
            exchange.received.is_cut.set()

    return behave


async def _tell(exchange: Exchange, said: Said) -> None:
    if said.counted is HONEST:
        words = sum(len(text.split()) for text in exchange.received.texts)
        said = replace(said, counted=(2 * words, 2 * len(said.text.split())))
    if not exchange.received.is_streamed:
        await exchange.whole(exchange.protocol.whole(said))
        return
    await exchange.head(kind=exchange.protocol.kind)
    for line in exchange.protocol.lines(said):
        await exchange.write(line)
    exchange.writer.close()


async def _begin(exchange: Exchange, pieces: tuple[str, ...]) -> None:
    """Say pieces of an answer that does not end."""
    await exchange.head(kind=exchange.protocol.kind)
    if not exchange.received.is_streamed:
        await exchange.write(json.dumps({"content": "".join(pieces)}).encode()[:-4])
        return
    lines = exchange.protocol.lines(Said(pieces=pieces))
    for _ in pieces:
        await exchange.write(next(lines))
