"""Generated messages that ask to keep a secret, told in every way: no route of the server shows them to whom they are kept from."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.web.access.model import AccessRole
from page_visits import FREE
from secrecy_messages import Secret, secrets
from web_server import BROWSER, Served, served

NAMES = {
    "john": ("John", "he"),
    "sarah": ("Sarah", "she"),
    "leo": ("Leo", "he"),
    "mia": ("Mia", "she"),
}
VIEWERS = [
    ("leo", AccessRole.GUEST),
    ("john", AccessRole.ADULT),
    ("sarah", AccessRole.OWNER),
    ("leo", AccessRole.CHILD),
    ("mia", AccessRole.CHILD),
    ("john", AccessRole.SCREEN),
    ("sarah", AccessRole.BRIDGE),
]
_NOBODYS = {AccessRole.GUEST, AccessRole.SCREEN, AccessRole.BRIDGE}
WAYS = ("chat", "session", "page", "task")
QUESTIONS = (
    "what's on this week?",
    "what do you know about us?",
    "what waits for a yes?",
    "show me all tasks",
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count", "seed"), [("dev", 32, 1), ("heldout", 48, 2)])
def test_no_route_shows_a_secret(tmp_path: Path, name: str, count: int, seed: int) -> None:
    _all_kept(tmp_path, [*secrets(NAMES, ("john", "sarah"), name=name, count=count, seed=seed)])


@pytest.mark.nightly
def test_no_route_shows_any_of_600_secrets(tmp_path: Path) -> None:
    _all_kept(tmp_path, [*secrets(NAMES, ("john", "sarah"), name="heldout", count=600, seed=3)])


def _all_kept(folder: Path, told: Sequence[Secret]) -> None:
    async def story() -> None:
        with served(folder, rates=FREE) as serving:
            for number, each in enumerate(told):
                await _tell(serving, each, number, WAYS[number % len(WAYS)])
            await _read(serving)
            shown = [
                line
                for member, role in VIEWERS
                for line in await _shown(serving, told, member, role)
            ]
            assert not shown, "\n".join(shown[:40])
            await _is_known_to_tellers(serving, told)

    asyncio.run(story())


async def _tell(serving: Served, secret: Secret, number: int, way: str) -> None:
    """Tell a secret in one of the ways: every message of one way, in one session."""
    async with serving.bearing(serving.token(secret.teller)) as client:
        for place, text in enumerate(secret.messages):
            wanted = f"remind me on friday at 10: {text}" if way == "task" and place == 0 else text
            if way in {"chat", "task"}:
                answer = await client.post(
                    "/chat", json={"text": wanted, "client_message_id": f"{number}-{place}"}
                )
            elif way == "session":
                answer = await client.post(
                    "/api/sessions/messages",
                    json={
                        "contentSessionId": f"s{number}",
                        "messageId": str(place),
                        "userMessage": text,
                    },
                )
            else:
                whole = ". ".join(secret.messages)
                answer = await client.post("/memory/remember", data={"text": whole})
            assert answer.status_code < 400, answer.text
    serving.clock.advance_to(serving.clock.now().replace(microsecond=0))


async def _read(serving: Served) -> None:
    system = serving.system
    reading = reading_of(system.household, system.store, serving.clock)
    while await reading.run_once():
        pass
    await system.recall.embed_newest()


async def _shown(
    serving: Served, told: Sequence[Secret], member: str, role: AccessRole
) -> list[str]:
    """Return what a viewer is shown though it is kept from them."""
    hidden = [
        each
        for each in told
        if role in _NOBODYS or (each.teller != member and each.kept_from in {None, member})
    ]
    paths = [*_pages(serving), *(path for each in hidden[:60] for path in _searches(each))]
    found = []
    token = serving.token(member, role)
    async with serving.bearing(token) as client, serving.client(headers=BROWSER) as browser:
        if role is not AccessRole.BRIDGE:
            await serving.log_in(browser, member, role)
        answers = [(path, (await client.get(path)).text) for path in paths]
        answers += [(path, (await browser.get(path)).text) for path in _pages(serving)]
        answers += [(text, await _answered(client, text)) for text in QUESTIONS]
    for path, text in answers:
        plain = text.lower()
        found += [
            f"{member} {role} {path}: {each.word} ({each.how})"
            for each in hidden
            if each.word.lower() in plain
        ]
    return found


async def _answered(client: httpx.AsyncClient, text: str) -> str:
    return (await client.post("/chat", json={"text": text})).text


def _pages(serving: Served) -> list[str]:
    paths = {
        each.path or ""
        for each in iter_route_contexts(serving.app.routes)
        if each.methods and "GET" in each.methods
    }
    skipped = ("/static", "/live", "/welcome", "/logout")
    listed = sorted(each for each in paths if "{" not in each and not each.startswith(skipped))
    return [
        *listed,
        "/api/events?from=2026-03-01&to=2026-04-30",
        "/calendar?span=month",
        "/api/tasks?status=all",
        "/api/pending?status=pending&status=done",
    ]


def _searches(secret: Secret) -> list[str]:
    """Return searches for what stands around the word of a secret."""
    words = " ".join(secret.messages[0].replace(secret.word, " ").split())
    asked = str(httpx.QueryParams({"q": words}))
    query = str(httpx.QueryParams({"query": words}))
    return [
        f"/brain/query?{asked}&context=page&format=json",
        f"/api/memory/search?{query}",
        f"/api/context/inject?{query}&format=json",
        f"/memory?{asked}",
    ]


async def _is_known_to_tellers(serving: Served, told: Sequence[Secret]) -> None:
    """Whoever tells a secret finds it again: nothing is kept by losing it."""
    for member in ("john", "sarah"):
        own = [each for each in told if each.teller == member]
        async with serving.bearing(serving.token(member)) as client:
            said = "".join(
                [
                    (await client.get(path)).text
                    for path in ("/api/tasks", "/memory", "/api/memory/export")
                ]
            )
            said += "".join(
                [
                    (await client.get(f"/api/memory/search?query={each.word}")).text
                    for each in own[:40]
                ]
            )
        known = [each for each in own[:40] if each.word in said]
        assert len(known) >= 0.6 * len(own[:40]), [
            each.how for each in own[:40] if each not in known
        ]
