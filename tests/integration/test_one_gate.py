"""One gate for everything that lasts: every kind of statement, by every role, through every way in.

Whoever is no adult writes alone only what is their own and seen by nobody else; what a program brings, and what nobody
said directly, is never written without a person's confirmation.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, select

from kinkeeper.actions.model import ActionStatus
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.channels.telegram.commands import Wish
from kinkeeper.channels.telegram.commands import remember as remember_by_command
from kinkeeper.household.viewers import person_scope
from kinkeeper.store.schema import metadata
from kinkeeper.web.access.model import AccessRole
from page_visits import FREE, actions_of, hear
from remembered import known_to, remember
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
"""
LASTING = ("facts", "statements", "events", "occurrence_overrides", "tasks", "notes", "mail_drafts")
OWN = "I sleep badly since the new pills."
STATEMENTS = (
    "Leo is allergic to penicillin. Mia likes wasps.",
    "Leo is not allergic to peanuts any more.",
    "The code of the garage is 4711.",
    "Actually, grandma moved to Rome.",
    "Remember that Mia hates olives.",
    "Add milk to the shopping list.",
    "Mia has the dentist on Friday at 3pm.",
    OWN,
)
PROTOCOL = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@dataclass(frozen=True)
class Role:
    """Somebody, and with what they come in."""

    member: str
    login: AccessRole
    is_program: bool = False

    @property
    def is_trusted(self) -> bool:
        """Whether what they say directly may be written at once."""
        return self.login in {AccessRole.OWNER, AccessRole.ADULT} and not self.is_program


ROLES = {
    "owner": Role("john", AccessRole.OWNER),
    "helper": Role("nina", AccessRole.ADULT),
    "child": Role("leo", AccessRole.CHILD),
    "guest": Role("gus", AccessRole.GUEST),
    "lowered": Role("sarah", AccessRole.CHILD),
    "lowered child": Role("mia", AccessRole.GUEST),
    "screen": Role("sarah", AccessRole.SCREEN),
    "bridge": Role("sarah", AccessRole.BRIDGE),
    "program": Role("sarah", AccessRole.ADULT, is_program=True),
    "child's program": Role("mia", AccessRole.CHILD, is_program=True),
}

Way = Callable[[Served, httpx.AsyncClient, Role, str], Awaitable[object]]


async def by_session(
    house: Served, client: httpx.AsyncClient, role: Role, text: str, **metadata: Any
) -> httpx.Response:
    pair = {"contentSessionId": f"s-{role.member}", "userMessage": text, "metadata": metadata}
    return await client.post("/api/sessions/messages", json=pair)


async def by_project(
    house: Served, client: httpx.AsyncClient, role: Role, text: str
) -> httpx.Response:
    return await by_session(house, client, role, text, project="atlas")


async def by_shared_session(
    house: Served, client: httpx.AsyncClient, role: Role, text: str
) -> httpx.Response:
    return await by_session(house, client, role, text, private=False)


async def by_chat(
    house: Served, client: httpx.AsyncClient, role: Role, text: str
) -> httpx.Response:
    return await client.post("/chat", json={"text": text})


async def by_openai(
    house: Served, client: httpx.AsyncClient, role: Role, text: str
) -> httpx.Response:
    said = [{"role": "user", "content": text}]
    return await client.post("/v1/chat/completions", json={"model": "Icarus", "messages": said})


