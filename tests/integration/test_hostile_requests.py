"""Every route, every kind of login, texts that nobody writes: no error of ours, and nobody else has to wait.

Made from the application's own table of routes: a new one is tried without a line here.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from time import thread_time
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi import params
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import TypeAdapter

from kinkeeper.web.access.model import AccessRole
from page_visits import FREE
from repeated_texts import LONGEST, TOKENS, repeated
from web_server import Served, served

pytestmark = pytest.mark.slow

LONGEST_HOLD = 0.25  # of processor time of the event loop's thread
LONGEST_QUERY = 60_000  # as it is sent
HOSTILE = {
    name: repeated(TOKENS[name], LONGEST)
    for name in (
        "joined emoji",
        "next week",
        "brackets",
        "digits",
        "right to left",
        "controls",
        "jobs",
    )
}
LOGINS: Mapping[str, AccessRole | None] = {
    "none": None,
    "program": AccessRole.ADULT,
    **{role.value: role for role in AccessRole},
}
BODIES: Mapping[str, Any] = {
    "/observe": {
        "chat_id": "family", "message_id": "m1", "sender": "sarah", "text": "hello",
        "sent_at": "2026-03-02T09:00:00-06:00",
    },
    "/mcp": {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "remember", "arguments": {"text": "hello"}},
    },
    "/telegram/webhook": {"update_id": 1, "message": {"message_id": 1, "date": 1, "text": "hello"}},
}  # fmt: skip
"""Of routes that read their bodies themselves; "hello" is where the text goes."""
FORMATS = {
    "date": "2026-03-07",
    "date-time": "2026-03-07T10:00:00-06:00",
    "time": "10:00:00",
    "duration": "PT2H",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


@dataclass(frozen=True, kw_only=True)
class Way:
    """One route by one method, and what it takes."""

    path: str
    method: str
    queries: tuple[str, ...] = ()
    is_form: bool = False
    body: Mapping[str, Any] | None = None

    def request(self, text: str, number: int) -> dict[str, Any]:
        """Return a request with the text wherever one is taken."""
        within = text[: LONGEST_QUERY // max(1, len(self.queries)) // max(map(_sent_length, text))]
        short = quote(text[:500], safe="")
        address = self.path
        for name in (part for part in self.path.split("/") if part.startswith("{")):
            address = address.replace(name, short)
        made: dict[str, Any] = {"method": self.method, "url": address}
        if self.queries:
            made["params"] = dict.fromkeys(self.queries, within)
        if self.method in {"GET", "DELETE"} and self.body is None:
            return made
        if self.path in BODIES:
            return made | {"json": _placed(BODIES[self.path], text, number)}
        if self.body is None:
            return made | {"content": text.encode("utf-8", "replace")}
        filled = _filled(self.body, text, {})
        return made | ({"data": filled} if self.is_form else {"json": filled})


def _sent_length(letter: str) -> int:
    return len(quote(letter, safe="", errors="replace"))


def _placed(value: Any, text: str, number: int) -> Any:
    if isinstance(value, dict):
        return {key: _placed(each, text, number) for key, each in value.items()}
    return (
        {"hello": text, "m1": f"m{number}"}.get(value, value) if isinstance(value, str) else value
    )


def _filled(schema: Mapping[str, Any], text: str, known: Mapping[str, Any]) -> Any:
    """Return a value that a schema takes, with the text wherever it takes a text."""
    known = schema.get("$defs", known)
    if "$ref" in schema:
        return _filled(known[schema["$ref"].rpartition("/")[2]], text, known)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            some = [each for each in schema[key] if each.get("type") != "null"]
            return _filled(some[0], text, known)
    match schema.get("type"):
        case "object":
            return {
                name: _filled(each, text, known)
                for name, each in schema.get("properties", {}).items()
            }
        case "array":
            return [_filled(schema.get("items", {}), text, known)]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case _:
            return FORMATS.get(schema.get("format", ""), text[: schema.get("maxLength", LONGEST)])


def ways(house: Served) -> Iterator[Way]:
    for each in iter_route_contexts(house.app.routes):
        route = each.original_route
        for method in sorted(each.methods or ()):
            if each.path is None or method == "HEAD":
                continue
            make = partial(Way, path=each.path.replace(":path", ""), method=method)
            if not isinstance(route, APIRoute):
                yield make()
                continue
            whole = [*_all(route.dependant)]
            fields = [one for part in whole for one in part.body_params]
            queries = tuple(one.alias for part in whole for one in part.query_params)
            is_form = any(isinstance(one.field_info, params.Form) for one in fields)
            schemas = {one.alias: _schema(one.field_info.annotation) for one in fields}
            body: Mapping[str, Any] | None = {"type": "object", "properties": schemas}
            if len(schemas) == 1 and not is_form:
                (body,) = schemas.values()
            yield make(queries=queries, is_form=is_form, body=body if schemas else None)


def _all(dependant: Any) -> Iterator[Any]:
    """Yield what a route depends on, itself included."""
    yield dependant
    for each in dependant.dependencies:
        yield from _all(each)


def _schema(annotation: Any) -> Mapping[str, Any]:
    try:
        return TypeAdapter(annotation).json_schema()
    except Exception:  # noqa: BLE001 - a request or a file as such: whatever stands there
        return {}


class TakesUpdates:
    """A chat service's webhook."""

    def is_genuine(self, secret: str | None) -> bool:
        return True

    async def receive(self, body: bytes) -> None:
        return


