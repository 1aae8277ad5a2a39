"""What chat tells and does for a login equals what pages and the API tell and do for it: every member, every role.

A login has the narrower rights of its member and of its role, also when another process answers.
"""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from sqlalchemy import select, update

from kinkeeper.actions.model import ActionStatus
from kinkeeper.conversation.tables import turns
from kinkeeper.conversation.turns import LEASE
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.web.access.model import DECIDERS, LIMITS, READERS, AccessRole, role_now
from page_visits import FREE, actions_of
from remembered import remember
from web_server import Served, served

MORE = """
[[members]]
id = "gus"
name = "Gus"
role = "other"

[[members]]
id = "nina"
name = "Nina"
role = "helper"

[[events]]
id = "fair"
summary = "Zanzibar fair"
who = ["leo", "mia"]
start = 2026-03-21T11:00:00

[[events]]
id = "club"
summary = "Quokka club"
who = ["mia"]
start = 2026-03-05T17:47:00
"""
MEMBERS = ("sarah", "john", "nina", "leo", "mia", "gus")
WORDS = {
    "secret": re.compile("telescope"),
    "code": re.compile(r"(?<![\w-])4711(?![\w-])"),
    "private": re.compile("marbles"),
    "list": re.compile("paprika"),
    "health": re.compile("penicillin"),
    "far day": re.compile(r"\b21 mar|\bmar(?:ch)? 21\b|2026-03-21t"),
    "near day": re.compile(r"\b5 mar|\bmar(?:ch)? 5\b|2026-03-05t17:47"),
}
QUESTIONS = {
    "when is the zanzibar fair?": "zanzibar fair",
    "when is quokka club?": "quokka club",
    "what is the code of the garage?": "code of the garage",
    "where is the telescope?": "telescope",
    "what is Leo allergic to?": "Leo allergic",
    "where are the marbles?": "marbles",
    "show me all tasks": "paprika",
    "what waits for a yes?": "waits",
    "what do you know about us?": "Mia",
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, rates=FREE, members=MORE) as serving:
        remember(serving, "sarah", "The code of the garage is 4711.")
        remember(serving, "sarah", "Leo is allergic to penicillin.")
        remember(serving, "leo", "The marbles are under the bed.", is_private=True)
        yield serving


def logins(house: Served) -> Iterator[tuple[str, AccessRole, str]]:
    """Yield every member with a token of every role, wider ones than their own too, and the role in force."""
    for member, role in product(MEMBERS, AccessRole):
        known = house.system.household.member(member)
        assert known is not None
        yield member, role_now(house.system.household, known, role), house.token(member, role)


async def told_in_chat(client: httpx.AsyncClient, text: str) -> tuple[int, str]:
    """Return what chat and the OpenAI endpoint answer, without the question."""
    said = [{"role": "user", "content": text}]
    chat = await client.post("/chat", json={"text": text})
    program = await client.post(
        "/v1/chat/completions", json={"model": "Icarus", "messages": said, "stream": False}
    )
    assert chat.status_code == program.status_code, (chat.text, program.text)
    return chat.status_code, f"{chat.text}\n{program.text}".lower().replace(text.lower(), "")


async def told_elsewhere(client: httpx.AsyncClient) -> str:
    """Return what pages and the API tell a login of all that chat is asked about."""
    paths: list[tuple[str, dict[str, Any]]] = [
        ("/api/events", {"from": "2026-03-01", "to": "2026-03-30"}),
        ("/api/tasks", {}),
        ("/api/pending", {}),
        ("/tasks", {}),
        ("/calendar", {"span": "month"}),
        ("/memory", {}),
    ]
    paths += [("/api/memory/search", {"query": each}) for each in QUESTIONS.values()]
    paths += [("/brain/query", {"q": each}) for each in QUESTIONS]
    told = ""
    for path, params in paths:
        answer = await client.get(path, params=params)
        assert answer.status_code < 500, (path, answer.text)
        told += answer.text
    return told.lower()


def words_in(text: str) -> set[str]:
    return {name for name, pattern in WORDS.items() if pattern.search(text)}


def knows_fair(text: str) -> bool:
    """Whether a text tells when the fair is, which is later than a guest's days."""
    return "far day" in words_in(text.lower())


@pytest.mark.slow
def test_chat_tells_a_login_no_more_than_pages_do(house: Served) -> None:
    async def story() -> None:
        async with house.bearing(house.token("john")) as john:
            for text in (
                "Don't tell Mia: her telescope is in the attic.",
                "add paprika to the shopping list",
            ):
                assert (await john.post("/chat", json={"text": text})).is_success
        tellers = 0
        for member, role, token in logins(house):
            async with house.bearing(token) as client:
                shown = words_in(await told_elsewhere(client))
                for text in QUESTIONS:
                    status, answer = await told_in_chat(client, text)
                    more = words_in(answer) - shown
                    assert not more, (member, role, text, more, answer)
                    if status == 200 and "far day" in words_in(answer):
                        tellers += 1
                        assert role not in {AccessRole.GUEST, AccessRole.SCREEN}, (member, role)
        assert tellers >= 5, "those who may know are told"

    asyncio.run(story())


def test_chat_does_no_more_for_a_login_than_the_api(house: Served) -> None:
    async def story() -> None:
        for number, (member, role, token) in enumerate(logins(house)):
            if role is AccessRole.BRIDGE:
                continue
            async with house.bearing(token) as client:
                event = {
                    "summary": f"Apiary{number}",
                    "start": "2026-03-06T15:00:00",
                    "who": ["mia"],
                }
                await client.post("/api/events", json=event)
                text = f"Add Bakery{number} for Mia on Friday at 3pm to the calendar"
                await client.post("/chat", json={"text": text})
            assert _is_done(house, f"Apiary{number}") == _is_done(house, f"Bakery{number}")
            assert _is_done(house, f"Bakery{number}") == (role in DECIDERS), (member, role)

    asyncio.run(story())