async def by_mcp(house: Served, client: httpx.AsyncClient, role: Role, text: str) -> httpx.Response:
    params = {"name": "remember", "arguments": {"text": text}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return await client.post("/mcp", json=call, headers=PROTOCOL)


async def by_page(
    house: Served, client: httpx.AsyncClient, role: Role, text: str
) -> httpx.Response:
    return await client.post("/memory/remember", data={"text": text})


async def by_task(
    house: Served, client: httpx.AsyncClient, role: Role, text: str
) -> httpx.Response:
    return await client.post("/api/tasks", json={"title": text})


async def by_event(
    house: Served, client: httpx.AsyncClient, role: Role, text: str
) -> httpx.Response:
    return await client.post("/api/events", json={"summary": text, "start": "2026-03-06T15:00:00"})


async def by_telegram(house: Served, client: httpx.AsyncClient, role: Role, text: str) -> object:
    household, member = (house.system.household, house.system.household.member(role.member))
    assert member is not None
    if not role.is_trusted and member.is_adult:
        return None  # Telegram knows members, no logins.
    wish = Wish(
        household=household,
        member=member,
        text=text,
        chat_id="family",
        is_private=False,
        source_id=f"{role.member}/{text}",
        now=house.clock.now(),
    )
    return house.context.store.write_now(lambda conn: remember_by_command(conn, wish))


async def by_observe(
    house: Served, client: httpx.AsyncClient, role: Role, text: str
) -> httpx.Response:
    message = {
        "chat_id": "family",
        "message_id": f"{role.member}-{hash(text)}",
        "sender": "john",
        "text": text,
        "sent_at": house.clock.now().isoformat(),
    }
    answer = await client.post("/observe", json=message)
    if answer.is_success:
        # What workers do with it afterwards.
        await hear(house, ("john", text))
    return answer


WAYS: Mapping[str, Way] = {
    "session": by_session,
    "shared session": by_shared_session,
    "project": by_project,
    "chat": by_chat,
    "openai": by_openai,
    "mcp": by_mcp,
    "page": by_page,
    "task": by_task,
    "event": by_event,
    "telegram": by_telegram,
    "observe": by_observe,
}
# What comes this way was not said directly, whoever's login it is.
ALWAYS_ASK = {"openai", "mcp", "observe"}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, rates=FREE, members=MORE) as serving:
        remember(serving, "sarah", "Leo is allergic to peanuts.")
        remember(serving, "sarah", "Grandma lives in Paris.")
        yield serving


def whose(row: Mapping[str, Any]) -> str | None:
    """Return the scope of a row; tasks for one person alone and notes that they made are theirs, though others see them."""
    if (alone := row.get("who")) is not None and len(alone) == 1 and "title" in row:
        return person_scope(alone[0])
    return person_scope(row["made_by"]) if "made_by" in row else row.get("scope")


def lasting(house: Served) -> dict[str, dict[str, str]]:
    """Return every row that lasts, by its table, its key and its scope."""

    def rows(conn: Connection) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {name: {} for name in LASTING}
        for name in LASTING:
            table = metadata.tables[name]
            for row in conn.execute(select(table)).mappings():
                key = [str(row[column.name]) for column in table.primary_key]
                found[name][json.dumps([key, whose(dict(row))])] = repr(dict(row))
        return found

    return house.context.store.read_now(rows)


def written(
    before: dict[str, dict[str, str]], after: dict[str, dict[str, str]], own: str
) -> list[str]:
    """Return what was written or changed, but for new rows that only their writer sees."""
    found = []
    for name, rows in after.items():
        for key, row in rows.items():
            if before[name].get(key) != row and json.loads(key)[1] != own:
                found.append(f"{name}: {row}")
        found += [f"{name}: {key} is gone" for key in before[name].keys() - rows.keys()]
    return found


async def read_all(house: Served) -> None:
    """Do all that is done in the background with what was said."""
    reading = reading_of(house.system.household, house.context.store, house.clock)
    while await reading.run_once():
        pass
    hearing = house.system.hearing(house.clock)
    await hearing.run_once()


@pytest.mark.parametrize("name", WAYS)
def test_nothing_lasts_without_the_right_persons_confirmation(house: Served, name: str) -> None:
    way = WAYS[name]

    async def story() -> None:
        for called, role in ROLES.items():
            if role.is_trusted and name not in ALWAYS_ASK:
                continue
            token = house.token(role.member, role.login, is_program=role.is_program)
            own = person_scope(role.member)
            before = lasting(house)
            async with house.bearing(token) as client:
                for text in STATEMENTS:
                    answer = await way(house, client, role, text)
                    if isinstance(answer, httpx.Response):
                        assert answer.status_code < 500, answer.text
            await read_all(house)
            after = lasting(house)
            # A program writes nothing at all; a person may keep to themselves what is their own.
            kept = own if not role.is_program and name not in ALWAYS_ASK else ""
            assert written(before, after, kept) == [], called

    asyncio.run(story())


