"""The protocol's own client before a real server: models of other programs look up and propose, and decide nothing."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import httpx2
import jsonschema
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from kinkeeper.actions.model import ActionStatus
from kinkeeper.actions.repository import load_action
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import AccessRole
from kinkeeper.web.security.request_limits import Rate, RateLimits
from page_visits import FREE
from remembered import known_to, remember
from talking import on_a_loop
from web_server import Served, listening, served, with_neighbours

NAMES = [
    "search_memory",
    "remember",
    "list_events",
    "list_goals",
    "add_goal",
    "change_goal",
    "list_pending",
]
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
PROTOCOL = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@dataclass
class Open:
    """The server, and how programs reach it."""

    serving: Served
    address: str

    @asynccontextmanager
    async def client(self, token: str | None = None, mode: str = "auto") -> AsyncIterator[Client]:
        bearer = {"Authorization": f"Bearer {token or self.serving.token('john')}"}
        async with (
            httpx2.AsyncClient(headers=bearer) as http,
            Client(
                streamable_http_client(f"{self.address}/mcp", http_client=http), mode=mode
            ) as client,
        ):
            yield client

    def post(self, token: str, **headers: str) -> httpx.Response:
        told = {**PROTOCOL, "Authorization": f"Bearer {token}", **headers}
        return httpx.post(f"{self.address}/mcp", json=LIST_TOOLS, headers=told)


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Open]:
    with served(tmp_path, rates=FREE) as serving, listening(serving) as address:
        yield Open(serving, address)


async def ask(client: Client, tool: str, **arguments: Any) -> Mapping[str, Any]:
    """Return what a tool answers, which must be what it says it returns."""
    schemas = {each.name: each.output_schema for each in (await client.list_tools()).tools}
    told = await client.call_tool(tool, arguments)
    assert not told.is_error, told.content
    jsonschema.validate(told.structured_content, schemas[tool] or False)
    assert json.loads(told.content[0].text) == told.structured_content  # type: ignore[union-attr]
    found: Mapping[str, Any] = told.structured_content
    return found


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    told = await client.call_tool(tool, arguments)
    assert told.is_error
    return str(told.content[0].text)  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_clients_of_the_new_and_the_old_kind_see_the_same_tools(door: Open, mode: str) -> None:
    @on_a_loop
    async def story() -> None:
        async with door.client(mode=mode) as client:
            tools = (await client.list_tools()).tools
            assert [each.name for each in tools] == NAMES
            for each in tools:
                assert each.description
                assert each.output_schema
                assert each.input_schema["additionalProperties"] is False
            reading = [
                each.name for each in tools if each.annotations and each.annotations.read_only_hint
            ]
            assert reading == ["search_memory", "list_events", "list_goals", "list_pending"]
            assert (await ask(client, "list_events"))["timezone"] == "America/Chicago"

    story()


@on_a_loop
async def test_memory_is_searched_on_behalf_of_the_member(door: Open) -> None:
    remember(door.serving, "john", "Leo is allergic to peanuts.")
    remember(door.serving, "sarah", "I am saving for a surprise trip to Lisbon.", is_private=True)
    async with door.client() as john, door.client(door.serving.token("sarah")) as sarah:
        found = await ask(john, "search_memory", query="what is Leo allergic to", limit=1)
        assert [each["text"] for each in found["results"]] == ["Leo is allergic to peanuts"]
        assert datetime.fromisoformat(found["results"][0]["at"]).utcoffset() == timedelta(hours=-6)
        hers = await ask(sarah, "search_memory", query="surprise trip to Lisbon")
        assert "Lisbon" in str(hers)
        assert "Lisbon" not in str(
            await ask(john, "search_memory", query="surprise trip to Lisbon")
        )


@on_a_loop
async def test_memory_is_searched_as_of_a_time(door: Open) -> None:
    remember(door.serving, "john", "Leo is allergic to peanuts.")
    async with door.client() as client:
        now = await ask(client, "search_memory", query="what is Leo allergic to")
        told = datetime.fromisoformat(now["results"][0]["at"]).date()
        before = (told - timedelta(days=1)).isoformat()
        asked = {"query": "what is Leo allergic to", "as_of": before}
        assert (await ask(client, "search_memory", **asked))["results"] == []
        asked["as_of"] = told.isoformat()
        assert (await ask(client, "search_memory", **asked))["results"] == now["results"]
        assert "write e.g." in await refusal(client, "search_memory", query="Leo", as_of="some day")


@on_a_loop
async def test_events_come_with_times_of_the_household(door: Open) -> None:
    async with door.client() as client:
        found = await ask(client, "list_events", start="2026-03-05", days=1, member="leo")
        assert (found["first"], found["last"], found["is_cut"]) == (
            "2026-03-05",
            "2026-03-05",
            False,
        )
        (event,) = found["events"]
        assert (event["summary"], event["start"]) == (
            "Leo soccer practice",
            "2026-03-05T16:30:00-06:00",
        )
        planned = await ask(client, "search_memory", query="soccer practice", kinds=["event"])
        assert {each["kind"] for each in planned["results"]} == {"event"}


@on_a_loop
async def test_what_is_to_be_remembered_waits_for_a_person(door: Open) -> None:
    store, household = door.serving.context.store, door.serving.system.household.id
    async with door.client() as client:
        told = await ask(client, "remember", text="Leo is allergic to peanuts")
        again = await ask(client, "remember", text="Leo is allergic to peanuts")
        assert told["action_id"] == again["action_id"]
        assert told["status"] == "awaiting"
        assert "/pending" in told["note"]
        (waiting,) = (await ask(client, "list_pending"))["pending"]
        assert (waiting["id"], waiting["origin"]) == (told["action_id"], "mcp")
        assert waiting["details"] == ["text: Leo is allergic to peanuts"]
        assert known_to(door.serving) == []
        action = store.read_now(lambda conn: load_action(conn, household, told["action_id"]))
        assert action.status is ActionStatus.PENDING
    async with door.serving.bearing(door.serving.token("sarah")) as sarah:
        pressed = await sarah.post(f"/api/pending/{told['action_id']}/confirm", json={})
        assert pressed.status_code == 200, pressed.text
    assert [each.narrative for each in known_to(door.serving)] == ["Leo is allergic to peanuts"]


@on_a_loop
async def test_what_is_for_one_person_alone_is_proposed_to_them_alone(door: Open) -> None:
    async with door.client() as john, door.client(door.serving.token("sarah")) as sarah:
        await ask(john, "remember", text="I am saving for a trip to Lisbon", private=True)
        assert "Lisbon" in str(await ask(john, "list_pending"))
        assert (await ask(sarah, "list_pending"))["pending"] == []


@on_a_loop
async def test_goals_are_read_as_their_person_and_changed_only_with_their_approval(
    door: Open,
) -> None:
    async def approve(action_id: str, by: str = "john") -> int:
        async with door.serving.bearing(door.serving.token(by)) as person:
            pressed = await person.post(f"/api/pending/{action_id}/confirm", json={})
            return pressed.status_code

    async with door.client() as john, door.client(door.serving.token("sarah")) as sarah:
        told = await ask(john, "add_goal", text="a surprise kayak", kind="watch")
        assert "/pending" in told["note"]
        assert (await ask(john, "list_goals"))["goals"] == []
        assert (await ask(sarah, "list_pending"))["pending"] == []
        assert await approve(told["action_id"], by="sarah") in {403, 404}
        assert await approve(told["action_id"]) == 200
        (goal,) = (await ask(john, "list_goals"))["goals"]
        assert (goal["title"], goal["status"]) == ("a surprise kayak", "pending")
        assert (await ask(sarah, "list_goals", include_finished=True))["goals"] == []
        assert "kayak" not in await refusal(
            sarah, "change_goal", goal_id=goal["id"], change="cancel"
        )
        for change, status in (("pause", "paused"), ("resume", "pending"), ("cancel", "cancelled")):
            told = await ask(john, "change_goal", goal_id=goal["id"], change=change)
            before = (await ask(john, "list_goals", query="kayak"))["goals"]
            assert before[0]["status"] != status
            assert await approve(told["action_id"]) == 200
            found = await ask(john, "list_goals", include_finished=True)
            assert [each["status"] for each in found["goals"]] == [status]


@on_a_loop
async def test_a_model_cannot_flood_the_family_with_proposals(door: Open) -> None:
    async with door.client() as client:
        for number in range(30):
            await ask(client, "remember", text=f"Leo's locker number {number} is at school")
        assert "first" in await refusal(client, "remember", text="Mia likes plums")
        found = await ask(client, "list_pending", limit=20)
        assert (len(found["pending"]), found["is_cut"]) == (20, True)
        door.serving.clock.advance_to(door.serving.clock.now() + timedelta(days=2))
        await ask(client, "remember", text="Mia likes plums")


@on_a_loop
async def test_wrong_arguments_are_told_to_the_model(door: Open) -> None:
    async with door.client() as client:
        assert "days" in await refusal(client, "list_events", days="many")
        assert "days" in await refusal(client, "list_events", days=10_000)
        assert "'nobody'" in await refusal(client, "list_events", member="nobody")
        assert "1500" in await refusal(client, "list_events", start="1500-01-01")
        assert "query" in await refusal(client, "search_memory")
        assert "yes" in await refusal(client, "remember", text="x", yes=True)
        assert "text" in await refusal(client, "remember", text="x" * 5000)
        assert "remember" in await refusal(client, "remember", text="  ")
        with pytest.raises(MCPError, match="list_pending"):
            await client.call_tool("confirm", {})


def test_who_has_no_login_or_lost_it_is_refused(door: Open) -> None:
    told = httpx.post(f"{door.address}/mcp", json=LIST_TOOLS, headers=PROTOCOL)
    assert told.status_code == 401
    assert told.headers["www-authenticate"] == "Bearer"
    token = door.serving.token("john")
    assert door.post(token).status_code == 200
    store, household = door.serving.context.store, door.serving.system.household.id
    now = door.serving.clock.now()
    for key in store.read_now(lambda conn: logins.list_keys(conn, household, member="john")):
        store.write_now(
            lambda conn, key=key: logins.end_key(conn, household, key.id, now=now, member=None)
        )
    door.serving.clock.advance_to(now + timedelta(minutes=1))
    assert door.post(token).status_code == 401


@pytest.mark.parametrize("role", [AccessRole.SCREEN, AccessRole.BRIDGE])
def test_a_login_for_something_else_is_refused(door: Open, role: AccessRole) -> None:
    assert door.post(door.serving.token("john", role)).status_code == 403


@on_a_loop
async def test_a_login_that_may_only_look_proposes_nothing(door: Open) -> None:
    async with door.client(door.serving.token("john", AccessRole.GUEST)) as client:
        assert (await ask(client, "list_events"))["events"]
        for tool, wanted in (
            ("remember", {"text": "Mia likes plums"}),
            ("add_goal", {"text": "a kayak"}),
            ("change_goal", {"goal_id": "12345678", "change": "pause"}),
        ):
            assert "read-only" in await refusal(client, tool, **wanted)


def test_a_page_of_another_site_and_another_name_of_this_machine_are_refused(door: Open) -> None:
    token = door.serving.token("john")
    assert door.post(token, Origin="https://elsewhere.example").status_code == 403
    assert door.post(token, Origin="null").status_code == 403
    assert door.post(token, Origin=door.address).status_code == 200
    assert door.post(token, Host="rebound.example").status_code == 421


def test_messages_that_are_none_of_the_protocol_are_refused(door: Open) -> None:
    bearer = {**PROTOCOL, "Authorization": f"Bearer {door.serving.token('john')}"}
    for body in (b"", b"nonsense", b"[]", b'{"jsonrpc": "2.0"}', b"\xff" * 10):
        told = httpx.post(f"{door.address}/mcp", content=body, headers=bearer)
        assert told.status_code == 400, (body, told.text)
    large = httpx.post(f"{door.address}/mcp", content=b"x" * 300_000, headers=bearer)
    assert large.status_code == 413
    assert httpx.get(f"{door.address}/mcp", headers=bearer).status_code == 405
    assert httpx.delete(f"{door.address}/mcp", headers=bearer).status_code == 405


def test_too_many_requests_are_told_to_wait(tmp_path: Path) -> None:
    rates = RateLimits(write=Rate(0.01, 1))
    with served(tmp_path, rates=rates) as serving, listening(serving) as address:
        door, token = Open(serving, address), serving.token("john")
        # The first request of a login that the program has not met counts for its address.
        assert [door.post(token).status_code for _ in range(3)] == [200, 200, 429]


@on_a_loop
async def test_households_know_nothing_of_each_other(door: Open, tmp_path: Path) -> None:
    remember(door.serving, "john", "Leo is allergic to peanuts.")
    with with_neighbours(door.serving, tmp_path) as both, listening(both) as address:
        here = Open(both, address)
        async with here.client() as client:
            await ask(client, "remember", text="Mia likes plums")
        async with here.client(both.token("john", household="jones")) as client:
            assert (await ask(client, "list_pending"))["pending"] == []
            assert (await ask(client, "search_memory", query="allergic peanuts"))["results"] == []
