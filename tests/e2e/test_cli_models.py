"""`kinkeeper models` and the line of `kinkeeper doctor`: servers that answer, lack a model, are gone or public."""

import asyncio
from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cli_program import Program, Ran
from kinkeeper.core.time import SystemClock
from kinkeeper.models.gateway import Gateway
from kinkeeper.models.model import Outcome
from kinkeeper.store.store import Store
from model_calls import HOUSE, config, request, role
from modelserver import ModelServer, model_server


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server(is_ollama=True) as running:
        running.models = ("tiny:latest", "big")
        yield running


def with_settings(program: Program, *words: str, **settings: str) -> Ran:
    return program.run(*words, settings=settings)


def line(ran: Ran) -> dict[str, Any]:
    (found,) = [each for each in ran.value["checks"] if each["check"] == "language models"]
    return dict(found)


def test_without_a_model_everything_is_well(program: Program) -> None:
    assert line(program.run("doctor", "--json"))["health"] == "ok"
    assert "rules do all the work" in program.run("models").out
    found = program.run("models", "--json").value
    assert found["servers"] == []
    assert found["calls"] == []


def test_servers_roles_calls_and_the_day_are_shown(program: Program, server: ModelServer) -> None:
    program.run("events")

    async def ask(store: Store) -> None:
        zones = {HOUSE: ZoneInfo("America/Chicago")}
        settings = config(role(server.url))
        async with Gateway(settings, store=store, clock=SystemClock(), zones=zones) as opened:
            await opened.complete(request())
            await opened.note_fallback(HOUSE, stage="a.stage", outcome=Outcome.TIMEOUT)

    with Store.open(str(program.database)) as store:
        asyncio.run(ask(store))
    chosen = {"MODEL_URL": server.url, "MODEL_NAME": "tiny", "STRONG_MODEL": "huge"}
    ran = with_settings(program, "models", "--json", **chosen)
    assert ran.code == 0, ran.err
    found = ran.value
    (shown,) = found["servers"]
    assert shown["wanted"]["extraction"] == "tiny"
    assert shown["missing"] == ["huge"]
    assert shown["milliseconds"] > 0
    assert found["calls"][0]["outcomes"] == {"ok": 1}
    assert found["fallbacks"] == [{"stage": "a.stage", "outcome": "timeout", "count": 1}]
    assert found["today"]["used"]["calls"] == 1
    assert found["today"]["limits"]["calls"] == 2000
    drawn = with_settings(program, "models", **chosen).out
    for part in ("huge (not there)", "answers in", "light", "a.stage", "calls 1 (of 2,000)"):
        assert part in drawn


def test_the_doctor_tells_what_is_wrong_with_a_model(program: Program, server: ModelServer) -> None:
    def told(**settings: str) -> dict[str, Any]:
        return line(with_settings(program, "doctor", "--json", **settings))

    well = told(MODEL_URL=server.url, MODEL_NAME="big")
    assert (well["health"], well["remedy"]) == ("ok", "")
    missing = told(MODEL_URL=f"{server.url}/v1", MODEL_NAME="small")
    assert (missing["health"], "big" in missing["remedy"]) == ("warning", True)
    with model_server() as gone:
        pass
    assert "cannot be reached" in told(MODEL_URL=gone.url, MODEL_NAME="small")["found"]
    file = told(MODEL_GGUF="/nowhere/model.gguf")
    assert file["health"] == "warning"


def test_the_doctor_tells_of_a_public_host_whether_it_is_well_or_not(
    program: Program, server: ModelServer
) -> None:
    # No private address, and yet on this machine.
    address = server.url.replace("127.0.0.1", "0.0.0.0")  # noqa: S104 - called, not listened on

    def told(**settings: str) -> list[tuple[str, str]]:
        ran = with_settings(program, "doctor", "--json", MODEL_URL=address, **settings)
        found = [each for each in ran.value["checks"] if each["check"] == "language models"]
        return [(each["health"], each["found"]) for each in found]

    (well, _), (refused, why) = told(MODEL_NAME="big")
    assert (well, refused) == ("ok", "warning")
    assert "group chat text is not sent to it" in why
    (_, missing), (_, why) = told(MODEL_NAME="small", ALLOW_REMOTE_MODEL_FOR_CHAT="true")
    assert "does not have small" in missing
    assert "may be sent to it" in why
