"""No test can reach a model, or anything else, by accident: the guard bites."""

import asyncio
import os
import socket

import httpx
import pytest

from kinkeeper.core.errors import ConfigError
from kinkeeper.settings.load import load_settings
from kinkeeper.settings.model import Settings
from network_guard import NetworkBlockedError, forget_settings

# Addresses and names that documents use and nobody has.
NOWHERE = "192.0.2.1"


def test_connections_elsewhere_are_refused() -> None:
    with socket.socket() as connection, pytest.raises(NetworkBlockedError, match=NOWHERE):
        connection.connect((NOWHERE, 80))
    with (
        socket.socket(socket.AF_INET6) as connection,
        pytest.raises(NetworkBlockedError, match="2001:db8::1"),
    ):
        connection.connect_ex(("2001:db8::1", 80))
    with socket.socket(type=socket.SOCK_DGRAM) as connection, pytest.raises(NetworkBlockedError):
        connection.sendto(b"?", (NOWHERE, 53))


def test_names_are_not_looked_up() -> None:
    with pytest.raises(NetworkBlockedError, match="models"):
        socket.getaddrinfo("models.example", 443)


def test_clients_on_an_event_loop_are_held_too() -> None:
    async def ask() -> None:
        async with httpx.AsyncClient(timeout=1) as client:
            await client.get(f"http://{NOWHERE}/v1/models")

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(ask())
    assert caught.value.subgroup(NetworkBlockedError)


def test_this_machine_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = ("localhost", listening.getsockname()[1])
        socket.create_connection(address, timeout=5).close()


def test_settings_of_whoever_runs_the_tests_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("MODEL_API_KEY_FILE", "/nowhere")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example")
    with pytest.raises(ConfigError):
        load_settings()
    forget_settings()
    assert load_settings() == Settings()
    assert "HTTPS_PROXY" not in os.environ
