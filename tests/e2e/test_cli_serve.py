"""The server as a program: where it listens, how it stops, what it reports."""

import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from cli_program import Program
from running_server import prepared, running, token, where

pytestmark = pytest.mark.slow

TEXT = "Leo has the dentist tomorrow at 4pm"
FORCED = 70


def message(number: int) -> dict[str, Any]:
    return {
        "chat_id": "family",
        "message_id": f"m{number}",
        "sender": "sarah",
        "text": TEXT,
        "sent_at": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
    }


@pytest.fixture
def home(program: Program) -> Program:
    return prepared(program)


def test_it_serves_and_stops_when_told_without_losing_what_it_acknowledged(home: Program) -> None:
    bridge = token(home, "sarah", "--role", "bridge")
    with running(home) as server, server.client(bridge) as client:
        assert server.get("/healthz").json() == {"status": "ok"}
        assert server.get("/readyz").json()["status"] == "ok"
        codes = [client.post("/observe", json=message(n)).status_code for n in range(5)]
        assert codes == [202] * 5
        assert server.end() == 0
    log = server.log.read_text()
    assert "stopped" in log
    assert "Traceback" not in log
    assert TEXT not in log
    listed = home.bare("why", "m4", *where(home))
    assert listed.code == 0, listed.err


def test_a_request_in_hand_is_answered_before_it_stops(home: Program) -> None:
    bridge = token(home, "sarah", "--role", "bridge")
    with running(home) as server:
        host, port = server.address.removeprefix("http://").split(":")
        body = b'{"chat_id":"family"'
        head = (
            f"POST /observe HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {bridge}\r\n"
            f"Content-Length: {len(body) + 1}\r\n\r\n"
        )
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(head.encode() + body)
            # It is in hand once another request, sent later, was answered.
            assert server.get("/healthz").status_code == 200
            server.process.send_signal(signal.SIGTERM)
            connection.sendall(b"}")
            answer = connection.recv(65536)
        assert answer.startswith(b"HTTP/1.1 422")
        assert server.process.wait(timeout=60) == 0


def test_a_page_that_listens_does_not_hold_it_up(home: Program) -> None:
    reader = token(home, "sarah", "--role", "adult")
    with running(home) as server, server.client(reader) as client:
        with client.stream("GET", "/live") as page:
            events = page.iter_lines()
            assert next(events).startswith("id: ")
            server.process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            assert all(not line.startswith(":") for line in events)
        # It looks every five seconds anyway, and hangs up on those who stay longer.
        assert time.monotonic() - began < 3
        assert server.process.wait(timeout=60) == 0
    assert "Traceback" not in server.log.read_text()


def test_a_second_signal_ends_it_at_once(home: Program) -> None:
    with running(home) as server:
        host, port = server.address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
            assert server.get("/healthz").status_code == 200
            server.process.send_signal(signal.SIGTERM)
            server.process.send_signal(signal.SIGINT)
            assert server.process.wait(timeout=60) in {0, FORCED}


def test_it_reports_to_the_service_manager(home: Program, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(30)
        told: list[bytes] = []
        with running(
            home, NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="400000"
        ) as server:
            # On a busy machine signs of life come before it is ready.
            while told.count(b"WATCHDOG=1") < 3 or b"READY=1" not in told:
                told.append(manager.recv(100))
            assert server.end() == 0
            while b"STOPPING=1" not in told:
                told.append(manager.recv(100))


def test_it_refuses_to_be_open_to_all_while_nobody_can_log_in(home: Program) -> None:
    refused = home.bare("serve", "--host", "0.0.0.0", "--port", "0", *where(home))  # noqa: S104
    assert refused.code == 1
    assert "kinkeeper invite" in refused.err
    # A bridge's token lets no person in.
    token(home, "sarah", "--role", "bridge")
    assert home.bare("serve", "--host", "0.0.0.0", *where(home)).code == 1  # noqa: S104


def test_a_port_that_is_taken_is_one_line(home: Program) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        refused = home.bare("serve", "--port", port, *where(home))
    assert refused.code == 1
    assert port in refused.err
    assert len(refused.err.strip().splitlines()) == 1


def test_a_link_from_the_terminal_logs_in_and_a_revoked_key_does_not(home: Program) -> None:
    with running(home) as server, server.client() as browser:
        made = home.bare("invite", "sarah", "--json", *where(home)).value
        assert made["link"].startswith(f"{server.address}/invite/")
        assert made["phone_link"] is None
        path = "/invite/" + made["link"].rsplit("/", 1)[1]
        assert browser.post(path).status_code == 303
        assert browser.get("/api/me").json()["role"] == "adult"
        keys = home.bare("token", "list", "--json", *where(home)).value
        session = next(key["id"] for key in keys if key["kind"] == "session")
        assert home.bare("token", "revoke", session, *where(home)).code == 0
        deadline = time.monotonic() + 30
        while browser.get("/api/me").status_code != 401:
            assert time.monotonic() < deadline
            time.sleep(0.2)


def test_an_invitation_names_an_address_that_a_phone_can_reach(home: Program) -> None:
    before = home.bare("invite", "sarah", *where(home))
    assert "only opens on this machine" in before.err
    token(home, "sarah")
    everywhere = {"HOST": "0.0.0.0", "PORT": "8901"}  # noqa: S104
    made = home.bare("invite", "sarah", "--json", *where(home), settings=everywhere).value
    assert made["link"].startswith("http://127.0.0.1:8901/invite/")
    phone = made["phone_link"]
    assert phone is None or ("127.0.0.1" not in phone and ":8901/invite/" in phone)
    named = {"PUBLIC_URL": "https://family.example"}
    made = home.bare("invite", "sarah", "--json", *where(home), settings=named).value
    assert made["phone_link"].startswith("https://family.example/invite/")


@pytest.mark.parametrize(
    "words",
    [
        ("invite", "nobody"),
        ("invite", "sarah", "--role", "king"),
        ("invite", "sarah", "--role", "bridge"),
        ("invite", "leo", "--role", "adult"),
        ("invite", "sarah", "--hours", "0"),
        ("token", "create", "x"),
        ("token", "create", "leo", "--role", "owner"),
    ],
)
def test_what_cannot_be_granted_is_bad_usage(home: Program, words: tuple[str, ...]) -> None:
    ran = home.bare(*words, *where(home))
    assert ran.code == 2
    assert ran.out == ""