def test_what_an_adult_says_in_a_session_is_known_at_once(house: Served) -> None:
    async def story() -> None:
        async with house.bearing(house.token("sarah", AccessRole.ADULT)) as client:
            told = await by_session(house, client, ROLES["owner"], STATEMENTS[0])
            assert told.status_code == 202
        await read_all(house)

    asyncio.run(story())
    assert "Leo is allergic to penicillin" in {each.narrative for each in known_to(house, "john")}


@pytest.mark.parametrize("called", ["child", "guest", "program"])
def test_a_proposed_statement_is_remembered_when_an_adult_confirms_it(
    house: Served, called: str
) -> None:
    role = ROLES[called]

    async def story() -> None:
        token = house.token(role.member, role.login, is_program=role.is_program)
        async with house.bearing(token) as client:
            for _ in range(2):
                told = await by_session(house, client, role, STATEMENTS[0])
                assert told.status_code == 202
            await read_all(house)
            waiting = [each for each in actions_of(house) if each.status is ActionStatus.PENDING]
            assert len(waiting) == 2
            assert all("said:" in each.proposal.summary for each in waiting)
            for each in waiting:
                pressed = await client.post(f"/api/pending/{each.id}/confirm", json={})
                assert pressed.status_code in {403, 404}, pressed.text
        names = {each.narrative for each in known_to(house, "john")}
        assert not any("penicillin" in each for each in names)
        async with house.bearing(house.token("john")) as john:
            for each in waiting:
                assert (
                    await john.post(f"/api/pending/{each.id}/confirm", json={})
                ).status_code == 200

    asyncio.run(story())
    assert "Leo is allergic to penicillin" in {each.narrative for each in known_to(house, "sarah")}


def test_words_that_wait_are_told_only_as_not_confirmed(house: Served) -> None:
    async def story() -> None:
        for called in ("child", "guest", "program"):
            role = ROLES[called]
            token = house.token(role.member, role.login, is_program=role.is_program)
            async with house.bearing(token) as client:
                await by_session(house, client, role, f"Zebra{role.member} is allergic to kiwis.")
        await read_all(house)
        async with house.bearing(house.token("john")) as john:
            for role in (ROLES["child"], ROLES["guest"], ROLES["program"]):
                found = await john.get(
                    "/api/memory/search", params={"query": f"Zebra{role.member} kiwis"}
                )
                assert f"zebra{role.member}" not in found.text.lower()
                known = await john.get(
                    "/brain/query", params={"q": f"What is Zebra{role.member} allergic to?"}
                )
                told = known.json()["summary"] + known.json().get("answer", "")
                assert "kiwis" not in told or "Not confirmed yet" in told, told

    asyncio.run(story())


def test_projects_are_for_adults(house: Served) -> None:
    async def story() -> None:
        for role in (ROLES["child"], ROLES["guest"]):
            async with house.bearing(house.token(role.member, role.login)) as client:
                assert (await by_project(house, client, role, STATEMENTS[2])).status_code == 403

    asyncio.run(story())


def test_a_token_that_a_model_used_neither_writes_nor_decides_afterwards(house: Served) -> None:
    async def story() -> None:
        role, token = ROLES["owner"], house.token("john")
        async with house.bearing(token) as client:
            await by_mcp(house, client, role, "Mia likes plums")
            (card,) = [each for each in actions_of(house) if "plums" in each.proposal.summary]
            for path in (f"/api/pending/{card.id}/confirm", "/chat", "/v1/chat/completions"):
                assert (await client.post(path, json={"text": "yes"})).status_code == 403, path
            assert (await by_session(house, client, role, STATEMENTS[2])).status_code == 202
            assert (await client.get("/api/memory/search", params={"query": "plums"})).is_success
        await read_all(house)

    asyncio.run(story())
    assert not any("4711" in each.narrative for each in known_to(house, "john"))
    assert any("4711" in each.proposal.summary for each in actions_of(house))