def _is_done(house: Served, word: str) -> bool:
    """Whether something named so was written, and does not wait for a confirmation."""
    return any(
        each.status is ActionStatus.DONE and word.lower() in each.proposal.summary.lower()
        for each in actions_of(house)
    )


def test_a_login_sees_no_thread_of_a_wider_one(house: Served) -> None:
    async def story() -> None:
        async with (
            house.bearing(house.token("leo", AccessRole.CHILD)) as child,
            house.bearing(house.token("leo", AccessRole.GUEST)) as guest,
        ):
            for thread in (None, "games"):
                said = {"text": "when is the zanzibar fair?", "thread": thread}
                answer = await child.post("/chat", json=said)
                assert knows_fair(answer.text), answer.text
                name, turn = answer.headers["X-Thread"], answer.headers["X-Turn"]
                for path in (
                    f"/api/threads/{name}",
                    f"/api/turns/{turn}",
                    f"/chat/{name}/events",
                    f"/chat?thread={name}",
                ):
                    told = await guest.get(path)
                    assert "fair" not in told.text, (path, told.text)
                    assert told.status_code == 404, (path, told.status_code)
            assert "fair" not in (await guest.get("/chat")).text
            assert (await guest.get("/api/threads")).json()["threads"] == []
            told = await guest.post("/chat", json={"text": "when is it again?"})
            assert not knows_fair(told.text), told.text
            assert len((await child.get("/api/threads")).json()["threads"]) == 2

    asyncio.run(story())


def test_a_program_of_a_guest_does_not_go_on_with_the_talk_of_a_wider_login(house: Served) -> None:
    async def story() -> None:
        asked = "when is the zanzibar fair?"
        said: dict[str, Any] = {"model": "Icarus", "messages": [{"role": "user", "content": asked}]}
        async with (
            house.bearing(house.token("leo", AccessRole.CHILD)) as child,
            house.bearing(house.token("leo", AccessRole.GUEST)) as guest,
        ):
            first = (await child.post("/v1/chat/completions", json=said)).json()
            answer = first["choices"][0]["message"]
            assert knows_fair(answer["content"])
            assert not knows_fair((await guest.post("/v1/chat/completions", json=said)).text)
            more = [*said["messages"], answer, {"role": "user", "content": "who is in that?"}]
            told = await guest.post("/v1/chat/completions", json={**said, "messages": more})
            assert told.status_code == 200, told.text
            reply = told.json()["choices"][0]["message"]["content"].lower()
            assert "mia" not in reply, reply

    asyncio.run(story())


def test_another_process_answers_with_the_rights_of_the_login(house: Served) -> None:
    """The role is on the turn: who takes it up after a crash reads no more than the login may."""
    household = house.system.household
    leo = household.member("leo")
    assert leo is not None
    people = {"child": leo, "guest": leo.limited_to(Role.OTHER)}

    async def story() -> dict[str, str]:
        talk = house.context.houses[household.id].conversation
        assert talk is not None
        taken = {
            name: house.context.store.write_now(
                lambda conn, name=name, member=member: talk.take_in(  # type: ignore[misc]
                    conn,
                    member,
                    "when is the zanzibar fair?",
                    channel="web",
                    client_message_id=name,
                )
            )
            for name, member in people.items()
        }
        await talk.close()
        house.clock.advance_to(house.clock.now() + 2 * LEASE)
        other = house.system.talk(house.clock).conversation
        told = {}
        for name, each in taken.items():
            job = other.as_job()
            house.context.store.write_now(
                lambda conn, each=each: conn.execute(  # type: ignore[misc]
                    update(turns).where(turns.c.id == each.turn_id).values(epoch=2)
                )
            )
            await job.handler((household.id, each.turn_id), 2)
            found = house.context.store.read_now(
                lambda conn, each=each: conn.execute(  # type: ignore[misc]
                    select(turns.c.answer, turns.c.login).where(turns.c.id == each.turn_id)
                ).one()
            )
            assert found.login == {"child": None, "guest": "other"}[name]
            told[name] = found.answer.lower()
        await other.close()
        return told

    told = asyncio.run(story())
    assert knows_fair(told["child"])
    assert not knows_fair(told["guest"])


def test_rights_are_the_narrower_of_member_and_login() -> None:
    roles = {"adult": Role.PARENT, "child": Role.CHILD, "guest": Role.OTHER}
    ranks = ("guest", "child", "adult")
    for own, granted in product(roles, (None, *roles)):
        member = Member(id="m", name="M", role=roles[own])
        limited = member.limited_to(roles[granted] if granted else None)
        wanted = min(own, granted or own, key=ranks.index)
        assert limited.role is roles[wanted], (own, granted)
    for role, access in product(Role, AccessRole):
        member = Member(id="m", name="M", role=role)
        household = Household(
            id="h", zone=ZoneInfo("UTC"), locale="en", bot_name="Kin", owner="m", members=(member,)
        )
        now = role_now(household, member, access)
        assert role_now(replace(household, owner="n"), member, access) is not AccessRole.OWNER
        assert (now in DECIDERS) <= member.is_adult
        limit = LIMITS.get(now)
        assert member.limited_to(limit).is_adult == (now in DECIDERS)
        if role is Role.OTHER and access in READERS:
            assert now is AccessRole.GUEST
