"""Whatever a person writes, and by whatever route, is kept from those from whom its words ask to keep it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from http import HTTPStatus
from itertools import count
from pathlib import Path

import httpx
import pytest

from kinkeeper.memory.invariants import check
from kinkeeper.web.access.model import AccessRole
from page_visits import FREE
from remembered import fact_about, remember
from talking import Script, on_a_loop, talking, wants
from web_server import Served, served

WISHES = {
    "leo": (
        "{} pickup for Leo (he must not know)",
        "buy the {} for Leo, he must not find out",
        "{} for Leo, don't let him see this",
        "the {} is Leo's present, hes not to know",
        "collect leo's {}, its his birthday present",
    ),
    "mia": ("{} riding for Mia, surprise!", "hide mia's {} before she gets home"),
    "everybody": (
        "just for me: {} lesson",
        "{} on Friday, keep it secret",
        "{} at nine, dont tell anyone",
    ),
    "nobody": ("{} for Leo", "{} lesson for Mia at nine", "call the {} man about the roof"),
}
FORMS = [(kept, form) for kept, forms in WISHES.items() for form in forms]
ROLES = {
    "sarah": AccessRole.OWNER,
    "john": AccessRole.OWNER,
    "leo": AccessRole.CHILD,
    "mia": AccessRole.CHILD,
    "screen": AccessRole.SCREEN,
}
PLACES = (
    "/api/events?from=2026-03-01&to=2026-03-20",
    "/api/tasks",
    "/api/pending",
    "/api/context/inject",
    "/tasks",
    "/calendar?day=2026-03-04",
    "/memory",
    "/memory/export",
    "/memory/heard",
    "/pending",
    "/digest",
    "/",
)
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
    "POST /api/events": _add_event,
    "POST /api/events, place": _place,
    "POST /api/tasks": _add_task,
    "POST /api/tasks, description": _told_in_a_task,
    "PATCH /api/tasks, title": _change("title"),
    "PATCH /api/tasks, description": _change("description"),
    "PATCH /api/facts": _edit_fact,
    "PATCH /api/facts of another": _edit_others_fact,
    "POST /chat, note": _append,
    "POST /chat, task": _chat,
}


def words() -> Iterator[str]:
    """Yield words that nothing else has."""
    parts = ("kumquat", "zither", "quokka", "bassoon", "trellis", "gecko", "ocarina", "pashmina")
    for number in count():
        yield parts[number % len(parts)] + "".join(
            chr(ord("a") + int(digit)) for digit in f"{number:03}"
        )


async def shown(serving: Served, who: str) -> str:
    """Return all that the pages and the API show to somebody."""
    member = "sarah" if who == "screen" else who
    async with serving.bearing(serving.token(member, ROLES[who])) as client:
        pages = [await client.get(place) for place in PLACES]
    return "\n".join(each.text for each in pages if each.status_code == HTTPStatus.OK).lower()


@pytest.mark.parametrize("route", ROUTES)
def test_no_route_shows_words_to_those_from_whom_they_are_to_be_kept(
    tmp_path: Path, route: str
) -> None:
    async def steps() -> None:
        with served(tmp_path, rates=FREE) as serving:
            said = list(zip(FORMS, words(), strict=False))
            async with serving.bearing(serving.token("sarah")) as sarah:
                for (_, form), word in said:
                    answer = await ROUTES[route](sarah, serving, form.format(word))
                    assert answer.status_code < HTTPStatus.MULTIPLE_CHOICES, answer.text
            seen = {who: await shown(serving, who) for who in ROLES}
            for (kept, form), word in said:
                hidden = {"everybody": {*ROLES} - {"sarah"}, "nobody": set()}.get(
                    kept, {kept, "screen"}
                )
                shown_to = {who for who in ROLES if word in seen[who]}
                assert not shown_to & hidden, form
                assert {"sarah", "john"} - hidden <= shown_to, form

    asyncio.run(steps())


def test_an_edit_shows_nothing_to_more_people(tmp_path: Path) -> None:
    async def steps() -> None:
        with served(tmp_path, rates=FREE) as serving:
            async with serving.bearing(serving.token("sarah")) as sarah:
                made = await sarah.post("/api/tasks", json={"title": "Errand", "private": True})
                path = f"/api/tasks/{made.json()['task']['id']}"
                wish = {"title": "fetch the kumquat, don't tell Leo"}
                changed = await sarah.patch(path, json=wish)
                assert changed.json()["task"]["private"]
            seen = {who for who in ROLES if "kumquat" in await shown(serving, who)}
            assert seen == {"sarah"}

    asyncio.run(steps())


def test_a_corrected_fact_that_is_kept_from_some_is_taken_back_as_a_whole(tmp_path: Path) -> None:
    async def steps() -> None:
        with served(tmp_path, rates=FREE) as serving:
            remember(serving, "john", "The bakery closes at six")
            fact = fact_about(serving, "bakery").id
            async with serving.bearing(serving.token("sarah")) as sarah:
                wish = {"narrative": "The bakery makes Leo's kumquat cake, don't tell Leo"}
                told = (await sarah.patch(f"/api/facts/{fact}", json=wish)).json()
                assert {who for who in ROLES if "kumquat" in await shown(serving, who)} == {
                    "sarah",
                    "john",
                    "mia",
                }
                household = serving.system.household.id
                assert serving.context.store.read_now(lambda conn: check(conn, household)) == []
                undone = await sarah.post(f"/api/actions/{told['action']['id']}/undo")
                assert undone.status_code == HTTPStatus.OK, undone.text
                assert serving.context.store.read_now(lambda conn: check(conn, household)) == []
            for who in ROLES:
                seen = await shown(serving, who)
                assert "the bakery closes at six" in seen, who
                assert who != "leo" or "kumquat" not in seen

    asyncio.run(steps())


@on_a_loop
async def test_no_line_of_a_list_that_others_read_becomes_a_secret(tmp_path: Path) -> None:
    line = wants(
        "notes",
        "change_line",
        title="shopping list",
        line="milk",
        new="kumquat, it's Leo's present",
    )
    milk = wants("notes", "append", title="shopping list", body="milk")
    script = Script({"milk please": (milk,), "make it the kumquat": (line,)})
    async with talking(tmp_path, script) as talk:
        await talk.answer("milk please", thread_id="t")
        answer = await talk.answer("make it the kumquat", thread_id="t")
        assert "others can see that list" in answer