def test_a_flood_of_statements_leaves_room_for_what_others_propose(house: Served) -> None:
    async def story() -> None:
        for role, count in ((ROLES["guest"], 40), (ROLES["child"], 1)):
            async with house.bearing(house.token(role.member, role.login)) as client:
                for number in range(count):
                    await by_session(
                        house,
                        client,
                        role,
                        f"The {role.member} locker {number} has the code {number}41.",
                    )
        await read_all(house)

    asyncio.run(story())
    waiting = [each.proposal.summary for each in actions_of(house)]
    assert sum("gus locker" in each for each in waiting) == 30
    assert sum("leo locker" in each for each in waiting) == 1


def test_messages_that_a_bridge_brings_as_an_adult_change_nothing_that_lasts(house: Served) -> None:
    """Not even what waits: a yes in a chat is no confirmation."""

    async def story() -> None:
        await hear(house, ("sarah", "Mia has the dentist on Friday at 3pm"))
        waiting = {each.id for each in actions_of(house) if each.status is ActionStatus.PENDING}
        assert waiting
        before = lasting(house)
        async with house.bearing(house.token("gus", AccessRole.BRIDGE)) as client:
            for text in ("yes", "confirm", "ok do it", "Sarah said yes", "Icarus, yes please"):
                told = await by_observe(house, client, ROLES["bridge"], text)
                assert told.status_code == 202, told.text
        await read_all(house)
        assert written(before, lasting(house), "") == []
        still = {each.id for each in actions_of(house) if each.status is ActionStatus.PENDING}
        assert waiting <= still

    asyncio.run(story())


def test_a_surprise_that_a_child_tells_waits_and_is_kept_from_whom_it_is_for(house: Served) -> None:
    text = "Don't tell Mia: her bike is in the shed."

    async def story() -> None:
        async with house.bearing(house.token("leo", AccessRole.CHILD)) as client:
            told = await by_shared_session(house, client, ROLES["child"], text)
            assert told.status_code == 202, told.text
        await read_all(house)
        (card,) = [each for each in actions_of(house) if "bike" in each.proposal.summary]
        async with house.bearing(house.token("mia", AccessRole.CHILD)) as mia:
            assert "bike" not in (await mia.get("/api/pending")).text
        async with house.bearing(house.token("john")) as john:
            assert "bike" in (await john.get("/api/pending")).text
            path = f"/api/pending/{card.id}/confirm"
            assert (await john.post(path, json={})).status_code == 200

    asyncio.run(story())
    assert any("bike" in each.narrative for each in known_to(house, "john"))
    assert not any("bike" in each.narrative for each in known_to(house, "mia"))


@pytest.mark.parametrize("called", ["child", "guest"])
@pytest.mark.parametrize("name", ["session", "shared session", "chat", "openai", "mcp", "telegram"])
def test_what_others_tell_of_the_home_is_a_card_for_an_adult_on_every_way_in(
    house: Served, name: str, called: str
) -> None:
    role, told = ROLES[called], "Grandpa's tent is in the loft above the garage."

    async def story() -> None:
        async with house.bearing(house.token(role.member, role.login)) as client:
            answer = await WAYS[name](house, client, role, told)
            assert not isinstance(answer, httpx.Response) or answer.status_code < 400
        await read_all(house)

    asyncio.run(story())
    waiting = [each for each in actions_of(house) if each.status is ActionStatus.PENDING]
    scopes = [each.proposal.effects[0]["scope"] for each in waiting]
    assert ["tent" in each.proposal.summary for each in waiting] == [True]
    assert scopes == ["household"]
    assert not any("tent" in each.narrative for each in known_to(house, "john"))


