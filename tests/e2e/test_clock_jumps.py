"""A running server whose clock is set ahead and back: reminders come once, logins live, and nothing hangs."""

import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
from sqlalchemy import select

from cli_program import Program
from kinkeeper.conversation.tables import turns
from kinkeeper.store.store import Store
from kinkeeper.tasks.repository import task_reminders
from running_server import Running, decided, prepared, running, token
from warm_process import CLOCK_FILE

PATIENCE_SECONDS = 60
A_MONTH = 30 * 86_400


def told(program: Program) -> Counter[str]:
    """Return how often each reminder was said, by its title."""
    with Store.open(str(program.database)) as store:
        answers = store.read_now(lambda conn: conn.execute(select(turns.c.answer)).scalars().all())
    return Counter(title for title in ("Quokka", "Wombat") for each in answers if title in each)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def remind(client: httpx.Client, title: str, at: datetime, rrule: str | None = None) -> None:
    body = {"title": title, "remind_at": at.isoformat()} | ({"rrule": rrule} if rrule else {})
    answer = client.post("/api/tasks", json=body)
    assert answer.is_success, answer.text


def test_a_server_lives_through_a_clock_that_is_set_ahead_and_back(tmp_path: Path) -> None:
    program, clock = prepared(Program(tmp_path)), tmp_path / "clock"

    def set_clock(seconds: float) -> None:
        fresh = clock.with_suffix(".new")
        fresh.write_text(str(seconds))
        fresh.replace(clock)

    set_clock(0)
    secret = token(program, "sarah")
    with running(program, **{CLOCK_FILE: str(clock)}) as server, server.client(secret) as client:
        now = datetime.now(UTC)
        remind(client, "Quokka", now + timedelta(days=20))
        assert not told(program)
        set_clock(A_MONTH)
        until(lambda: told(program)["Quokka"] == 1)
        assert alive(server, client)
        set_clock(0)
        until(lambda: is_waiting(program))
        # At its real time it is said again, once.
        set_clock(20 * 86_400 + 60)
        until(lambda: told(program)["Quokka"] == 2)
        set_clock(20 * 86_400 - 3600)
        remind(client, "Wombat", now + timedelta(days=20))
        set_clock(20 * 86_400 + 120)
        until(lambda: told(program)["Wombat"] == 1)
        assert told(program) == {"Quokka": 2, "Wombat": 1}
        set_clock(0)
        assert decided(server, secret, 1, "Mia has the dentist Friday at 3pm")["extraction"]
        assert server.end() == 0


def alive(server: Running, client: httpx.Client) -> bool:
    return server.get("/healthz").status_code == 200 and client.get("/api/tasks").status_code == 200


def is_waiting(program: Program) -> bool:
    """Whether a reminder is going to be said."""
    with Store.open(str(program.database)) as store:
        found = store.read_now(lambda conn: conn.execute(select(task_reminders.c.next_at)).all())
    return any(row.next_at is not None for row in found)
