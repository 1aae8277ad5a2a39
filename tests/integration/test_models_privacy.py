"""Where text of a group chat may go: which addresses are private, and that the judged one is connected to."""

import asyncio
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from kinkeeper.models.connection import is_private, is_public
from kinkeeper.models.model import ChatRequest, ModelError, Outcome
from kinkeeper.models.repository import model_budgets, model_calls
from kinkeeper.store.store import Store
from model_calls import config, gateway, request, role, rows
from modelserver import ModelServer, model_server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.9.9.9",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.20",
        "100.64.0.1",
        "100.127.255.255",
        "169.254.3.4",
        "::1",
        "fd12:3456::1",
        "fc00::1",
        "fe80::1",
        "::ffff:192.168.1.20",
    ],
)
def test_private_addresses(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "172.32.0.1",
        "172.15.255.255",
        "100.63.255.255",
        "100.128.0.1",
        "192.169.0.1",
        "11.0.0.1",
        str(IPv4Address(0)),
        "255.255.255.255",
        "198.18.0.1",
        "203.0.113.1",
        "2001:4860:4860::8888",
        "::",
        "fec0::1",
        "fbff::1",
        "::ffff:8.8.8.8",
        "64:ff9b::c0a8:114",
        "2002:c0a8:114::1",
        "::192.168.1.20",
    ],
)
def test_public_addresses(address: str) -> None:
    assert not is_private(address)


class Names:
    """Answers look-ups as told: one answer after the other, the last one stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def asked(
    store: Store, server: ModelServer, names: Names, *calls: ChatRequest, **settings: Any
) -> list[Outcome]:
    """Ask a server by a name; returns how each call ended."""
    port = server.url.rpartition(":")[2]

    async def run() -> list[Outcome]:
        found = []
        scheme = server.url.partition(":")[0]
        every = config(role(f"{scheme}://models.family.lan:{port}"), **settings)
        async with gateway(store, every, resolve=names) as opened:
            for call in calls:
                try:
                    await opened.complete(call)
                    found.append(Outcome.OK)
                except ModelError as error:
                    found.append(error.outcome)
        return found

    return asyncio.run(run())


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.20.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",  # noqa: S104 - an address to be judged
        "0.1.2.3",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:0.0.0.0",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "64:ff9b:1::7f00:1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
        "fc00::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ],
)
def test_addresses_that_may_lead_home_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "2a00:1450:4001:82b::200e"])
def test_addresses_outside_are_public(address: str) -> None:
    assert is_public(address)


def test_a_name_with_a_private_address_is_asked_under_its_name(store: Store) -> None:
    names = Names(["127.0.0.1"])
    with model_server() as server:
        assert asked(store, server, names, request()) == [Outcome.OK]
        assert server.calls[0].headers["host"].startswith("models.family.lan:")


@pytest.mark.parametrize(
    "addresses", [["8.8.8.8"], ["127.0.0.1", "8.8.8.8"], ["::ffff:8.8.8.8"], []]
)
def test_one_public_address_is_enough_to_keep_chat_text_here(
    store: Store, addresses: Sequence[str]
) -> None:
    with model_server() as server:
        found = asked(store, server, Names(addresses), request(), request())
        assert found == [Outcome.PUBLIC_HOST] * 2
        assert server.received == []
    assert {row["outcome"] for row in rows(store, model_calls)} == {"public_host"}
    assert [row["calls"] for row in rows(store, model_budgets)] == [0]


def test_the_way_out_is_named(store: Store) -> None:
    async def run() -> None:
        names = Names(["8.8.8.8"])
        async with gateway(store, config(role("https://models.example")), resolve=names) as opened:
            await opened.complete(request())

    with pytest.raises(ModelError, match="ALLOW_REMOTE_MODEL_FOR_CHAT"):
        asyncio.run(run())


def test_a_name_that_changes_its_answer_is_not_asked_again_before_connecting(store: Store) -> None:
    names = Names(["127.0.0.1"], ["8.8.8.8"])
    with model_server() as server:
        assert asked(store, server, names, request(), request()) == [Outcome.OK] * 2
        assert len(server.calls) == 2
    assert len(names.asked) == 1


def test_what_somebody_said_to_the_assistant_is_no_chat_text(store: Store) -> None:
    """The guard of the tests stops the connection; that it was tried at all is the point."""
    said = request(is_ambient=False)
    with model_server() as server, pytest.raises(ExceptionGroup, match="TaskGroup"):
        asked(store, server, Names(["192.0.2.1"]), said)


def test_a_setting_allows_chat_text_to_go_out(store: Store) -> None:
    with model_server() as server, pytest.raises(ExceptionGroup, match="TaskGroup"):
        asked(store, server, Names(["192.0.2.1"]), request(), allows_public=True)


def test_a_proxy_of_the_environment_is_not_used(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with model_server() as server, model_server() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert asked(store, server, Names(["127.0.0.1"]), request()) == [Outcome.OK]
        assert len(server.calls) == 1
        assert proxy.received == []


def certificate(folder: Path, name: str) -> tuple[Path, ssl.SSLContext]:
    """Return a certificate of a name that signs itself, and what serves with it."""
    paths = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")]
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            f"/CN={name}",
            "-addext",
            f"subjectAltName=DNS:{name}",
            *paths,
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return folder / "certificate.pem", context


@pytest.mark.parametrize(
    ("name", "is_trusted", "expected"),
    [
        ("models.family.lan", True, Outcome.OK),
        ("models.family.lan", False, Outcome.UNREACHABLE),
        ("127.0.0.1", True, Outcome.UNREACHABLE),
    ],
)
def test_over_tls_the_name_is_proved_not_the_address(
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    expected: Outcome,
    *,
    is_trusted: bool,
) -> None:
    path, tls = certificate(tmp_path, name)
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with model_server(tls=tls) as server:
        assert asked(store, server, Names(["127.0.0.1"]), request()) == [expected]


def test_the_next_address_is_tried_where_one_refuses(store: Store) -> None:
    with model_server() as server:
        assert asked(store, server, Names(["127.0.0.2", "127.0.0.1"]), request()) == [Outcome.OK]
        assert asked(store, server, Names(["::1", "127.0.0.1"]), request()) == [Outcome.OK]
