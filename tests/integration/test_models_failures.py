"""Calls to a model over real HTTP that go wrong: what each way to fail becomes, and what is left behind."""

import asyncio
import time
from collections import Counter
from contextlib import ExitStack, aclosing
from datetime import timedelta
from typing import Any

import pytest

from kinkeeper.models.endpoints import Dialect
from kinkeeper.models.gateway import Gateway
from kinkeeper.models.model import ModelError, Outcome
from kinkeeper.models.repository import model_calls
from kinkeeper.models.structured import ask
from kinkeeper.store.store import Store
from model_calls import (
    Booking,
    Dialects,
    call,
    config,
    gateway,
    on,
    outcome,
    request,
    role,
    rows,
    stream_outcome,
)
from modelserver import (
    ModelServer,
    breaks_off,
    drips,
    fails,
    floods,
    hangs,
    model_server,
    packs,
    pours,
    says,
    stalls,
    writes,
)


def test_what_a_status_means_and_whether_it_is_tried_again(calls: Store) -> None:
    expected = {
        302: (Outcome.REJECTED, 1),
        400: (Outcome.REJECTED, 1),
        401: (Outcome.REJECTED, 1),
        404: (Outcome.REJECTED, 1),
        418: (Outcome.REJECTED, 1),
        408: (Outcome.TIMEOUT, 3),
        409: (Outcome.OVERLOADED, 3),
        425: (Outcome.OVERLOADED, 3),
        429: (Outcome.OVERLOADED, 3),
        500: (Outcome.SERVER_ERROR, 3),
        503: (Outcome.OVERLOADED, 3),
        599: (Outcome.SERVER_ERROR, 3),
    }

    async def met(status: int, models: ModelServer) -> tuple[Outcome, int]:
        models.will(fails(status, Location="http://127.0.0.1:1/"))
        async with gateway(calls, on(models)) as opened:
            with pytest.raises(ModelError) as caught:
                await opened.complete(request())
        return caught.value.outcome, len(models.calls)

    async def all_at_once() -> list[tuple[Outcome, int]]:
        with ExitStack() as held:
            servers = [held.enter_context(model_server()) for _ in expected]
            return await asyncio.gather(*map(met, expected, servers))

    found = asyncio.run(all_at_once())
    assert dict(zip(expected, found, strict=True)) == expected
    recorded = Counter(row["outcome"] for row in rows(calls, model_calls))
    assert recorded == Counter(each.value for each, _ in found)


def test_a_busy_server_is_tried_again_when_it_says(calls: Store, models: ModelServer) -> None:
    models.will(fails(429, Retry_After="1"), says("hello"))
    began = time.perf_counter()
    reply = call(calls, on(models), lambda opened: opened.complete(request()))
    assert reply.text == "hello"
    assert time.perf_counter() - began >= 1


