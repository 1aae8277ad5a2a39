"""What nobody but a person can tell stands on the page of memory, a few at a time, and is settled with a tap."""

import re
from datetime import timedelta
from html import unescape
from pathlib import Path

import httpx

from kinkeeper.memory.upkeep.consolidation import consolidate
from kinkeeper.memory.upkeep.planner import Tools
from kinkeeper.web.access.model import AccessRole
from page_visits import field_of, run
from remembered import known_to, remember
from web_server import BROWSER, Served

ASKED = "Is this still true?"
OLD, NEW = "I have a budgie called Winston", "Poor Winston died in the night"


async def night(serving: Served) -> None:
    """Let the upkeep run once, an hour after what was said."""
    now = serving.clock.now() + timedelta(hours=1)
    serving.clock.advance_to(now)
    household = serving.system.household
    tools = Tools(people={}, zone=household.zone)
    await consolidate(serving.context.store, household.id, tools, now=now, progress=lambda _: None)


def told(serving: Served, who: str, *, is_private: bool = False) -> None:
    for text in (OLD, NEW):
        remember(serving, who, text, is_private=is_private)


async def tap(client: httpx.AsyncClient, page: str, holds: str) -> httpx.Response:
    question = re.search(r'action="(/memory/questions/[^"]+)"', page)
    assert question is not None
    fields = {"csrf": field_of(page, "csrf"), "holds": holds}
    return await client.post(question[1], data=fields)


def test_one_tap_settles_it_and_can_be_taken_back(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        told(serving, "sarah")
        assert ASKED not in (await client.get("/memory")).text
        await night(serving)
        page = unescape((await client.get("/memory")).text)
        asked = page[page.index(ASKED) : page.index('class="shelf"')]
        assert asked.index(OLD) < asked.index(NEW)
        settled = await tap(client, page, "newer")
        assert "Settled." in settled.text
        assert ASKED not in settled.text
        assert {each.narrative for each in known_to(serving)} == {NEW}
        undo = re.search(r'action="(/pending/[^"]+/undo)"', settled.text)
        assert undo is not None
        await client.post(undo[1], data={"csrf": field_of(settled.text, "csrf")})
        assert {each.narrative for each in known_to(serving)} == {OLD, NEW}
        again = await tap(client, page, "newer")
        assert again.status_code == 404

    run(tmp_path, steps)


def test_both_may_be_so(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        told(serving, "sarah")
        await night(serving)
        settled = await tap(client, (await client.get("/memory")).text, "both")
        assert ASKED not in settled.text
        assert {each.narrative for each in known_to(serving)} == {OLD, NEW}

    run(tmp_path, steps)


def test_who_may_not_decide_and_whose_it_is_not_is_not_asked(tmp_path: Path):
    async def steps(serving: Served, client: httpx.AsyncClient) -> None:
        told(serving, "sarah", is_private=True)
        await night(serving)
        page = (await client.get("/memory")).text
        question = re.search(r'action="(/memory/questions/[^"]+)"', page)
        assert question is not None
        for member, role, refusal in (
            ("john", AccessRole.ADULT, 404),
            ("leo", AccessRole.CHILD, 403),
            ("sarah", AccessRole.SCREEN, 403),
        ):
            async with serving.client(headers=BROWSER) as other:
                await serving.log_in(other, member, role)
                theirs = (await other.get("/memory")).text
                assert ASKED not in theirs, role
                fields = {"csrf": field_of(theirs, "csrf"), "holds": "newer"}
                answer = await other.post(question[1], data=fields)
                assert answer.status_code == refusal, role

    run(tmp_path, steps)
