"""What holds for every request and answer, whatever route it is for."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog
from fastapi import APIRouter

from kinkeeper.core.errors import InvariantError, UnavailableError
from kinkeeper.observability.log import log_as_json
from kinkeeper.web.security.request_limits import LARGEST_BYTES, Rate, RateLimits
from web_server import BROWSER, Served, served

PROBLEM = "application/problem+json"
SECRET_TEXT = "Leo hat morgen Zahnarzt"  # noqa: S105 - what somebody wrote


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as serving:
        yield serving


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    log_as_json(stream)
    try:
        yield stream
    finally:
        structlog.reset_defaults()


def ask(house: Served, method: str, path: str, **more: Any) -> Any:
    async def story() -> Any:
        async with house.client() as client:
            return await client.request(method, path, **more)

    return asyncio.run(story())


@pytest.mark.parametrize(
    "path", ["/healthz", "/login", "/nothing", "/api/me", "/invite/" + "x" * 30]
)
def test_every_answer_carries_the_security_headers(house: Served, path: str) -> None:
    headers = ask(house, "GET", path, headers=BROWSER).headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]
    assert headers["x-request-id"]
    assert "server" not in headers


def test_request_ids_differ(house: Served) -> None:
    ids = {ask(house, "GET", "/healthz").headers["x-request-id"] for _ in range(5)}
    assert len(ids) == 5


def test_a_rebound_name_reaches_nothing(house: Served) -> None:
    token = house.token("sarah")
    for path in ("/healthz", "/api/me", "/login"):
        headers = {"Host": "evil.example:8765", "Authorization": f"Bearer {token}"}
        answer = ask(house, "GET", path, headers=headers)
        assert answer.status_code == 421
        assert answer.headers["content-type"] == PROBLEM


def test_errors_are_problems_for_programs_and_pages_for_people(house: Served) -> None:
    told = ask(house, "GET", "/nothing")
    assert told.headers["content-type"] == PROBLEM
    assert {"type", "title", "status", "detail"} <= set(told.json())
    assert told.json()["status"] == 404
    shown = ask(house, "GET", "/nothing", headers=BROWSER)
    assert shown.status_code == 404
    assert "<h1>Page not found</h1>" in shown.text
    wrong = ask(house, "PUT", "/login")
    assert (wrong.status_code, wrong.headers["content-type"]) == (405, PROBLEM)


@pytest.mark.parametrize("path", ["/why/a%00b", "/pending?about=%00", "/invite/" + "%00" * 30])
def test_what_no_database_server_takes_goes_no_further(house: Served, path: str) -> None:
    token = house.token("sarah")
    answer = ask(house, "GET", path, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == PROBLEM


def test_bad_input_is_named_by_its_place(house: Served) -> None:
    async def story() -> Any:
        async with house.bearing(house.token("john")) as client:
            bad_json = await client.post(
                "/api/invites", content=b"{", headers={"Content-Type": "application/json"}
            )
            return bad_json, await client.post("/api/invites", json={"member": 1, "hours": 0})

    bad_json, bad_fields = asyncio.run(story())
    assert bad_json.status_code == 422
    assert bad_fields.status_code == 422
    places = {tuple(each["where"]) for each in bad_fields.json()["errors"]}
    assert places == {("body", "member"), ("body", "hours")}


@pytest.mark.parametrize("size", [LARGEST_BYTES + 1, LARGEST_BYTES * 20])
@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_over_the_limit_is_refused(house: Served, size: int, is_chunked: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(0, size, 1000):
            yield b"x" * 1000

    async def story() -> Any:
        async with house.bearing(house.token("sarah")) as client:
            body = pieces() if is_chunked else b"x" * size
            headers = {"Content-Type": "application/json"}
            return await client.post("/api/invites", content=body, headers=headers)

    answer = asyncio.run(story())
    assert (answer.status_code, answer.headers["content-type"]) == (413, PROBLEM)
    assert "content-security-policy" in answer.headers


def test_a_client_that_asks_too_often_waits_and_others_do_not(tmp_path: Path) -> None:
    limits = RateLimits(read=Rate(0.5, 3))

    async def story(house: Served) -> None:
        async with house.client() as client:
            codes = [(await client.get("/api/me")).status_code for _ in range(5)]
            assert codes == [401, 401, 401, 429, 429]
            told = await client.get("/api/me")
            assert told.headers["content-type"] == PROBLEM
            assert (await client.get("/healthz")).status_code == 200
            waits = timedelta(seconds=int(told.headers["retry-after"]))
            house.clock.advance_to(house.clock.now() + waits)
            assert (await client.get("/api/me")).status_code == 401

    with served(tmp_path, rates=limits) as house:
        asyncio.run(story(house))


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_who_shares_an_address_does_not_use_up_what_others_may_do(
    tmp_path: Path, method: str
) -> None:
    limits = RateLimits(read=Rate(0.1, 3), write=Rate(0.1, 3))
    path = "/api/me" if method == "GET" else "/api/invites"

    async def story(house: Served) -> None:
        bearing = [
            {"Authorization": f"Bearer {each}"}
            for each in (house.token("sarah"), house.token("leo"))
        ]
        member, neighbour = bearing
        async with house.client() as client:

            async def asked(headers: dict[str, str], times: int) -> list[bool]:
                answers = [
                    await client.request(method, path, headers=headers) for _ in range(times)
                ]
                return [each.status_code != 429 for each in answers]

            for each in bearing:
                await client.request(method, path, headers=each)
            for strangers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": "kinkeeper=wrong"}):
                assert not all(await asked(strangers, 3)), strangers
            assert await asked(neighbour, 5) == [True] * 3 + [False] * 2
            assert await asked(member, 4) == [True] * 3 + [False]

    with served(tmp_path, rates=limits) as house:
        asyncio.run(story(house))


def test_guessing_invites_is_slowed_down(house: Served) -> None:
    async def story() -> set[int]:
        async with house.client() as client:
            return {(await client.post(f"/invite/{'x' * 30}{n}")).status_code for n in range(40)}

    assert asyncio.run(story()) == {404, 429}


def failing(error: Exception) -> APIRouter:
    router = APIRouter()

    @router.get("/failing")
    async def fail() -> None:
        raise error

    return router


@pytest.mark.parametrize("headers", [{}, BROWSER])
def test_a_bug_tells_nobody_what_was_written(
    house: Served, log: io.StringIO, headers: dict[str, str]
) -> None:
    house.app.include_router(failing(ValueError(SECRET_TEXT)))
    answer = ask(house, "GET", "/failing", headers=headers)
    assert answer.status_code == 500
    assert SECRET_TEXT not in answer.text
    assert SECRET_TEXT not in log.getvalue()
    assert answer.headers["x-request-id"] in log.getvalue()
    assert answer.headers["x-request-id"] in answer.text
    assert answer.headers["content-type"].startswith("text/html" if headers else PROBLEM)
    assert "test_web_guard.py" in log.getvalue()


def test_a_broken_promise_is_a_bug_and_an_unreachable_database_passes(house: Served) -> None:
    house.app.include_router(failing(InvariantError("no")))
    assert ask(house, "GET", "/failing").status_code == 500


def test_what_may_pass_says_when_to_come_again(house: Served) -> None:
    house.app.include_router(failing(UnavailableError("the disk is full; free some space")))
    answer = ask(house, "GET", "/failing")
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1
    assert "free some space" in answer.json()["detail"]


def test_the_log_holds_no_address_text_name_or_secret(house: Served, log: io.StringIO) -> None:
    message = {
        "chat_id": "family",
        "message_id": "m1",
        "sender": "sarah",
        "text": SECRET_TEXT,
        "sent_at": "2026-03-02T08:01:00-06:00",
    }

    async def story() -> list[str]:
        invite = house.invitation("sarah")
        token = house.token("sarah")
        async with house.client(headers=BROWSER) as phone, house.bearing(token) as program:
            await phone.post(invite)
            await phone.post(invite)
            await program.post("/observe", json=message)
            await program.post("/observe", json={**message, "text": "other"})
            await program.post("/observe", json={**message, "chat_id": "elsewhere"})
            await program.get("/api/me?text=Zahnarzt")
            await program.get("/nothing/Sarah")
            return [token, invite.split("/")[-1], phone.cookies["kinkeeper"]]

    secrets = asyncio.run(story())
    written = log.getvalue()
    events = [json.loads(line) for line in written.splitlines()]
    assert {each["event"] for each in events} == {"web.request.refused"}
    assert {each["route"] for each in events} <= {"/observe", "/invite/{code}", "unmatched"}
    for word in [*secrets, "Zahnarzt", "sarah", "Sarah", "family", "elsewhere", "127.0.0.1"]:
        assert word not in written, word


def test_figures_count_routes_not_paths(house: Served) -> None:
    async def story() -> str:
        async with house.bearing(house.token("sarah")) as client:
            for number in range(30):
                await client.get(f"/nothing/{number}")
                await client.delete(f"/api/keys/{number}")
            await client.request("BREW", "/api/me")
            return (await client.get("/metrics")).text

    text = asyncio.run(story())
    assert 'route="unmatched"' in text
    assert (
        'kinkeeper_http_requests_total{method="DELETE",route="/api/keys/{key_id}",status="404"} 30.0'
        in text
    )
    assert "/nothing" not in text
    assert "BREW" not in text
    assert "sarah" not in text


def test_readiness_tells_what_is_missing(tmp_path: Path) -> None:
    missing: list[str | None] = [None]

    async def check() -> str | None:
        return missing[0]

    with served(tmp_path, checks={"jobs": check}) as house:
        assert ask(house, "GET", "/readyz").json() == {"status": "ok", "checks": {"jobs": "ok"}}
        missing[0] = "no worker is running"
        answer = ask(house, "GET", "/readyz")
        assert answer.status_code == 503
        assert answer.json()["checks"] == {"jobs": "no worker is running"}
        assert ask(house, "GET", "/healthz").status_code == 200
