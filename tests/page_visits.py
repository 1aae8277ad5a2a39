"""A browser without scripts at the sample household's pages: what it sends, and what came of it."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import httpx

from kinkeeper.actions.model import ActionStatus, PendingAction
from kinkeeper.actions.repository import list_actions
from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.viewers import Viewer
from kinkeeper.web.security.request_limits import RateLimits
from web_server import BROWSER, Served, served

FREE = RateLimits(read=None, write=None, login=None)


def run(
    folder: Path, steps: Callable[[Served, httpx.AsyncClient], Awaitable[None]], **context: Any
) -> None:
    """Serve the household and let Sarah in, then take the steps."""

    async def all_steps() -> None:
        with served(folder, rates=FREE, **context) as serving:
            async with serving.client(headers=BROWSER) as client:
                await serving.log_in(client, "sarah")
                client.follow_redirects = True
                await steps(serving, client)

    asyncio.run(all_steps())


async def hear(serving: Served, *said: tuple[str, str]) -> None:
    """Let members say something, a minute apart, through both tiers."""
    replay = serving.system.replay(serving.clock.now())
    for number, (sender, text) in enumerate(said):
        at = serving.clock.now() + timedelta(minutes=1)
        message = InboundMessage(
            channel="replay",
            chat_id="family",
            message_id=f"m{at:%H%M}-{number}",
            sender=sender,
            text=text,
            sent_at=at,
        )
        async for _ in replay.feed(message):
            pass
        serving.clock.advance_to(at)


def actions_of(serving: Served) -> list[PendingAction]:
    household = serving.system.household.id
    return serving.context.store.read_now(
        lambda conn: list_actions(
            conn, Viewer.whole(household), statuses=frozenset(ActionStatus), now=serving.clock.now()
        )
    )


def field_of(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found is not None, name
    return unescape(found[1])


async def press(
    client: httpx.AsyncClient, page: str, path: str, **fields: str | list[str]
) -> httpx.Response:
    return await client.post(
        path, data={"csrf": field_of(page, "csrf"), "hash": field_of(page, "hash"), **fields}
    )


async def post(client: httpx.AsyncClient, page: str, path: str, **fields: str) -> httpx.Response:
    return await client.post(path, data={"csrf": field_of(page, "csrf"), **fields})