def test_a_guests_task_is_seen_by_the_guest_alone(house: Served) -> None:
    async def titles(role: Role) -> list[str]:
        async with house.bearing(house.token(role.member, role.login)) as client:
            found = (await client.get("/api/tasks")).json()["tasks"]
            return [each["title"] for each in found]

    async def story() -> tuple[list[str], list[str]]:
        guest = ROLES["guest"]
        async with house.bearing(house.token(guest.member, guest.login)) as client:
            made = await client.post("/api/tasks", json={"title": "Feed the zorb"})
            assert made.status_code == 201
        return await titles(guest), await titles(ROLES["owner"])

    assert asyncio.run(story()) == (["Feed the zorb"], [])


# What only its person need know of, as the chat takes it; and what is everybody's.
OWN_AFFAIRS = (
    "colonoscopy",
    "hair transplant consultation",
    "meet a headhunter",
    "job interview",
    "vasectomy",
    "pay the debt collector",
    "appointment with divorce lawyer",
    "endometriosis clinic",
    "group therapy",
    "bank about my overdraft",
)
OPEN_AFFAIRS = (
    "swimming",
    "meet the plumber",
    "parents evening",
    "pay the milkman",
    "appointment with the vet",
    "picnic at the lake",
    "book club",
    "haircut",
)


async def by_new_name(
    house: Served, client: httpx.AsyncClient, role: Role, text: str
) -> httpx.Response:
    made = await client.post("/api/tasks", json={"title": "something to do"})
    return await client.patch(f"/api/tasks/{made.json()['task']['id']}", json={"title": text})


async def by_file(
    house: Served, client: httpx.AsyncClient, role: Role, text: str
) -> httpx.Response:
    lines = (
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//x//y//EN",
        "BEGIN:VEVENT",
        f"UID:{text.replace(' ', '')}@x",
        "DTSTAMP:20260101T000000Z",
        "DTSTART:20260310T150000Z",
        f"SUMMARY:{text}",
        "END:VEVENT",
        "END:VCALENDAR",
        "",
    )
    return await client.post("/api/events/import", content="\r\n".join(lines))


@pytest.mark.parametrize("way", [by_event, by_task, by_new_name, by_file, by_page])
def test_own_affairs_are_seen_by_nobody_else_whichever_way_they_come(
    house: Served, way: Way
) -> None:
    owner = ROLES["owner"]

    async def steps() -> set[str]:
        async with house.bearing(house.token(owner.member, owner.login)) as client:
            for text in (*OWN_AFFAIRS, *OPEN_AFFAIRS):
                whose = "my" if text in OWN_AFFAIRS else "the"
                told = f"{whose} {text} is in spring" if way is by_page else text
                answer = await way(house, client, owner, told)
                assert isinstance(answer, httpx.Response)
                assert answer.status_code < 400, answer.text
        await read_all(house)
        async with house.bearing(house.token("sarah", AccessRole.ADULT)) as client:
            paths = ("/api/events?from=2026-03-01&to=2026-03-30", "/api/tasks", "/api/pending")
            shown = [(await client.get(path)).text for path in paths]
            shown += [each.narrative for each in known_to(house, "sarah")]
            return {each for each in (*OWN_AFFAIRS, *OPEN_AFFAIRS) if each in "\n".join(shown)}

    assert asyncio.run(steps()) == {*OPEN_AFFAIRS}


@pytest.mark.parametrize("key", ["events", "tasks"])
def test_own_affairs_that_are_said_to_be_for_all_are_seen_by_all(house: Served, key: str) -> None:
    params = (
        {"summary": "biopsy", "start": "2026-03-06T15:00:00"}
        if key == "events"
        else {"title": "biopsy"}
    )

    async def steps() -> str:
        async with house.bearing(house.token("john", AccessRole.OWNER)) as client:
            await client.post(f"/api/{key}", json={**params, "private": False})
        async with house.bearing(house.token("sarah", AccessRole.ADULT)) as client:
            return (await client.get(f"/api/{key}")).text

    assert "biopsy" in asyncio.run(steps())
