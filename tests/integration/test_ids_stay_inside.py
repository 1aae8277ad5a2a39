"""Ids that are unlike names: no reading route, page, answer or export shows one where people read."""

import asyncio
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts
from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import list_actions
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.calendar.ics import export_ics
from kinkeeper.calendar.repository import list_all_overrides, list_events
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.memory_export import Exported, exported_lines
from kinkeeper.notes.repository import list_notes
from kinkeeper.tasks.repository import list_tasks
from live_household import MONDAY, said
from page_visits import FREE
from web_server import BROWSER, Served, served

MARK = "zqx-"
OF_PEOPLE = {each: f"{MARK}{number}" for number, each in enumerate(("john", "sarah", "leo", "mia"))}
OF_PLACES = {
    each: f"{MARK}p{number}"
    for number, each in enumerate(("westside-park", "madison-dance", "ymca", "school"))
}
FOR_PROGRAMS = frozenset({
    "id", "event_id", "member", "who", "responsible", "place_id", "scope", "subject", "claimed_by", "asked",
    "assigned_to", "child", "confirmed_by", "decided_by", "undone_by", "sender", "owner", "key", "value",
    "source", "participants", "by", "asked_by", "made_by", "effects", "payload",
})  # fmt: skip
"""Fields whose values programs refer to: ids by what they are."""

TOLD = (
    "I'm allergic to buckwheat",
    "Mia plays the cello",
    "remind me on friday at 5 to ring the plumber",
    "remember that the compost goes out on Fridays",
    "take a note: the gate code is behind the clock",
    "add tea with Sarah at Westside Park on Friday at 5pm",
    "cancel ballet on Wednesday",
)
ASKED = (
    "what's on this week?",
    "where is soccer?",
    "who plays the cello?",
    "who is in charge of soccer?",
    "what needs approval?",
    "what did you do today?",
    "what do you know about me?",
    "when is Mia free?",
    "who said that about buckwheat?",
)
SEARCHES = (
    "/api/memory/search?query=buckwheat",
    "/api/memory/search?query=cello",
    "/memory?q=cello",
    "/brain/query?q=who+plays+the+cello&context=page&format=json",
    "/api/context/inject?query=cello&format=json",
    "/api/context/inject?query=cello&format=markdown",
    "/api/events?from=2026-03-01&to=2026-04-30&waiting=true",
    "/calendar?span=month",
    "/api/tasks?status=all",
    "/api/pending?status=pending&status=done",
    "/memory/export?what=episodes",
)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, renamed=OF_PEOPLE | OF_PLACES, rates=FREE) as serving:
        asyncio.run(lived(serving))
        yield serving


async def lived(serving: Served) -> None:
    """Let the family say and hear some things."""
    system = serving.system
    replay = system.replay(MONDAY)
    async for _ in replay.feed(said(1, OF_PEOPLE["sarah"], "Leo has a recital on Thursday at 6pm")):
        pass
    async with serving.bearing(serving.token(OF_PEOPLE["john"])) as client:
        for text in TOLD:
            assert "event: done" in (await client.post("/chat", json={"text": text})).text
    reading = reading_of(system.household, system.store, serving.clock)
    while await reading.run_once():
        pass


def ids_of(serving: Served) -> list[str]:
    john = Viewer.of(serving.system.household.id, OF_PEOPLE["john"])
    now = serving.clock.now()

    def read(conn: Connection) -> list[str]:
        kept = (
            list_tasks(conn, john),
            list_notes(conn, john),
            list_events(conn, john),
            list_facts(conn, john, now=now),
            list_actions(conn, john, statuses=frozenset(ActionStatus), now=now),
        )
        assert [len(each) > 0 for each in kept] == [True] * len(kept)
        return [each.id for some in kept for each in some]

    return serving.context.store.read_now(read)


def addresses(serving: Served) -> list[str]:
    """Return the address of every route that reads, with each id where one is asked for."""
    ids, found = ids_of(serving), []
    for each in iter_route_contexts(serving.app.routes):
        path = each.path or ""
        if "GET" in (each.methods or ()) and not path.startswith(("/static", "/live", "/welcome")):
            found += [re.sub(r"{[^}]*}", one, path) for one in ids] if "{" in path else [path]
    return [*dict.fromkeys(found), *SEARCHES]


def shown(value: Any, field: str = "") -> Iterator[str]:
    """Yield the texts of a JSON value that people read, each with its field."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from () if name in FOR_PROGRAMS else shown(each, f"{field}.{name}")
    elif isinstance(value, list):
        for each in value:
            yield from shown(each, field)
    elif isinstance(value, str):
        yield f"{field}: {value}"


def read_by_people(kind: str, text: str) -> list[str]:
    """Return the lines of an answer that people read."""
    if "html" in kind:
        plain = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", "\n", text, flags=re.DOTALL)
        return html.unescape(plain).splitlines()
    if "json" in kind:
        lines = text.splitlines() if "ndjson" in kind else [text]
        return [each for line in lines for each in shown(json.loads(line))]
    if "event-stream" in kind:
        data = [
            line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")
        ]
        return [each for line in data for each in shown(json.loads(line))]
    return [each for each in text.splitlines() if not each.startswith(("X-KINKEEPER", "UID"))]


def test_no_route_shows_an_id(house: Served) -> None:
    found: set[tuple[str, str]] = set()
    read = 0

    async def story() -> None:
        nonlocal read
        token = house.token(OF_PEOPLE["john"])
        async with house.bearing(token) as client, house.client(headers=BROWSER) as browser:
            await house.log_in(browser, OF_PEOPLE["john"])
            answers = [
                (path, await one.get(path))
                for path in addresses(house)
                for one in (client, browser)
            ]
            answers += [(text, await client.post("/chat", json={"text": text})) for text in ASKED]
        for path, answer in answers:
            if answer.status_code == 200:
                read += 1
                lines = read_by_people(answer.headers.get("content-type", ""), answer.text)
                found.update(
                    (f"{path.partition('?')[0]}", line.strip()) for line in lines if MARK in line
                )

    asyncio.run(story())
    assert not found
    assert read > len(SEARCHES) + len(ASKED)


def test_no_export_shows_an_id(house: Served) -> None:
    household = house.system.household

    def written(conn: Connection) -> list[str]:
        whole = Viewer.whole(household.id)
        calendar = export_ics(
            list_events(conn, whole),
            list_all_overrides(conn, household.id),
            name="x",
            places=household.place_names,
        )
        lines = [
            line
            for what in Exported
            for line in exported_lines(conn, household.id, what, names=household.names)
        ]
        assert "LOCATION:Westside Park" in calendar.decode()
        return [
            *read_by_people("text/calendar", calendar.decode()),
            *read_by_people("application/x-ndjson", "".join(lines)),
        ]

    lines = house.context.store.read_now(written)
    assert [line for line in lines if MARK in line] == []
