"""Large and hostile calendar files against a live server: others go on writing, and it stops when told."""

import signal
import time
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from cli_program import Program
from running_server import Running, prepared, running, token, where

pytestmark = pytest.mark.slow

PATH = "/api/events/import"
# Promised is one second on a quiet machine; several others work on this one.
LONGEST_WAIT_SECONDS = 3.0
LONGEST_STOP_SECONDS = 10.0
EVENTS = 1500


def calendar(events: list[str]) -> str:
    body = "".join(f"BEGIN:VEVENT\r\n{event}END:VEVENT\r\n" for event in events)
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{body}END:VCALENDAR\r\n"


def bomb() -> str:
    """Return 1,999 series of one occurrence a day, for ever, in 400 kB."""
    return calendar(
        [
            f"UID:{n}@bomb\r\nDTSTART:20000101T{n % 24:02d}0000Z\r\nDTEND:20000101T{n % 24:02d}3000Z\r\n"
            f"SUMMARY:Series {n} {'x' * 60}\r\nRRULE:FREQ=DAILY\r\n"
            for n in range(1999)
        ]
    )


def large() -> str:
    """Return single events of the coming days, each with a title of its own."""
    begin = datetime.now(UTC) + timedelta(days=1)
    return calendar(
        [
            f"UID:{n}@large\r\nDTSTART:{begin + timedelta(hours=n):%Y%m%dT%H0000Z}\r\nDURATION:PT30M\r\n"
            f"SUMMARY:Lesson {n}\r\n"
            for n in range(EVENTS)
        ]
    )


def sent(server: Running, secret: str, file: str) -> httpx.Response:
    with httpx.Client(base_url=server.address, timeout=300) as client:
        head = {"Authorization": f"Bearer {secret}", "Content-Type": "text/calendar"}
        return client.post(PATH, content=file.encode(), headers=head)


def wait_of_others(server: Running, secret: str, meanwhile: Future[Any]) -> float:
    """Write and ask until something is over; returns the longest time that took."""
    longest, number = 0.0, 0
    with server.client(secret) as client:
        while not meanwhile.done() or number == 0:
            begun = time.monotonic()
            wish = {"summary": f"Beside {number}", "start": "2026-03-07T10:00:00"}
            answer = client.post("/api/events", json=wish)
            assert answer.status_code == 201, answer.text
            assert client.get("/healthz").status_code == 200
            longest = max(longest, time.monotonic() - begun)
            number += 1
    return longest


@pytest.fixture
def home(program: Program) -> Program:
    return prepared(program)


def lessons(home: Program) -> list[str]:
    """Return the titles of lessons in the calendar, each as often as it takes place."""
    until = (datetime.now(UTC) + timedelta(days=90)).date().isoformat()
    found = home.bare("events", "--to", until, "--json", *where(home)).value
    return [each["summary"] for each in found if each["summary"].startswith("Lesson ")]


@pytest.mark.parametrize(("file", "status"), [(bomb, 422), (large, 200)])
def test_others_write_while_a_file_is_imported(home: Program, file: Any, status: int) -> None:
    secret = token(home, "john", "--role", "owner")
    with running(home) as server, ThreadPoolExecutor(1) as pool:
        importing = pool.submit(sent, server, secret, file())
        longest = wait_of_others(server, secret, importing)
        answer = importing.result()
        assert answer.status_code == status, answer.text[:500]
        if status == 422:
            assert "line" in answer.text
        else:
            assert answer.json()["incomplete"] is None
        assert longest < LONGEST_WAIT_SECONDS
        assert server.end(seconds=LONGEST_STOP_SECONDS) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_that_ends_in_the_middle_leaves_whole_events_and_the_rest_for_later(
    home: Program, number: signal.Signals
) -> None:
    secret = token(home, "john", "--role", "owner")
    with running(home) as server, ThreadPoolExecutor(1) as pool:
        importing = pool.submit(sent, server, secret, large())
        with server.client(secret) as client:
            while "Lesson" not in client.get("/api/events").text:
                assert not importing.done()
                time.sleep(0.05)
        server.process.send_signal(number)
        begun = time.monotonic()
        server.process.wait(timeout=60)
        assert time.monotonic() - begun < LONGEST_STOP_SECONDS
        if number is signal.SIGTERM:
            report = importing.result().json()
            assert "Import the same file again" in report["incomplete"]
    before = lessons(home)
    assert 0 < len(before) < EVENTS
    assert len(set(before)) == len(before)
    with running(home) as server:
        report = sent(server, secret, large()).json()
        assert report["incomplete"] is None
        assert [each["status"] for each in report["events"]].count("unchanged") == len(before)
    assert sorted(lessons(home)) == sorted(f"Lesson {n}" for n in range(EVENTS))
