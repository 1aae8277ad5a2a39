"""An imported entry leads to undoing its whole import, which asks first and says what became of it."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Connection

from kinkeeper.calendar.event_changes import update_event
from kinkeeper.calendar.repository import list_events, load_event
from kinkeeper.household.viewers import Viewer
from kinkeeper.web.access.model import AccessRole
from page_visits import post, run
from web_server import BROWSER, Served

MANY = 130
"""More than one step brings in."""


def file(count: int, *lines: str) -> str:
    events = "".join(
        "\r\n".join(
            [
                "BEGIN:VEVENT",
                f"UID:{number}@camp",
                "DTSTAMP:20260101T000000Z",
                f"DTSTART:202603{number % 20 + 3:02d}T1{number % 10}0000Z",
                "DURATION:PT30M",
                f"SUMMARY:Camp {number}",
                *lines,
                "END:VEVENT",
                "",
            ]
        )
        for number in range(count)
    )
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n{events}END:VCALENDAR\r\n"


async def imported(serving: Served, who: str, body: str) -> None:
    async with serving.bearing(serving.token(who)) as client:
        answer = await client.post("/api/events/import", content=body)
        assert answer.status_code == 200, answer.text


def camps(serving: Served) -> dict[str, str]:
    """Return what was imported and takes place, by name, with the ids."""
    house = serving.system.household.id
    found = serving.context.store.read_now(lambda conn: list_events(conn, Viewer.whole(house)))
    return {each.summary: each.id for each in found if each.summary.startswith("Camp")}


def rename(serving: Served, event_id: str, name: str) -> None:
    house, now = serving.system.household.id, serving.clock.now()

    def work(conn: Connection) -> None:
        event = replace(load_event(conn, Viewer.whole(house), event_id), summary=name)
        update_event(conn, event, change_id="renamed", at=now)

    serving.context.store.write_now(work)


async def offered(serving: Served, client: httpx.AsyncClient) -> str | None:
    """Return where the page of an imported entry leads to undo the import, if it does."""
    entry = (await client.get(f"/calendar/event/{camps(serving)['Camp 0']}")).text
    assert "From a calendar file." in entry
    assert "/undo" not in entry
    found = re.search(
        r'href="(/calendar/imports/[^"]+)"[^>]*>(?:(?!</a>).)*Undo this import', entry, re.DOTALL
    )
    return found[1] if found else None


@pytest.mark.slow
def test_a_whole_import_is_undone_after_a_tick(tmp_path: Path) -> None:
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await imported(serving, "sarah", file(MANY))
        path = await offered(serving, client)
        assert path is not None
        page = unescape((await client.get(path)).text)
        assert "Undo this import?" in page
        assert re.search(r"Imported by <[^>]+>Sarah<", page)
        assert page.count("<li dir") == 2
        refused = await post(client, page, f"{path}/undo")
        assert refused.status_code == 422
        assert len(camps(serving)) == MANY
        told = await post(client, page, f"{path}/undo", sure="yes")
        assert "The import has been undone." in told.text
        assert "Undo this import" not in told.text
        assert camps(serving) == {}
        assert "Camp" not in (await client.get("/calendar?span=month&on=2026-03-10")).text
        again = await post(client, page, f"{path}/undo", sure="yes")
        assert again.status_code == 200

    run(tmp_path, steps)


@pytest.mark.slow
def test_what_somebody_changed_since_stays_and_the_page_says_so(tmp_path: Path) -> None:
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await imported(serving, "john", file(MANY))
        path, changed = await offered(serving, client), camps(serving)["Camp 129"]
        assert path is not None
        rename(serving, changed, "Camp with a new name")
        told = await post(client, (await client.get(path)).text, f"{path}/undo", sure="yes")
        assert "1 of 2 parts of the import have been undone." in told.text
        assert "Somebody has changed these events" in unescape(told.text)
        assert "Camp 0" not in camps(serving)
        assert "Camp with a new name" in camps(serving)

    run(tmp_path, steps)


@pytest.mark.slow
def test_only_who_may_decide_and_see_it_undoes_an_import(tmp_path: Path) -> None:
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        await imported(serving, "john", file(1))
        path = str(await offered(serving, client))
        async with serving.client(headers=BROWSER) as child:
            await serving.log_in(child, "leo", AccessRole.CHILD)
            assert await offered(serving, child) is None
            assert (await child.get(path)).status_code == 403
            assert (await child.post(f"{path}/undo", data={"sure": "yes"})).status_code == 403
        private = file(2, "CLASS:PRIVATE").replace("@camp", "@own").replace("Camp", "Own")
        await imported(serving, "john", private)
        async with serving.client(headers=BROWSER) as his:
            await serving.log_in(his, "john")
            house = serving.system.household.id
            own = serving.context.store.read_now(
                lambda conn: next(
                    each.provenance.action_id
                    for each in list_events(conn, Viewer.whole(house))
                    if each.summary.startswith("Own")
                )
            )
            assert (await his.get(f"/calendar/imports/{own}")).status_code == 200
        assert (await client.get(f"/calendar/imports/{own}")).status_code == 404
        assert (await client.get("/calendar/imports/none")).status_code == 404
        assert "Camp 0" in camps(serving)

    run(tmp_path, steps)


SECRET = {
    "Surprise party for John at Mallow barn": {"john"},
    "Lunch with Radstock (don't tell John)": {"john", "leo"},
    "Buy Leo a Selsey bike for Xmas": {"leo"},
    "Colonoscopy at Oxted hospital": {"john", "leo"},
    "Counselling": {"john", "leo"},
}
OPEN = ("Dentist Leo", "Parents evening", "Plumber", "Swimming lesson", "Barbecue with the Garcias")


def test_a_title_that_tells_a_secret_is_imported_for_those_who_may_know(tmp_path: Path) -> None:
    titles = (*SECRET, *OPEN)
    body = file(len(titles))
    for number, title in enumerate(titles):
        body = body.replace(f"SUMMARY:Camp {number}\r\n", f"SUMMARY:{title}\r\n")

    async def steps(serving: Served, _: httpx.AsyncClient) -> None:
        await imported(serving, "sarah", body)
        household = serving.system.household.id
        for member in ("john", "leo", "sarah"):
            viewer = Viewer.of(household, member)
            found = serving.context.store.read_now(
                lambda conn, viewer=viewer: list_events(conn, viewer)  # type: ignore[misc]
            )
            seen = {each.summary for each in found}
            hidden = {title for title, whom in SECRET.items() if member in whom}
            assert not seen & hidden, member
            assert {*titles} - hidden <= seen, member

    run(tmp_path, steps)


BESIDE = (
    ("DESCRIPTION:not a word to leo", {"leo"}),
    ("LOCATION:Barn (don't tell leo)", {"leo"}),
    ("DESCRIPTION:Bring cake. It is a surprise for John.", {"john"}),
    ("DESCRIPTION:just between us", {"john", "leo"}),
    ("DESCRIPTION:Bring cake and a coat for Leo", set()),
    ("LOCATION:Town hall", set()),
    ("DESCRIPTION:Tell Leo to bring his coat", set()),
)


def test_a_wish_beside_the_title_is_heard(tmp_path: Path) -> None:
    async def steps(serving: Served, _: httpx.AsyncClient) -> None:
        for number, (line, whom) in enumerate(BESIDE):
            title = f"Picnic {number}"
            body = file(1, line).replace("0@camp", f"{number}@picnic").replace("Camp 0", title)
            await imported(serving, "sarah", body)
            for member in ("john", "leo", "sarah"):
                viewer = Viewer.of(serving.system.household.id, member)
                found = serving.context.store.read_now(
                    lambda conn, viewer=viewer: list_events(conn, viewer)  # type: ignore[misc]
                )
                is_seen = title in {each.summary for each in found}
                assert is_seen is (member not in whom), (line, member)

    run(tmp_path, steps)