@pytest.mark.parametrize("later", ["60", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_server_that_asks_for_more_time_than_there_is_is_not_waited_for(
    calls: Store, models: ModelServer, later: str
) -> None:
    models.will(fails(429, Retry_After=later))
    began = time.perf_counter()
    assert outcome(calls, on(models)) is Outcome.OVERLOADED
    assert time.perf_counter() - began < 20
    assert len(models.calls) == 1


def test_a_closed_port_is_not_tried_again(calls: Store) -> None:
    with model_server() as gone:
        settings = on(gone)
    began = time.perf_counter()
    assert outcome(calls, settings) is Outcome.UNREACHABLE
    assert time.perf_counter() - began < 2


def test_a_name_that_nobody_has_is_unreachable(calls: Store) -> None:
    async def nobody(host: str, port: int) -> list[str]:
        raise OSError

    with pytest.raises(ModelError, match="name") as caught:
        call(
            calls,
            config(role("http://models.invalid")),
            lambda opened: opened.complete(request()),
            resolve=nobody,
        )
    assert caught.value.outcome is Outcome.UNREACHABLE


@Dialects
def test_a_silent_server_has_a_time_limit(
    calls: Store, models: ModelServer, dialect: Dialect
) -> None:
    settings = on(models, dialect, timeout=timedelta(seconds=0.3))
    models.will(hangs())
    assert outcome(calls, settings) is Outcome.TIMEOUT
    models.will(hangs("hel"))
    assert stream_outcome(calls, settings) is Outcome.TIMEOUT
    assert all(each.is_cut.wait(5) for each in models.calls)


@Dialects
def test_a_server_that_drips_has_the_same_time_limit(
    calls: Store, models: ModelServer, dialect: Dialect
) -> None:
    settings = on(models, dialect, timeout=timedelta(seconds=0.4))
    models.will(drips(0.05))
    began = time.perf_counter()
    assert outcome(calls, settings) is Outcome.TIMEOUT
    assert stream_outcome(calls, settings) is Outcome.TIMEOUT
    assert time.perf_counter() - began < 20
    assert all(each.is_cut.wait(5) for each in models.calls)


def test_tries_and_pauses_count_towards_the_time_limit(calls: Store, models: ModelServer) -> None:
    models.will(stalls(0.2, fails(503)))
    began = time.perf_counter()
    with pytest.raises(ModelError):
        call(
            calls,
            on(models, timeout=timedelta(seconds=0.5)),
            lambda opened: opened.complete(request()),
        )
    assert time.perf_counter() - began < 2


@Dialects
@pytest.mark.parametrize("is_polite", [True, False])
@pytest.mark.parametrize("pieces", [(), ("hel",)])
def test_a_lost_connection_is_no_answer(
    calls: Store, models: ModelServer, dialect: Dialect, *, is_polite: bool, pieces: tuple[str, ...]
) -> None:
    models.will(breaks_off(*pieces, is_polite=is_polite))
    assert outcome(calls, on(models, dialect)) is Outcome.SERVER_ERROR
    assert stream_outcome(calls, on(models, dialect)) is Outcome.SERVER_ERROR
    assert len(models.calls) == 2


@pytest.mark.parametrize(
    ("dialect", "data"),
    [
        (Dialect.OPENAI, b"<html>"),
        (Dialect.OPENAI, b"{}"),
        (Dialect.OPENAI, b'{"choices": 3}'),
        (Dialect.OPENAI, b'{"choices": [{"message": {"content": 5}}]}'),
        (Dialect.OPENAI, b"\xff\xfe"),
        (Dialect.OPENAI, b"[" * 100_000),
        (Dialect.OPENAI, b'{"error": {"message": "no"}}'),
        (Dialect.OLLAMA, b"<html>"),
        (Dialect.OLLAMA, b'{"message": {"content": "a"}}'),
        (Dialect.OLLAMA, b'{"error": "no"}'),
        (Dialect.OLLAMA, b""),
    ],
)
def test_what_is_no_answer_is_not_taken_for_one(
    calls: Store, models: ModelServer, dialect: Dialect, data: bytes
) -> None:
    models.will(writes(data))
    assert outcome(calls, on(models, dialect)) is Outcome.SERVER_ERROR


@pytest.mark.parametrize(
    ("dialect", "data"),
    [
        (Dialect.OPENAI, b"data: {\n\n"),
        (Dialect.OPENAI, b"data: [DONE"),
        (Dialect.OPENAI, b"hello\n\n"),
        (Dialect.OPENAI, b'data: {"error": {"message": "no"}}\n\n'),
        (
            Dialect.OPENAI,
            b'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}\n\n',
        ),
        (Dialect.OLLAMA, b'{"message": {"content": "a"}, "done": false}\n'),
        (Dialect.OLLAMA, b"oops\n"),
        (Dialect.OLLAMA, b'{"error": "no"}\n'),
    ],
)
def test_a_bad_stream_is_an_error(
    calls: Store, models: ModelServer, dialect: Dialect, data: bytes
) -> None:
    models.will(writes(data, kind="text/event-stream"))
    assert stream_outcome(calls, on(models, dialect)) is Outcome.SERVER_ERROR


@pytest.mark.parametrize("behaviour", [floods(100), packs("hello")])
def test_an_answer_beyond_all_bounds_is_refused(
    calls: Store, models: ModelServer, behaviour: Any
) -> None:
    models.will(behaviour)
    assert outcome(calls, on(models)) is Outcome.SERVER_ERROR


@Dialects
def test_a_stream_without_end_ends(calls: Store, models: ModelServer, dialect: Dialect) -> None:
    models.will(pours())
    assert stream_outcome(calls, on(models, dialect)) is Outcome.SERVER_ERROR
    assert models.calls[0].is_cut.wait(5)


@Dialects
def test_closing_a_stream_closes_the_connection(
    calls: Store, models: ModelServer, dialect: Dialect
) -> None:
    async def first_piece(opened: Gateway) -> str:
        async with aclosing(opened.stream(request())) as pieces:
            return str(await anext(pieces))

    models.will(hangs("hel", "lo"))
    assert call(calls, on(models, dialect), first_piece) == "hel"
    assert models.calls[0].is_cut.wait(5)
    assert [row["outcome"] for row in rows(calls, model_calls)] == ["cancelled"]


def test_cancelling_a_call_closes_the_connection_and_is_recorded(
    calls: Store, models: ModelServer
) -> None:
    async def cancelled(opened: Gateway) -> None:
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(opened.complete(request()))
            while not models.calls:
                await asyncio.sleep(0.01)
            asking.cancel()

    models.will(hangs())
    call(calls, on(models), cancelled)
    assert models.calls[0].is_cut.wait(5)
    assert [row["outcome"] for row in rows(calls, model_calls)] == ["cancelled"]


def test_no_error_repeats_what_was_sent_or_answered(calls: Store, models: ModelServer) -> None:
    secret = "blauer elefant"  # noqa: S105 - a message's
    for behaviour in (
        fails(400, body=secret.encode()),
        fails(500, body=secret.encode()),
        writes(secret.encode()),
        says(secret),
        breaks_off(secret),
    ):
        models.will(behaviour)
        with pytest.raises(ModelError) as caught:
            call(calls, on(models), lambda opened: ask(opened, request(secret), Booking))
        assert secret not in str(caught.value)
        assert secret not in repr(caught.value.context)
