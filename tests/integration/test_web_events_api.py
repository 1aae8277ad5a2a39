"""The calendar over HTTP: read, added to, imported, and given to calendar programs."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from icalendar import Calendar
from sqlalchemy import select

from kinkeeper.actions.proposals import propose
from kinkeeper.calendar.repository import list_events
from kinkeeper.household.viewers import Viewer
from kinkeeper.web.access.logins import access_keys
from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.security.browser_protection import csrf_token
from pending_samples import adding, event, proposal
from web_server import Served, served

Steps = Callable[[httpx.AsyncClient], Awaitable[None]]
GAME = {
    "summary": "Chess game",
    "start": "2026-03-07T10:00:00",
    "who": ["leo"],
    "location": "Town hall",
}
FILE = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n"
    "BEGIN:VEVENT\r\nUID:one@x\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Science fair\r\n"
    "DTSTART:20260310T150000Z\r\nDTEND:20260310T170000Z\r\nEND:VEVENT\r\n"
    "BEGIN:VEVENT\r\nUID:two@x\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Broken\r\n"
    "DTSTART:2026031\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as serving:
        yield serving


def as_member(house: Served, steps: Steps, role: AccessRole = AccessRole.OWNER) -> None:
    async def run() -> None:
        async with house.bearing(house.token("john", role)) as client:
            await steps(client)

    asyncio.run(run())


def count(house: Served) -> int:
    here = house.system.household.id
    return len(house.system.store.read_now(lambda conn: list_events(conn, Viewer.whole(here))))


async def listed(client: httpx.AsyncClient, **query: str) -> list[dict[str, Any]]:
    answer = await client.get("/api/events", params=query)
    assert answer.status_code == 200, answer.text
    events: list[dict[str, Any]] = answer.json()["events"]
    return events


def test_an_open_card_is_listed_as_not_confirmed_and_the_brain_says_so(house: Served) -> None:
    here, now = house.system.household, house.clock.now()
    fair = event(
        "fair",
        household_id=here.id,
        summary="Book fair",
        who=("leo",),
        start=now.replace(hour=16, minute=0) + timedelta(days=1),
    )
    card = proposal(household=here.id, effects=adding(fair))
    action = house.system.store.write_now(
        lambda conn: propose(conn, card, household=here, now=now)
    ).action.id

    async def steps(client: httpx.AsyncClient) -> None:
        every = await listed(client, waiting="true")
        (found,) = [each for each in every if each["summary"] == "Book fair"]
        assert (found["confirmed"], found["waiting"][0]["action_id"]) == (False, action)
        assert [each for each in every if each != found] == await listed(client)
        known = (await client.get("/brain/query", params={"q": "when is the book fair"})).json()
        assert "not confirmed yet" in known["answer"]
        assert [each["confirmed"] for each in known["extracted_events"]] == [False]

    as_member(house, steps)


def test_what_somebody_adds_is_there_at_once_and_can_be_taken_back(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        day = {"from": "2026-03-07", "to": "2026-03-07"}
        before = await listed(client, **day)
        told = await client.post("/api/events", json=GAME)
        assert told.status_code == 201, told.text
        action = told.json()["action"]
        assert (told.json()["outcome"], action["origin"]) == ("done", "said")
        found = [each for each in await listed(client, **day) if each["summary"] == "Chess game"]
        assert [(each["start"], each["end"]) for each in found] == [
            ("2026-03-07T10:00:00-06:00", "2026-03-07T11:00:00-06:00")
        ]
        assert (found[0]["confirmed_by"], found[0]["action_id"]) == ("john", action["id"])
        assert found[0] in await listed(client, **day, member="leo")
        assert found[0] not in await listed(client, **day, member="sarah")
        await client.post(f"/api/actions/{action['id']}/undo")
        assert await listed(client, **day) == before

    as_member(house, steps)


def test_the_same_request_sent_again_adds_nothing(house: Served) -> None:
    before = count(house)

    async def steps(client: httpx.AsyncClient) -> None:
        once = {"Idempotency-Key": "k1"}
        answers = [await client.post("/api/events", json=GAME, headers=once) for _ in range(2)]
        assert [each.status_code for each in answers] == [201, 200]
        assert answers[1].json()["outcome"] == "already_done"
        assert count(house) == before + 1
        assert (await client.post("/api/events", json=GAME)).status_code == 201
        assert count(house) == before + 2

    as_member(house, steps)


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": "2026-02-30T10:00:00"},
        {"start": "0001-01-01T00:00:00+14:00"},
        {"start": "9999-12-31T23:59:59"},
        {"end": "2026-03-07T09:00:00"},
        {"who": ["nobody"]},
        {"rrule": "FREQ=NEVER"},
        {"summary": " "},
        {"summary": "x" * 501},
        {"household": "jones"},
    ],
)
def test_what_cannot_be_is_refused_and_writes_nothing(house: Served, wrong: dict[str, Any]) -> None:
    before = count(house)

    async def steps(client: httpx.AsyncClient) -> None:
        told = await client.post("/api/events", json={**GAME, **wrong})
        assert told.status_code == 422, told.text
        assert told.headers["content-type"] == "application/problem+json"

    as_member(house, steps)
    assert count(house) == before


@pytest.mark.parametrize(
    "query",
    [
        {"from": "2026-03-08", "to": "2026-03-07"},
        {"from": "2026-01-01", "to": "2028-01-01"},
        {"from": "0001-01-01"},
        {"from": "9999-12-31"},
        {"from": "soon"},
        {"member": "nobody"},
    ],
)
def test_a_span_that_is_none_is_refused(house: Served, query: dict[str, str]) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        assert (await client.get("/api/events", params=query)).status_code == 422

    as_member(house, steps)


@pytest.mark.parametrize("role", [AccessRole.CHILD, AccessRole.GUEST, AccessRole.SCREEN])
def test_who_may_not_decide_reads_at_most(house: Served, role: AccessRole) -> None:
    before = count(house)

    async def steps(client: httpx.AsyncClient) -> None:
        assert await listed(client)
        assert (await client.post("/api/events", json=GAME)).status_code == 403
        assert (await client.post("/api/events/import", content=FILE)).status_code == 403
        assert (await client.post("/api/feeds", json={})).status_code == 403

    as_member(house, steps, role)
    assert count(house) == before


@pytest.mark.parametrize("as_form", [True, False])
def test_a_file_is_imported_with_a_line_for_each_event(house: Served, as_form: bool) -> None:
    before = count(house)
    sent: dict[str, Any] = {"content": FILE, "headers": {"Content-Type": "text/calendar"}}
    if as_form:
        sent = {"files": {"file": ("school.ics", FILE.encode(), "text/calendar")}}

    async def steps(client: httpx.AsyncClient) -> None:
        told = await client.post("/api/events/import", **sent)
        assert told.status_code == 200, told.text
        report = told.json()
        assert [(each["summary"], each["status"]) for each in report["events"]] == [
            ("Science fair", "added"),
            (None, None),
        ]
        assert (report["errors"], report["events"][1]["line"]) == (1, 11)
        assert ("school.ics" in report["steps"][0]["message"]) is as_form
        assert count(house) == before + 1
        again = (await client.post("/api/events/import", **sent)).json()
        assert (again["steps"], again["events"][0]["status"]) == ([], "unchanged")
        await client.post(f"/api/actions/{report['steps'][0]['action']}/undo")
        assert count(house) == before

    as_member(house, steps)


def test_what_a_file_keeps_private_is_the_importer_s_and_stays_so_from_one_s_own_feed(
    house: Served,
) -> None:
    day = {"from": "2026-03-10", "to": "2026-03-10"}
    file = FILE.replace("SUMMARY:Science fair", "SUMMARY:Biopsy\r\nCLASS:PRIVATE")

    async def others(client: httpx.AsyncClient) -> list[tuple[str, bool]]:
        async with house.bearing(house.token("sarah")) as sarah:
            found = await listed(sarah, **day)
        assert len(found) == len(await listed(client, **day))
        return [
            (each["summary"], each["private"]) for each in found if "iano" not in each["summary"]
        ]

    async def steps(client: httpx.AsyncClient) -> None:
        path = "/api/events/import"
        before = await others(client)
        told = (await client.post(path, content=file)).json()
        assert told["events"][0]["private"]
        masked = await others(client)
        assert [each for each in masked if each not in before] == [("something private", False)]
        feed = await client.get((await made_feed(client, is_own=True))["address"])
        assert "CLASS:PRIVATE" in feed.text
        for again in (feed.content, file.replace("CLASS:PRIVATE", "CLASS:PUBLIC")):
            report = (await client.post(path, content=again)).json()
            assert {each.get("status") for each in report["events"]} <= {"unchanged", None}
            assert await others(client) == masked
        async with house.bearing(house.token("sarah")) as sarah:
            known = (await sarah.post(path, content=file)).json()
            unknown = (await sarah.post(path, content=file.replace("one@x", "new@x"))).json()
        assert known["events"][0].keys() == unknown["events"][0].keys()
        assert known["events"][0]["status"] == unknown["events"][0]["status"] == "added"

    as_member(house, steps)


def test_an_import_is_taken_back_whole_by_those_who_see_it(house: Served) -> None:
    events = FILE.split("BEGIN:VEVENT")[1]
    parts = [
        events.replace("one@x", f"u{number}@x").replace(
            "SUMMARY:", "CLASS:PRIVATE\r\nSUMMARY:" if number == 0 else "SUMMARY:"
        )
        for number in range(3)
    ]
    before = count(house)

    async def steps(client: httpx.AsyncClient) -> None:
        file = (
            "BEGIN:VCALENDAR\r\n"
            + "".join(f"BEGIN:VEVENT{each}" for each in parts)
            + "END:VCALENDAR"
        )
        report = (await client.post("/api/events/import", content=file)).json()
        assert len(report["steps"]) == 2
        path = f"/api/events/import/{report['import_id']}/undo"
        async with house.bearing(house.token("sarah")) as sarah:
            assert (await sarah.post(path)).json()["undone"] == 1
        async with house.bearing(house.token("leo", AccessRole.CHILD)) as leo:
            assert (await leo.post(path)).status_code == 403
        told = (await client.post(path)).json()
        assert (told["undone"], told["left"]) == (1, [])
        assert (await client.post(path)).json()["message"] == "This import has already been undone."

    as_member(house, steps)
    assert count(house) == before


@pytest.mark.parametrize(
    "sent",
    [{"content": b"\xff\xfe"}, {"content": b"{}"}, {"content": b"BEGIN:VCALENDAR\nBEGIN:VEVENT"}],
)
def test_a_broken_file_adds_nothing_and_is_told_so(house: Served, sent: dict[str, Any]) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        report = (await client.post("/api/events/import", **sent)).json()
        assert (report["steps"], report["errors"]) == ([], 1)

    as_member(house, steps)


def test_a_form_needs_its_file_and_a_file_has_a_limit(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        path = "/api/events/import"
        assert (await client.post(path, files={"other": b"x"})).status_code == 422
        assert (await client.post(path, content=b"x" * (4096 * 1024 + 1))).status_code == 413

    as_member(house, steps)


def test_a_browser_s_upload_needs_its_own_page_s_token(house: Served) -> None:
    async def steps() -> None:
        async with house.client() as client:
            await house.log_in(client, "john")
            path, file = "/api/events/import", {"file": ("school.ics", FILE.encode())}
            assert (await client.post(path, files=file)).status_code == 403
            form = {"csrf": csrf_token(client.cookies["kinkeeper"])}
            told = await client.post(path, data=form, files=file)
            assert (told.status_code, told.json()["errors"]) == (200, 1)

    asyncio.run(steps())


async def made_feed(client: httpx.AsyncClient, **wish: Any) -> dict[str, Any]:
    answer = await client.post("/api/feeds", json=wish)
    assert answer.status_code == 201, answer.text
    feed: dict[str, Any] = answer.json()
    return feed


def test_a_calendar_program_reads_under_an_address_until_it_is_ended(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        feed = await made_feed(client, label="Phone")
        async with house.client() as program:
            answer = await program.get(feed["address"])
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/calendar")
            calendar = Calendar.from_ical(answer.content)
            assert len(calendar.walk("VEVENT")) >= count(house)
            zones = {str(each["TZID"]) for each in calendar.walk("VTIMEZONE")}
            assert zones == {"America/Chicago"}
            kinds = {each["id"]: each["kind"] for each in (await client.get("/api/keys")).json()}
            assert kinds[feed["id"]] == "feed"
            assert (await client.delete(f"/api/keys/{feed['id']}")).status_code == 204
            for address in (feed["address"], "/calendar.ics", "/calendar.ics?secret=x"):
                gone = await program.get(address)
                assert gone.status_code == 404
                assert gone.headers["content-type"] == "application/problem+json"

    as_member(house, steps)


def test_an_unchanged_calendar_is_not_sent_again_and_a_changed_one_is(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        address = (await made_feed(client))["address"]
        first = await client.get(address)
        tag = {"If-None-Match": first.headers["etag"]}
        since = {"If-Modified-Since": first.headers["last-modified"]}
        for headers in (tag, since, {"If-None-Match": f'"x", W/{first.headers["etag"]}'}):
            known = await client.get(address, headers=headers)
            assert (known.status_code, known.content) == (304, b"")
        await client.post("/api/events", json=GAME)
        for headers in (tag, since, {"If-Modified-Since": "Mon, 01 Jan 2024 00:00:00 -0000"}):
            changed = await client.get(address, headers=headers)
            assert changed.status_code == 200
            assert "Chess game" in changed.text

    as_member(house, steps)


def test_an_address_of_one_s_own_shows_nothing_else(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        address = (await made_feed(client, is_own=True))["address"]
        await client.post("/api/events", json={**GAME, "responsible": ["john"]})
        await client.post("/api/events", json={**GAME, "summary": "Book club", "who": ["sarah"]})
        text = (await client.get(address)).text
        assert "Chess game" in text
        assert "Book club" not in text

    as_member(house, steps)


def test_an_address_opens_nothing_but_the_calendar(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        secret = httpx.URL((await made_feed(client))["address"]).params["secret"]
        async with house.bearing(secret) as program:
            assert (await program.get("/api/events")).status_code == 401
        token = client.headers["authorization"].removeprefix("Bearer ")
        assert (await client.get("/calendar.ics", params={"secret": token})).status_code == 404
        stored = house.context.store.read_now(lambda conn: conn.execute(select(access_keys)).all())
        assert secret not in str(stored)

    as_member(house, steps)


def test_the_list_of_keys_tells_when_an_address_was_last_read(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        feed = await made_feed(client)
        house.clock.advance_to(house.clock.now() + timedelta(hours=3))
        await client.get(feed["address"])
        keys = (await client.get("/api/keys")).json()
        seen = next(each["seen_at"] for each in keys if each["id"] == feed["id"])
        assert seen.startswith(house.clock.now().astimezone().isoformat()[:4])
        created = next(each["created_at"] for each in keys if each["id"] == feed["id"])
        assert seen > created

    as_member(house, steps)
