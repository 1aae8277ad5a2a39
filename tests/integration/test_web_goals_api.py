"""Goals over HTTP."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kinkeeper.web.access.model import AccessRole
from web_server import BROWSER, Served, served

STEPS = [
    {"id": "a", "description": "ask the school for camps"},
    {"id": "b", "description": "compare what four camps cost", "depends_on": ["a"]},
]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as serving:
        yield serving


def ask(
    house: Served,
    method: str,
    path: str,
    *,
    member: str = "john",
    role: AccessRole = AccessRole.OWNER,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> tuple[int, Any]:
    async def call() -> tuple[int, Any]:
        async with house.bearing(house.token(member, role)) as client:
            answer = await client.request(method, path, headers=headers, **more)
            return answer.status_code, answer.json()

    return asyncio.run(call())


def test_a_goal_is_taken_on_shown_paused_and_stopped(house: Served) -> None:
    status, made = ask(
        house,
        "POST",
        "/api/goals",
        json={"text": "a camp for Leo", "steps": STEPS, "confidence": 0.9},
    )
    assert (status, made["status"]) == (201, "done")
    goal = made["goal"]
    assert (goal["status"], goal["coverage"], len(goal["steps"])) == ("pending", 0, 2)
    path = f"/api/goals/{goal['id']}"
    assert ask(house, "GET", path) == (200, goal)
    for change, became in (("pause", "paused"), ("resume", "pending"), ("cancel", "cancelled")):
        status, told = ask(house, "POST", f"{path}/{change}")
        assert (status, told["goal"]["status"]) == (200, became)
    assert ask(house, "GET", "/api/goals")[1]["goals"] == []
    assert [each["id"] for each in ask(house, "GET", "/api/goals?all=true")[1]["goals"]] == [
        goal["id"]
    ]
    assert ask(house, "POST", f"{path}/resume")[0] in {404, 409}
    assert ask(house, "POST", f"{path}/destroy")[0] == 422


def test_what_was_taken_on_is_taken_back(house: Served) -> None:
    _, made = ask(house, "POST", "/api/goals", json={"text": "a camp for Leo"})
    _, undone = ask(house, "POST", f"/api/actions/{made['action_id']}/undo", json={})
    assert undone["outcome"] == "undone"
    assert ask(house, "GET", "/api/goals")[1]["goals"] == []


@pytest.mark.parametrize(
    ("member", "role"), [("leo", AccessRole.CHILD), ("sarah", AccessRole.ADULT)]
)
def test_everybodys_goals_are_their_own(house: Served, member: str, role: AccessRole) -> None:
    _, johns = ask(house, "POST", "/api/goals", json={"text": "a present for Sarah"})
    status, made = ask(
        house, "POST", "/api/goals", json={"text": "a guitar"}, member=member, role=role
    )
    assert (status, made["status"]) == (201, "done")
    _, seen = ask(house, "GET", "/api/goals", member=member, role=role)
    assert [each["title"] for each in seen["goals"]] == ["a guitar"]
    path = f"/api/goals/{johns['goal']['id']}"
    assert ask(house, "GET", path, member=member, role=role)[0] == 404
    assert ask(house, "POST", f"{path}/cancel", member=member, role=role)[0] == 404
    assert [each["title"] for each in ask(house, "GET", "/api/goals")[1]["goals"]] == [
        "a present for Sarah"
    ]
    for kind in ("", "?status=done"):
        _, cards = ask(house, "GET", f"/api/pending{kind}", member=member, role=role)
        assert "present" not in str(cards)


def test_a_login_for_looking_takes_nothing_on(house: Served) -> None:
    status, _ = ask(
        house, "POST", "/api/goals", json={"text": "x"}, member="sarah", role=AccessRole.GUEST
    )
    assert status == 403


def test_the_same_request_sent_again_adds_nothing(house: Served) -> None:
    for _ in range(2):
        ask(house, "POST", "/api/goals", json={"text": "a camp"}, headers={"Idempotency-Key": "k"})
    assert len(ask(house, "GET", "/api/goals?all=true")[1]["goals"]) == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"text": ""}, 422),
        ({"text": " ?!"}, 422),
        ({"text": "x", "kind": "sing"}, 422),
        ({"text": "x", "kind": "ask", "at": "soon"}, 422),
        ({"text": "x", "kind": "ask"}, 422),
        ({"text": "x" * 301}, 422),
        ({"text": "x", "confidence": 2}, 422),
        ({"text": "x", "steps": [{}]}, 422),
    ],
)
def test_what_is_no_goal_is_refused(house: Served, body: dict[str, Any], status: int) -> None:
    assert ask(house, "POST", "/api/goals", json=body)[0] == status


def test_work_on_goals_is_counted(house: Served) -> None:
    _, jobs = ask(house, "GET", "/api/observability/jobs")
    assert jobs["goals"] == {}


def test_the_status_page_shows_the_work_on_goals(house: Served) -> None:
    async def page() -> str:
        async with house.client(headers=BROWSER) as client:
            await house.log_in(client, "john", AccessRole.OWNER)
            client.follow_redirects = True
            return (await client.get("/health")).text

    assert "Work on goals" in asyncio.run(page())
