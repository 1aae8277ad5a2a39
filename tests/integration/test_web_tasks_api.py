"""Tasks over HTTP."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kinkeeper.web.access.model import AccessRole
from web_server import Served, served


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


def test_a_task_is_added_listed_changed_done_and_taken_back(house: Served) -> None:
    status, made = ask(
        house, "POST", "/api/tasks", json={"title": "Call mom", "deadline": "2026-03-03T17:00:00"}
    )
    assert (status, made["status"]) == (201, "done")
    task = made["task"]
    assert task["deadline"] == task["remind_at"] == "2026-03-03T17:00:00-06:00"
    assert task["who"] == ["john"]
    path = f"/api/tasks/{task['id']}"
    status, changed = ask(house, "PATCH", path, json={"deadline": "18:00", "priority": "high"})
    assert changed["task"]["deadline"] == "2026-03-03T18:00:00-06:00"
    assert ask(house, "GET", "/api/tasks")[1]["tasks"] == [changed["task"]]
    status, done = ask(house, "POST", f"{path}/complete")
    assert (status, done["task"]["status"]) == (200, "done")
    assert ask(house, "GET", "/api/tasks")[1]["tasks"] == []
    assert ask(house, "GET", "/api/tasks?status=done")[1]["tasks"][0]["id"] == task["id"]
    status, undone = ask(house, "POST", f"/api/actions/{done['action_id']}/undo", json={})
    assert undone["outcome"] == "undone"
    assert ask(house, "GET", "/api/tasks")[1]["tasks"] == [changed["task"]]


def test_an_adult_removes_a_task_at_once_and_a_child_asks(house: Served) -> None:
    _, made = ask(house, "POST", "/api/tasks", json={"title": "Buy stamps"})
    path = f"/api/tasks/{made['task']['id']}"
    status, told = ask(house, "DELETE", path, member="leo", role=AccessRole.CHILD)
    assert (status, told["status"]) == (202, "awaiting")
    assert ask(house, "DELETE", path)[0] == 200
    assert ask(house, "DELETE", path)[0] == 404


def test_a_login_for_looking_changes_nothing(house: Served) -> None:
    status, refused = ask(
        house, "POST", "/api/tasks", json={"title": "x"}, member="sarah", role=AccessRole.GUEST
    )
    assert status == 403, refused


def test_the_same_request_sent_again_adds_nothing(house: Served) -> None:
    for _ in range(2):
        ask(house, "POST", "/api/tasks", json={"title": "Once"}, headers={"Idempotency-Key": "k"})
    assert len(ask(house, "GET", "/api/tasks")[1]["tasks"]) == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/api/tasks", {"title": ""}, 422),
        ("POST", "/api/tasks", {"title": "x", "deadline": "2026-03-01"}, 422),
        ("POST", "/api/tasks", {"title": "x", "deadline": "soon"}, 422),
        ("POST", "/api/tasks", {"title": "x", "who": "nobody here"}, 422),
        ("POST", "/api/tasks", {"title": "\u200b"}, 422),
        ("PATCH", "/api/tasks/none", {"title": "y"}, 404),
        ("POST", "/api/tasks/none/complete", {}, 404),
    ],
)
def test_what_cannot_be_done_is_told(
    house: Served, method: str, path: str, body: dict[str, str], status: int
) -> None:
    found, problem = ask(house, method, path, json=body)
    assert found == status
    assert problem["detail"]


def test_a_task_is_named_by_its_id_only(house: Served) -> None:
    ask(house, "POST", "/api/tasks", json={"title": "Buy stamps"})
    assert ask(house, "POST", "/api/tasks/stamps/complete")[0] == 404
