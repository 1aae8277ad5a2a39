"""Sign-ins and links as a page: invite, share the calendar, end what shall end; where a login leads."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.security.browser_protection import csrf_token
from web_server import BROWSER, Served, served

Steps = Callable[[httpx.AsyncClient], Awaitable[None]]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as serving:
        yield serving


def in_browser(
    house: Served, steps: Steps, *, member: str = "john", role: AccessRole = AccessRole.OWNER
) -> None:
    async def run() -> None:
        async with house.client(headers=BROWSER) as client:
            await house.log_in(client, member, role)
            await steps(client)

    asyncio.run(run())


async def send(client: httpx.AsyncClient, path: str, **fields: str) -> httpx.Response:
    form = {"csrf": csrf_token(client.cookies["kinkeeper"]), **fields}
    return await client.post(path, data=form)


def shown(page: httpx.Response) -> str:
    """Return what stands in the field that holds a link or an address."""
    assert page.status_code == 200, page.text
    found = re.search(r'readonly value="([^"]+)"', page.text)
    assert found is not None
    return unescape(found[1])


def test_the_owner_invites_and_the_link_works_once(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        link = shown(await send(client, "/people/invite", member="sarah", role=""))
        async with house.client(headers=BROWSER) as phone:
            assert (await phone.post(httpx.URL(link).path)).status_code == 303
            me = (await phone.get("/api/me")).json()
            assert (me["member"], me["role"]) == ("sarah", "adult")
            assert (await phone.post(httpx.URL(link).path)).status_code == 404
        again = (await client.get("/people")).text
        assert link not in again
        assert again.count("/people/keys/") == 2
        assert (await send(client, "/people/invite", member="nobody")).status_code == 422
        assert (await send(client, "/people/invite", member="leo", role="adult")).status_code == 422

    in_browser(house, steps)


def test_the_calendar_s_address_is_made_used_and_taken_back(house: Served) -> None:
    async def steps(client: httpx.AsyncClient) -> None:
        address = shown(await send(client, "/people/calendar", events="own", label="Phone <b>"))
        assert (await client.get(address)).text.startswith("BEGIN:VCALENDAR")
        page = (await client.get("/people")).text
        assert "Phone &lt;b&gt;" in page
        form = page[page.index("Phone") :]
        ending = re.search(r'action="(/people/keys/\w+/end)"', form)
        assert ending is not None
        gone = await send(client, ending[1])
        assert (gone.status_code, gone.headers["location"]) == (303, "/people")
        assert (await client.get(address)).status_code == 404
        assert (await send(client, ending[1])).status_code == 404

    in_browser(house, steps)


@pytest.mark.parametrize("role", [AccessRole.ADULT, AccessRole.CHILD, AccessRole.GUEST])
def test_the_others_see_and_end_their_own_only(house: Served, role: AccessRole) -> None:
    house.token("john")

    async def steps(client: httpx.AsyncClient) -> None:
        page = (await client.get("/people")).text
        assert page.count("/people/keys/") == 1
        assert "Invite somebody" not in page
        assert ("Create feed" in page) is (role is AccessRole.ADULT)
        assert (await send(client, "/people/invite", member="leo")).status_code == 403
        sharing = await send(client, "/people/calendar")
        assert sharing.status_code == (200 if role is AccessRole.ADULT else 403)
        own = re.search(r"/people/keys/\w+/end", page)
        assert own is not None
        async with house.bearing(house.token("john")) as owner:
            keys = (await owner.get("/api/keys")).json()
        foreign = next(key["id"] for key in keys if key["member"] == "john")
        assert (await send(client, f"/people/keys/{foreign}/end")).status_code == 404
        assert (await send(client, own[0])).status_code == 303
        assert (await client.get("/people")).headers["location"].startswith("/login")

    in_browser(house, steps, member="sarah", role=role)


def test_a_login_leads_to_where_somebody_wanted_to_go(house: Served) -> None:
    async def steps() -> None:
        async with house.client(headers=BROWSER) as client:
            sent = await client.get("/pending?status=done")
            assert sent.headers["location"] == "/login?next=%2Fpending%3Fstatus%3Ddone"
            await client.get(sent.headers["location"])
            came = await client.post(house.invitation("sarah"))
            assert came.headers["location"] == "/pending?status=done"
            again = await client.post(house.invitation("sarah"))
            assert again.headers["location"] == "/"

    asyncio.run(steps())


@pytest.mark.parametrize("wanted", ["//evil.example", "https://evil.example", "/%5Cevil.example"])
def test_a_login_leads_to_no_other_site(house: Served, wanted: str) -> None:
    async def steps() -> None:
        async with house.client(headers=BROWSER) as client:
            await client.get(f"/login?next={wanted}")
            client.cookies.set("kinkeeper-next", wanted, path="/invite")
            came = await client.post(house.invitation("sarah"))
            assert came.headers["location"] == "/"

    asyncio.run(steps())
