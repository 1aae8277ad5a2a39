"""Whatever a person writes, and by whatever route, is kept from those from whom its words ask to keep it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import count, product
from pathlib import Path
from typing import Any

import httpx
import pytest

from kinkeeper.web.access.model import AccessRole
from page_visits import FREE
from remembered import fact_about, remember
from web_server import Served, served

WISHES = {
    "leo": (
        "{} pickup for Leo (he must not know)", "buy the {} for Leo, he must not find out", "{} for Leo, don't let him see this",
        "the {} is Leo's present, hes not to know", "collect leo's {}, its his birthday present",
    ),
    "mia": ("{} riding for Mia, surprise!", "hide mia's {} before she gets home"),
    "everybody": ("just for me: {} lesson", "{} on Friday, keep it secret", "{} at nine, dont tell anyone"),
}  # fmt: skip
OPEN = ("{} for Leo", "{} lesson for Mia at nine", "call the {} man about the roof")
MEMBERS = ("john", "leo", "mia")
PLACES = (
    "/api/events", "/api/tasks?who=", "/api/pending", "/api/context/inject", "/tasks", "/calendar", "/memory", "/memory/export",
    "/memory/heard", "/pending", "/digest", "/", "/calendar.ics",
)  # fmt: skip
Write = Callable[[httpx.AsyncClient, Served, str], Awaitable[httpx.Response]]


async def _add_event(client: httpx.AsyncClient, _: Served, text: str) -> httpx.Response:
    wish = {"summary": text, "start": f"2026-03-0{2 + next(_DAYS) % 7}T16:30:00"}
    return await client.post("/api/events", json=wish)


_DAYS = count()


async def _place(client: httpx.AsyncClient, _: Served, text: str) -> httpx.Response:
    wish = {"summary": "Errand", "location": text, "start": "2026-03-05T16:30:00"}
    return await client.post("/api/events", json=wish)


async def _add_task(client: httpx.AsyncClient, _: Served, text: str) -> httpx.Response:
    return await client.post("/api/tasks", json={"title": text})


async def _told_in_a_task(client: httpx.AsyncClient, _: Served, text: str) -> httpx.Response:
    return await client.post("/api/tasks", json={"title": "Go shopping", "description": text})


def _change(name: str) -> Write:
    async def change(client: httpx.AsyncClient, _: Served, text: str) -> httpx.Response:
        made = await client.post("/api/tasks", json={"title": f"Errand {next(_DAYS)}"})
        return await client.patch(f"/api/tasks/{made.json()['task']['id']}", json={name: text})

    return change


async def _edit_fact(client: httpx.AsyncClient, serving: Served, text: str) -> httpx.Response:
    at = f"Counter {next(_DAYS)}"
    remember(serving, "sarah", f"The bakery closes at six at {at}")
    fact = fact_about(serving, at).id
    return await client.patch(f"/api/facts/{fact}", json={"narrative": f"{at}: {text}"})


async def _edit_others_fact(
    client: httpx.AsyncClient, serving: Served, text: str
) -> httpx.Response:
    at = f"Window {next(_DAYS)}"
    remember(serving, "john", f"The kiosk closes at six at {at}")
    fact = fact_about(serving, at).id
    return await client.patch(f"/api/facts/{fact}", json={"narrative": f"{at}: {text}"})


async def _append(client: httpx.AsyncClient, _: Served, text: str) -> httpx.Response:
    said = {"thread": f"n{next(_DAYS)}", "text": f"note: {text}"}
    return await client.post("/chat", json=said)


async def _chat(client: httpx.AsyncClient, _: Served, text: str) -> httpx.Response:
    said = {"thread": f"c{next(_DAYS)}", "text": f"task: {text}"}
    return await client.post("/chat", json=said)


ROUTES: dict[str, Write] = {
    "POST /api/events": _add_event, "POST /api/events, place": _place, "POST /api/tasks": _add_task,
    "POST /api/tasks, description": _told_in_a_task, "PATCH /api/tasks, title": _change("title"),
    "PATCH /api/tasks, description": _change("description"), "PATCH /api/facts": _edit_fact,
    "PATCH /api/facts of another": _edit_others_fact, "POST /chat, note": _append, "POST /chat, task": _chat,
}  # fmt: skip


def words() -> Iterator[str]:
    """Yield words that nothing else has."""
    parts = ("kumquat", "zither", "quokka", "bassoon", "trellis", "gecko", "ocarina", "pashmina")
    for number in count():
        yield parts[number % len(parts)] + "".join(
            chr(ord("a") + int(digit)) for digit in f"{number:03}"
        )


async def shown(client: httpx.AsyncClient) -> str:
    pages = [await client.get(place) for place in PLACES]
    return "\n".join(each.text for each in pages if each.status_code == 200).lower()


def test_no_route_shows_words_to_those_from_whom_they_are_to_be_kept(tmp_path: Path) -> None:
    async def steps() -> None:
        with served(tmp_path, rates=FREE) as serving:
            new, told = words(), []
            async with serving.bearing(serving.token("sarah")) as sarah:
                for (route, write), (kept, forms) in product(ROUTES.items(), WISHES.items()):
                    for form in forms:
                        word = next(new)
                        answer = await write(sarah, serving, form.format(word))
                        assert answer.status_code < 300, (route, answer.text)
                        told.append((route, form, word, kept))
                for (route, write), form in product(ROUTES.items(), OPEN):
                    word = next(new)
                    answer = await write(sarah, serving, form.format(word))
                    told.append((route, form, word, ""))
                own = await shown(sarah)
            seen = {}
            for who in MEMBERS:
                role = AccessRole.OWNER if who == "john" else AccessRole.CHILD
                async with serving.bearing(serving.token(who, role)) as client:
                    seen[who] = await shown(client)
            leaks = [
                (route, form, who)
                for route, form, word, kept in told
                for who in MEMBERS
                if kept in {who, "everybody"} and word in seen[who]
            ]
            lost = [(route, form) for route, form, word, _ in told if word not in own]
            hidden = [
                (route, form)
                for route, form, word, kept in told
                if kept == "" and word not in seen["john"]
            ]
            assert leaks == []
            assert lost == []
            assert hidden == []

    asyncio.run(steps())
