"""What is one person's to decide, pressed by others and by themselves, on pages and over HTTP."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from kinkeeper.web.access.model import AccessRole
from page_visits import FREE
from web_server import Served, served


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, rates=FREE) as serving:
        yield serving


async def say(client: httpx.AsyncClient, text: str) -> str:
    """Say something to the assistant; returns what it streamed."""
    answer = await client.post("/chat", json={"text": text})
    assert answer.status_code == 200, answer.text
    assert "event: done" in answer.text
    return answer.text


async def actions_of(client: httpx.AsyncClient) -> list[dict[str, str]]:
    found = await client.get("/api/pending?status=pending&status=done")
    return found.json()["actions"]


def test_a_refused_press_tells_nothing_of_anothers_mail(house: Served) -> None:
    async def story() -> None:
        async with house.bearing(house.token("john")) as john:
            await say(john, "draft an email to bob@b.example saying the kayak deposit is paid")
            [mail] = await actions_of(john)
        assert "kayak" in str(mail)
        async with house.bearing(house.token("sarah")) as sarah:
            for path, body in (
                ("api/pending/{}/confirm", {}),
                ("api/pending/{}/reject", {}),
                ("api/actions/{}/undo", {}),
                ("api/pending/{}/resolve", {"choice": "yes"}),
                ("api/pending/{}/feedback", {"reason": "not_a_plan"}),
            ):
                answer = await sarah.post(f"/{path.format(mail['id'])}", json=body)
                assert answer.status_code == 404, (path, answer.text)
                assert "kayak" not in answer.text, path
            for page in (
                "/pending?outcome=undone&about={}",
                "/tasks?about={}",
                "/pending/{}/change",
            ):
                answer = await sarah.get(page.format(mail["id"]))
                assert "kayak" not in answer.text, page

    asyncio.run(story())


def test_what_is_only_shown_as_busy_leads_nowhere(house: Served) -> None:
    async def story() -> None:
        async with house.bearing(house.token("john")) as john:
            await say(john, "add fitting on friday at 5pm, just for me")
            await say(john, "add haircut on friday at 2pm")
        async with house.bearing(house.token("sarah")) as sarah:
            for page in ("/calendar?on=2026-03-06", "/calendar?span=week&on=2026-03-06"):
                shown = (await sarah.get(page)).text
                assert "something private" in shown, page
                links = [each.split('"')[0] for each in shown.split('href="')[1:]]
                entries = [each for each in links if each.startswith("/calendar/event/")]
                assert entries, page
                for each in entries:
                    found = await sarah.get(each.replace("&amp;", "&"))
                    assert found.status_code == 200, each

    asyncio.run(story())


@pytest.mark.parametrize(
    ("member", "role"), [("leo", AccessRole.CHILD), ("sarah", AccessRole.CHILD)]
)
def test_a_childs_login_decides_nothing_else(house: Served, member: str, role: AccessRole) -> None:
    async def story() -> None:
        async with house.bearing(house.token("john")) as john:
            await say(john, "cancel ballet on wednesday")
            [waiting] = await actions_of(john)
        async with house.bearing(house.token(member, role)) as child:
            for path in ("api/pending/{}/confirm", "api/pending/{}/reject", "api/actions/{}/undo"):
                answer = await child.post(f"/{path.format(waiting['id'])}", json={})
                assert answer.status_code in {403, 404}, answer.text
            for path in ("pending/{}/confirm", "pending/{}/not-right", "pending/{}/undo"):
                form = {"hash": "0" * 64, "reason": "not_a_plan"}
                answer = await child.post(f"/{path.format(waiting['id'])}", data=form)
                assert answer.status_code in {403, 404}, answer.text
        async with house.bearing(house.token("john")) as john:
            assert [each["status"] for each in await actions_of(john)] == ["pending"]

    asyncio.run(story())
