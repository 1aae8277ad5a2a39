"""What a person says over HTTP: streamed, resumed, stopped, explained, and nobody else's."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from kinkeeper.web.access.model import AccessRole
from page_visits import FREE
from talking import on_a_loop
from web_server import Served, served


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, rates=FREE) as serving:
        yield serving


def events(text: str) -> list[tuple[int, str, dict[str, Any]]]:
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in lines:
            found.append((int(lines["id"]), lines["event"], json.loads(lines["data"])))
    return found


async def say(client: httpx.AsyncClient, text: str, **more: str) -> httpx.Response:
    answer = await client.post("/chat", json={"text": text, **more})
    assert answer.status_code == 200, answer.text
    return answer


@on_a_loop
async def test_an_answer_is_streamed_and_stands_in_the_history(house: Served) -> None:
    async with house.bearing(house.token("john")) as client:
        answer = await say(client, "hello", thread="kitchen", message_id="m1")
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-thread"] == "kitchen"
        told = events(answer.text)
        assert [number for number, *_ in told] == list(range(1, len(told) + 1))
        assert told[-1][1] == "done"
        listed = (await client.get("/api/threads")).json()["threads"]
        assert [(each["id"], each["title"]) for each in listed] == [("kitchen", "hello")]
        history = (await client.get("/api/threads/kitchen")).json()
        assert history["turns"][0]["answer"] == told[-1][2]["text"]
        assert history["turns"][0]["outcome"] == "answered"


@on_a_loop
async def test_a_message_sent_again_gives_the_same_stream(house: Served) -> None:
    async with house.bearing(house.token("john")) as client:
        first = await say(client, "hello", message_id="m1")
        again = await say(client, "hello", message_id="m1")
        assert events(first.text) == events(again.text)


@on_a_loop
async def test_what_was_used_and_how_it_was_decided_is_told(house: Served) -> None:
    async with house.bearing(house.token("john")) as client:
        answer = await say(client, "what's on tomorrow?")
        why = (await client.get(f"/api/turns/{answer.headers['x-turn']}")).json()
        assert why["turn"]["text"] == "what's on tomorrow?"
        assert why["routing"]["mode"]
        assert "route" in why["stages_ms"]
        routing = (await client.get("/api/observability/routing")).json()["rows"]
        assert [each["turn"] for each in routing] == [answer.headers["x-turn"]]
        assert (await client.get("/api/observability/jobs")).json()["answering"] == {"answered": 1}
        for name in ("calls", "iterations"):
            assert (await client.get(f"/api/observability/{name}")).status_code == 200


@on_a_loop
async def test_how_turns_were_decided_is_for_the_owner_and_without_words(house: Served) -> None:
    async with house.bearing(house.token("john")) as client:
        await say(client, "remind me to call the plumber tomorrow at 5pm")
        await say(client, "hello there")
        told = {
            name: (await client.get(f"/api/observability/{name}")).json()
            for name in ("routing", "calls", "iterations", "jobs", "drift", "bars")
        }
        assert "plumber" not in json.dumps(told)
        assert told["routing"]["decisions"] == 2
        shares = {each["mode"]: each["share"] for each in told["routing"]["shares"]}
        assert shares["ACKNOWLEDGE"] == 0.5
        assert {each["is_healthy"] for each in told["routing"]["shares"]} == {None}
        assert all(each["had_effect"] <= each["fired"] for each in told["routing"]["effects"])
        assert {"rows", "cycles", "runs", "verdicts"} <= told["iterations"].keys()
        assert told["bars"]["reviews"]["reviewed"] == 0
        status = (await client.get("/health")).text
        assert "What influences answers" in status
        assert "Reviews of past answers" in status
    async with house.bearing(house.token("john", AccessRole.ADULT)) as client:
        for name in told:
            assert (await client.get(f"/api/observability/{name}")).status_code == 403


@on_a_loop
async def test_nobody_reads_the_talk_of_another(house: Served) -> None:
    others = [
        each for each in house.system.household.members if each.is_adult and each.id != "john"
    ]
    async with (
        house.bearing(house.token("john")) as john,
        house.bearing(house.token(others[0].id)) as other,
    ):
        turn = (await say(john, "hello", thread="mine")).headers["x-turn"]
        for path in ("/api/threads/mine", "/chat/mine/events", f"/api/turns/{turn}"):
            assert (await other.get(path)).status_code == 404, path
        assert (await other.post("/chat/mine/stop")).status_code == 404
        assert (await other.get("/api/threads")).json()["threads"] == []


@on_a_loop
async def test_a_login_that_may_only_look_does_not_speak_for_an_adult(house: Served) -> None:
    async with house.bearing(house.token("john", AccessRole.GUEST)) as client:
        assert (await client.post("/chat", json={"text": "yes"})).status_code == 403


@pytest.mark.parametrize(
    "body", [{}, {"text": ""}, {"text": "  "}, {"text": "x" * 20_000}, {"text": "x", "thread": ""}]
)
def test_what_is_no_message_is_refused(house: Served, body: dict[str, str]) -> None:
    @on_a_loop
    async def post() -> None:
        async with house.bearing(house.token("john")) as client:
            assert (await client.post("/chat", json=body)).status_code == 422

    post()


@on_a_loop
async def test_stopping_where_nothing_is_under_way_stops_nothing(house: Served) -> None:
    async with house.bearing(house.token("john")) as client:
        await say(client, "hello", thread="kitchen")
        assert (await client.post("/chat/kitchen/stop")).json() == {"stopped": 0}


@pytest.mark.parametrize("field", ["text", "thread", "message_id"])
@on_a_loop
async def test_half_a_character_is_told_of_or_borne(house: Served, field: str) -> None:
    sent = json.dumps({"text": "hello", "thread": "kitchen", "message_id": "m1", field: "a\ud800"})
    async with house.bearing(house.token("john")) as client:
        answer = await client.post(
            "/chat", content=sent, headers={"Content-Type": "application/json"}
        )
    assert answer.status_code in {200, 400, 422}


@on_a_loop
async def test_a_thread_may_be_called_anything(house: Served) -> None:
    async with house.bearing(house.token("john")) as client:
        answer = await say(client, "hello", thread="кухня 🍲")
        assert unquote(answer.headers["x-thread"]) == "кухня 🍲"
        listed = (await client.get("/api/threads")).json()["threads"]
        assert [each["id"] for each in listed] == ["кухня 🍲"]