@dataclass
class Watch:
    """How long the event loop's thread was busy in one go, at most, since it was asked last."""

    longest: float = 0.0
    _task: asyncio.Task[None] | None = field(default=None)

    async def run(self) -> None:
        before = thread_time()
        while True:
            await asyncio.sleep(0.001)
            now = thread_time()
            self.longest, before = max(self.longest, now - before), now


def test_the_table_of_routes_is_read_with_what_they_take(tmp_path: Path) -> None:
    with served(tmp_path, webhook=TakesUpdates()) as house:
        found = list(ways(house))
    assert len(found) > 80
    assert sum(each.body is not None for each in found) > 30
    assert sum(bool(each.queries) for each in found) > 15
    chat = next(each for each in found if each.path == "/chat" and each.method == "POST")
    assert len(str(chat.request(HOSTILE["digits"], 1))) >= LONGEST


@pytest.mark.nightly
def test_no_request_of_anybody_breaks_or_holds_up_the_server(tmp_path: Path) -> None:
    problems: list[Any] = []
    streams: set[str] = set()
    numbers, watch = count(), Watch()

    async def ask(client: httpx.AsyncClient, way: Way, name: str) -> int | None:
        watch.longest = 0.0
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                request = way.request(HOSTILE[name], next(numbers))
                return (await client.request(**request)).status_code
        streams.add(way.path)
        return None

    async def tried(client: httpx.AsyncClient, way: Way, name: str) -> int | None:
        status, hold = await ask(client, way, name), watch.longest
        if hold > LONGEST_HOLD:  # what is loaded once does not count
            status = await ask(client, way, name)
            hold = min(hold, watch.longest)
        if (status or 0) >= 500 or hold > LONGEST_HOLD:
            problems.append((way.method, way.path, name, status, round(hold, 2)))
        return status

    async def story(house: Served) -> dict[str, list[int | None]]:
        watching = asyncio.get_running_loop().create_task(watch.run())
        found, names, told = list(ways(house)), list(HOSTILE), {}
        for place, (login, role) in enumerate(LOGINS.items()):
            client = house.client()
            if role is not None:
                token = house.token("john", role, is_program=login == "program")
                client = house.bearing(token)
            async with client:
                told[login] = [
                    await tried(client, way, names[(number + place) % len(names)])
                    for number, way in enumerate(found)
                    if way.path not in streams
                ]
        watching.cancel()
        return told

    with served(tmp_path, webhook=TakesUpdates(), rates=FREE) as house:
        told = asyncio.run(story(house))
    assert problems == []
    assert len(streams) < 6, streams
    for login in ("owner", "adult"):
        assert sum(status in {200, 201, 202} for status in told[login]) > 5
