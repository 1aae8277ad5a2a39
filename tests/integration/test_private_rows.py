"""What is private to one member: every route of the server is asked for it by everybody else."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute, iter_route_contexts
from sqlalchemy import Connection

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import list_actions
from kinkeeper.calendar.repository import list_events
from kinkeeper.household.viewers import Viewer
from kinkeeper.notes.repository import list_notes
from kinkeeper.tasks.repository import list_tasks
from kinkeeper.web.access.model import AccessRole
from page_visits import FREE
from web_server import BROWSER, Served, served

WORD = "zanzibar"
OTHERS = [
    ("sarah", AccessRole.OWNER),
    ("sarah", AccessRole.ADULT),
    ("leo", AccessRole.CHILD),
    ("sarah", AccessRole.GUEST),
    ("john", AccessRole.SCREEN),
    ("sarah", AccessRole.SCREEN),
    ("sarah", AccessRole.BRIDGE),
]
SAID = (
    "remind me on friday at 5 to book the zanzibar flights, just for me",
    "take a private note: zanzibar hotel is Blue Heron",
    "schedule zanzibar planning on friday at 5pm at Zanzibar Travel, keep it private",
    "put the zanzibar injections on thursday at 9 in the calendar, don't tell sarah",
    "cancel the zanzibar injections",
)


@pytest.fixture
def house(tmp_path: Path, database: str | None) -> Iterator[Served]:
    with served(tmp_path, database=database, rates=FREE) as serving:
        asyncio.run(planted(serving))
        yield serving


async def planted(serving: Served) -> None:
    """Let John have what is private to him, done, open and awaiting his yes."""
    async with serving.bearing(serving.token("john")) as client:
        for text in SAID:
            async with client.stream("POST", "/chat", json={"text": text}) as answer:
                assert answer.status_code == 200, await answer.aread()
                told = "".join([part async for part in answer.aiter_text()])
            assert "event: done" in told


def ids_of(serving: Served) -> list[str]:
    household = serving.system.household.id

    def read(conn: Connection) -> list[str]:
        whole = Viewer.whole(household)
        actions = list_actions(
            conn, whole, statuses=frozenset(ActionStatus), now=serving.clock.now()
        )
        rows = [
            each
            for each in (
                *list_tasks(conn, whole),
                *list_notes(conn, whole),
                *list_events(conn, whole),
            )
            if each.scope != "household"
        ]
        assert {each.scope for each in rows} == {"person:john"}
        assert len(rows) == 4
        own = [each for each in actions if each.proposal.scope == "person:john"]
        assert {each.status for each in own} == {ActionStatus.DONE, ActionStatus.PENDING}
        return [each.id for each in (*rows, *own)]

    return serving.context.store.read_now(read)


def addresses(serving: Served, ids: list[str]) -> list[tuple[str, str]]:
    """Return the method and address of every route, with each private id where one is asked for."""
    found = []
    for each in iter_route_contexts(serving.app.routes):
        path = each.path or ""
        if path.startswith(("/static", "/live", "/welcome", "/logout")) or not each.methods:
            continue
        for method in sorted(set(each.methods) & {"GET"}):
            filled = [re.sub(r"{[^}]*}", one, path) for one in ids] if "{" in path else [path]
            found += [(method, one) for one in dict.fromkeys(filled)]
    return found


SEARCHES: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/brain/query?q=when+is+zanzibar&context=page&format=json", {}),
    ("GET", "/api/memory/search?query=zanzibar", {}),
    ("POST", "/api/memory/search", {"query": "zanzibar", "types": ["fact", "episode", "event"]}),
    ("GET", "/api/context/inject?query=zanzibar&format=json", {}),
    ("GET", "/api/events?from=2026-03-01&to=2026-04-30", {}),
    ("GET", "/api/events?member=john", {}),
    ("GET", "/api/tasks?status=all", {}),
    ("GET", "/api/tasks?query=zanzibar", {}),
    ("GET", "/calendar?span=month", {}),
    ("GET", "/api/pending?status=pending&status=done&status=rejected", {}),
    ("GET", "/memory?q=zanzibar", {}),
]


@pytest.mark.parametrize(("member", "role"), OTHERS)
def test_no_route_tells_others(house: Served, member: str, role: AccessRole) -> None:
    ids = ids_of(house)
    known = re.compile(
        r"[?&](?:q|query)=[^&\s\"<]*zanzibar[^&\s\"<]*|value=\"zanzibar\"", re.IGNORECASE
    )

    async def story() -> None:
        is_program = role is AccessRole.ADULT
        async with house.bearing(house.token(member, role, is_program=is_program)) as client:
            wanted = [(method, path, {}) for method, path in addresses(house, ids)]
            seen = 0
            for method, path, body in [*wanted, *SEARCHES]:
                answer = await client.request(method, path, json=body or None)
                seen += answer.status_code == 200
                if "zanzibar" not in path or role is AccessRole.BRIDGE:
                    assert WORD not in answer.text.lower(), (method, path, answer.text)
                else:
                    text = known.sub("", answer.text).lower()
                    for word in ("blue heron", "injections", "flights", "travel"):
                        assert word not in text, (method, path, answer.text)
            assert seen > (0 if role is AccessRole.BRIDGE else 5)

    asyncio.run(story())


@pytest.mark.parametrize(
    ("member", "role"), [("sarah", AccessRole.OWNER), ("leo", AccessRole.CHILD)]
)
def test_no_page_tells_others_in_a_browser(house: Served, member: str, role: AccessRole) -> None:
    ids = ids_of(house)

    async def story() -> None:
        async with house.client(headers=BROWSER) as client:
            await house.log_in(client, member, role)
            for method, path in addresses(house, ids):
                answer = await client.request(method, path)
                assert WORD not in answer.text.lower(), (path, answer.text)

    asyncio.run(story())


@pytest.mark.parametrize(
    "questions",
    [
        (
            "what's on this week?",
            "what does john have on friday?",
            "what is on my list?",
            "show me all tasks",
            "show me the notes",
            "find notes about hotels",
            "what needs approval?",
            "what did you do today?",
        ),
        (
            "is john free on friday at 5pm?",
            "add tea with john on friday at 5pm",
            "cancel something private",
            "when do john and i have time on friday?",
            "what clashes on friday?",
        ),
    ],
)
@pytest.mark.parametrize("member", ["sarah", "leo"])
def test_no_answer_tells_others(house: Served, member: str, questions: tuple[str, ...]) -> None:
    async def story() -> None:
        role = AccessRole.CHILD if member == "leo" else AccessRole.OWNER
        async with house.bearing(house.token(member, role)) as client:
            for text in questions:
                async with client.stream("POST", "/chat", json={"text": text}) as answer:
                    told = "".join([part async for part in answer.aiter_text()])
                assert "event: done" in told
                assert WORD not in told.lower(), (text, told)

    asyncio.run(story())


def test_others_can_neither_decide_nor_take_back_nor_change(house: Served) -> None:
    ids = ids_of(house)

    async def story() -> None:
        async with house.bearing(house.token("sarah")) as client:
            for one in ids:
                for path, body in (
                    (f"/api/pending/{one}/confirm", {}),
                    (f"/api/pending/{one}/reject", {}),
                    (f"/api/pending/{one}/feedback", {"reason": "not_a_plan"}),
                    (f"/api/actions/{one}/undo", {}),
                    (f"/api/tasks/{one}/complete", {}),
                    (f"/tasks/{one}/done", {}),
                    (f"/notes/{one}/delete", {}),
                ):
                    answer = await client.post(path, json=body)
                    assert answer.status_code >= 400, (path, answer.text)
                    assert WORD not in answer.text.lower(), (path, answer.text)
                for method in ("PATCH", "DELETE"):
                    answer = await client.request(method, f"/api/tasks/{one}", json={"title": "x"})
                    assert answer.status_code >= 400, answer.text

    asyncio.run(story())


def test_their_owner_sees_them_everywhere(house: Served) -> None:
    async def story() -> None:
        async with house.bearing(house.token("john")) as client:
            for path in (
                "/tasks",
                "/calendar",
                "/api/tasks",
                "/api/events",
                "/pending",
                "/api/pending",
            ):
                answer = await client.get(path)
                assert WORD in answer.text.lower(), path
            assert (await feed(client, is_own=True)).lower().count(WORD) >= 2
            assert WORD not in (await feed(client, is_own=False)).lower()
        async with house.bearing(house.token("sarah")) as client:
            assert WORD not in (await feed(client, is_own=True)).lower()
            busy = await client.get("/api/events?member=john")
            assert "something private" in busy.text

    asyncio.run(story())


async def feed(client: httpx.AsyncClient, *, is_own: bool) -> str:
    made = (await client.post("/api/feeds", json={"is_own": is_own})).json()
    return (await client.get(made["address"].split("8765", 1)[-1])).text


ALLOWED = {
    AccessRole.CHILD: {
        "/",
        "/calendar",
        "/tasks",
        "/pending",
        "/health",
        "/silence",
        "/api/pending",
        "/api/metrics",
    },
    AccessRole.GUEST: {"/", "/calendar", "/tasks"},
    AccessRole.SCREEN: {"/", "/calendar"},
}


@pytest.mark.parametrize("role", ALLOWED)
def test_each_role_sees_the_pages_that_are_its(house: Served, role: AccessRole) -> None:
    async def story() -> None:
        pages = sorted(set().union(*ALLOWED.values()))
        async with house.bearing(house.token("leo", role)) as client:
            found = {path for path in pages if (await client.get(path)).status_code == 200}
        assert found == ALLOWED[role]

    asyncio.run(story())


def test_a_guest_sees_the_coming_days_and_what_is_theirs_to_do(house: Served) -> None:
    """Of the calendar today and seven days, of tasks those that are given to them, no notes."""

    async def story() -> None:
        async with house.bearing(house.token("john")) as john:
            for summary, day in (("Choir soon", "2026-03-06"), ("Choir later", "2026-03-20")):
                start = f"{day}T18:00:00"
                made = await john.post("/api/events", json={"summary": summary, "start": start})
                assert made.status_code == 201, made.text
            for title, who in (("Feed the hens", ["leo"]), ("Pay the plumber", ["john"])):
                await john.post("/api/tasks", json={"title": title, "who": who})
            await john.post("/notes/add", data={"title": "Codes", "body": "gate 4411"})
        async with house.bearing(house.token("leo", AccessRole.GUEST)) as guest:
            listed = (await guest.get("/api/events?from=2026-03-01&to=2026-04-30")).text
            assert "Choir soon" in listed
            assert "Choir later" not in listed
            assert "something private" not in listed
            for path in ("/calendar?span=month", "/calendar?on=2026-03-20", "/"):
                assert "Choir later" not in (await guest.get(path)).text
            tasks = (await guest.get("/tasks")).text
            assert "Feed the hens" in tasks
            assert "Pay the plumber" not in tasks
            assert "4411" not in tasks

    asyncio.run(story())


def test_every_route_is_one_of_the_application(house: Served) -> None:
    """The routes asked above are those that exist: a new one is asked, too."""
    asked = {path for _, path in addresses(house, ["x"])}
    known = {
        re.sub(r"{[^}]*}", "x", route.path)
        for route in house.app.routes
        if isinstance(route, APIRoute) and "GET" in (route.methods or ())
    }
    assert {path for path in known if not path.startswith(("/welcome", "/live"))} <= asked
