"""Calls to a model over real HTTP: what is sent, what is read, and what each way to fail becomes."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, aclosing
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from pydantic import SecretStr
from sqlalchemy import delete

from kinkeeper.models.endpoints import Dialect, Endpoint, ModelConfig
from kinkeeper.models.errors import ModelError
from kinkeeper.models.gateway import Gateway
from kinkeeper.models.model import ChatRequest, Finish, Outcome
from kinkeeper.models.structured import ask, output_schema
from kinkeeper.models.tables import model_budgets, model_calls
from kinkeeper.store.store import Store
from model_calls import Booking, config, gateway, request, role, rows, streamed
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
    refuses,
    refuses_parameter,
    refuses_schemas,
    says,
    stalls,
    writes,
)

T = TypeVar("T")
Dialects = pytest.mark.parametrize("dialect", [Dialect.OPENAI, Dialect.OLLAMA])
GOOD = '{"who": "leo", "hour": 16}'


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.received.clear()
    running.at_once = 0
    running.will(says("hel", "lo", counted=(200, 20)))
    return running


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(str(tmp_path_factory.mktemp("calls") / "family.db")) as opened:
        yield opened


@pytest.fixture
def store(kept: Store) -> Store:
    for table in (model_calls, model_budgets):
        kept.write_now(lambda conn, each=table: conn.execute(delete(each)))
    return kept


def on(server: ModelServer, dialect: Dialect = Dialect.OPENAI, **changes: Any) -> ModelConfig:
    model = role(server.url, **changes)
    return config(replace(model, endpoint=Endpoint(url=server.url, dialect=dialect)))


def call(
    store: Store, settings: ModelConfig, do: Callable[[Gateway], Awaitable[T]], **more: Any
) -> T:
    async def run() -> T:
        async with gateway(store, settings, **more) as opened:
            return await do(opened)

    return asyncio.run(run())


def outcome(store: Store, settings: ModelConfig, call_: ChatRequest | None = None) -> Outcome:
    with pytest.raises(ModelError) as caught:
        call(store, settings, lambda opened: opened.complete(call_ or request()))
    return caught.value.outcome


def stream_outcome(store: Store, settings: ModelConfig) -> Outcome:
    with pytest.raises(ModelError) as caught:
        call(store, settings, lambda opened: streamed(opened, request()))
    return caught.value.outcome


@Dialects
def test_an_answer_comes_whole_or_in_pieces(
    store: Store, server: ModelServer, dialect: Dialect
) -> None:
    settings = on(server, dialect)
    reply = call(store, settings, lambda opened: opened.complete(request()))
    assert (reply.text, reply.model, reply.finish) == ("hello", "test-model", Finish.STOP)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (200, 20)
    pieces, whole = call(store, settings, lambda opened: streamed(opened, request()))
    assert pieces == ["hel", "lo"]
    assert whole == reply
    assert [row["outcome"] for row in rows(store, model_calls)] == ["ok", "ok"]


def test_what_openai_s_protocol_says(store: Store, server: ModelServer) -> None:
    schema = output_schema(Booking)
    asked = request("leo at four", output=schema, max_output_tokens=100)
    call(store, on(server, temperature=0.5), lambda opened: opened.complete(asked))
    sent = server.calls[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.body == {
        "model": "test-model", "temperature": 0.5, "max_tokens": 100,
        "messages": [
            {"role": "system", "content": "Read the message."},
            {"role": "user", "content": "leo at four"},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "Booking", "strict": True, "schema": dict(schema.schema)},
        },
    }  # fmt: skip
    assert schema.schema["required"] == ["who", "hour"]
    assert schema.schema["additionalProperties"] is False


def test_what_ollama_s_protocol_says(store: Store, server: ModelServer) -> None:
    schema = output_schema(Booking)
    settings = on(server, Dialect.OLLAMA)
    call(store, settings, lambda opened: opened.complete(request(output=schema)))
    sent = server.calls[0]
    assert sent.path == "/api/chat"
    assert sent.body["format"] == schema.schema
    assert sent.body["options"] == {"temperature": 0, "num_predict": 300, "num_ctx": 4096}
    assert sent.body["stream"] is False


@pytest.mark.parametrize("base", ["", "/v1"])
@pytest.mark.parametrize("is_ollama", [True, False])
def test_the_protocol_is_found_out_once(store: Store, *, is_ollama: bool, base: str) -> None:
    async def twice(opened: Gateway) -> None:
        await opened.complete(request())
        await opened.complete(request())

    with model_server(is_ollama=is_ollama) as server:
        every = replace(role(server.url), endpoint=Endpoint(url=f"{server.url}{base}"))
        call(store, config(every), twice)
        paths = [each.path for each in server.received]
    chat = "/api/chat" if is_ollama else "/v1/chat/completions"
    assert paths == ["/api/version", chat, chat]


def test_the_key_goes_out_and_is_never_shown(store: Store, server: ModelServer) -> None:
    secret = "sk-nobody-may-see"  # noqa: S105 - nobody's
    endpoint = Endpoint(url=server.url, dialect=Dialect.OPENAI, api_key=SecretStr(secret))
    settings = config(replace(role(server.url), endpoint=endpoint))
    server.will(says("hi"), fails(401))
    call(store, settings, lambda opened: opened.complete(request()))
    assert server.calls[0].headers["authorization"] == f"Bearer {secret}"
    with pytest.raises(ModelError, match="MODEL_API_KEY") as caught:
        call(store, settings, lambda opened: opened.complete(request()))
    assert caught.value.outcome is Outcome.REJECTED
    assert secret not in f"{caught.value} {caught.value.__cause__!r} {settings!r}"


@Dialects
def test_a_server_that_refuses_schemas_is_asked_without_from_then_on(
    store: Store, server: ModelServer, dialect: Dialect
) -> None:
    async def twice(opened: Gateway) -> list[Booking]:
        return [(await ask(opened, request(), Booking)).value for _ in range(2)]

    server.will(refuses_schemas(says(GOOD)))
    assert call(store, on(server, dialect), twice) == [Booking(who="leo", hour=16)] * 2
    assert len(server.calls) == 3
    for late in server.calls[1:]:
        assert late.body.get("response_format", {}).get("type") != "json_schema"
        assert late.body.get("format", "json") == "json"
        assert '"hour"' in late.texts[0]


def test_a_server_that_names_a_parameter_it_does_not_take_is_asked_without_it(
    store: Store, server: ModelServer
) -> None:
    async def thrice(opened: Gateway) -> list[str]:
        whole = [(await opened.complete(request())).text for _ in range(2)]
        return [*whole, (await streamed(opened, request()))[1].text]

    picky = refuses_parameter("temperature", refuses_parameter("max_tokens", says("hello")))
    server.will(picky)
    assert call(store, on(server), thrice) == ["hello"] * 3
    assert len(server.calls) == 5
    assert server.calls[-1].body["max_completion_tokens"] == 300
    assert "temperature" not in server.calls[-1].body


def test_a_request_that_is_wrong_without_a_schema_too_stays_refused(
    store: Store, server: ModelServer
) -> None:
    server.will(fails(400))
    assert outcome(store, on(server), request(output=output_schema(Booking))) is Outcome.REJECTED
    assert len(server.calls) == 2
    assert outcome(store, on(server)) is Outcome.REJECTED
    assert len(server.calls) == 3


def test_what_a_status_means_and_whether_it_is_tried_again(store: Store) -> None:
    expected = {
        302: (Outcome.REJECTED, 1), 400: (Outcome.REJECTED, 1), 401: (Outcome.REJECTED, 1),
        404: (Outcome.REJECTED, 1), 418: (Outcome.REJECTED, 1), 408: (Outcome.TIMEOUT, 3),
        409: (Outcome.OVERLOADED, 3), 425: (Outcome.OVERLOADED, 3), 429: (Outcome.OVERLOADED, 3),
        500: (Outcome.SERVER_ERROR, 3), 503: (Outcome.OVERLOADED, 3), 599: (Outcome.SERVER_ERROR, 3),
    }  # fmt: skip

    async def met(status: int, server: ModelServer) -> tuple[Outcome, int]:
        server.will(fails(status, Location="http://127.0.0.1:1/"))
        async with gateway(store, on(server)) as opened:
            with pytest.raises(ModelError) as caught:
                await opened.complete(request())
        return caught.value.outcome, len(server.calls)

    async def all_at_once() -> list[tuple[Outcome, int]]:
        with ExitStack() as held:
            servers = [held.enter_context(model_server()) for _ in expected]
            return await asyncio.gather(*map(met, expected, servers))

    found = asyncio.run(all_at_once())
    assert dict(zip(expected, found, strict=True)) == expected
    recorded = Counter(row["outcome"] for row in rows(store, model_calls))
    assert recorded == Counter(each.value for each, _ in found)


def test_a_busy_server_is_tried_again_when_it_says(store: Store, server: ModelServer) -> None:
    server.will(fails(429, Retry_After="1"), says("hello"))
    began = time.perf_counter()
    reply = call(store, on(server), lambda opened: opened.complete(request()))
    assert reply.text == "hello"
    assert time.perf_counter() - began >= 1


@pytest.mark.parametrize("later", ["60", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_server_that_asks_for_more_time_than_there_is_is_not_waited_for(
    store: Store, server: ModelServer, later: str
) -> None:
    server.will(fails(429, Retry_After=later))
    began = time.perf_counter()
    assert outcome(store, on(server)) is Outcome.OVERLOADED
    assert time.perf_counter() - began < 5
    assert len(server.calls) == 1


def test_a_closed_port_is_not_tried_again(store: Store) -> None:
    with model_server() as gone:
        settings = on(gone)
    began = time.perf_counter()
    assert outcome(store, settings) is Outcome.UNREACHABLE
    assert time.perf_counter() - began < 2


def test_a_name_that_nobody_has_is_unreachable(store: Store) -> None:
    async def nobody(host: str, port: int) -> list[str]:
        raise OSError

    with pytest.raises(ModelError, match="name") as caught:
        call(
            store, config(role("http://models.invalid")),
            lambda opened: opened.complete(request()), resolve=nobody,
        )  # fmt: skip
    assert caught.value.outcome is Outcome.UNREACHABLE


@Dialects
def test_a_silent_server_has_a_time_limit(
    store: Store, server: ModelServer, dialect: Dialect
) -> None:
    settings = on(server, dialect, timeout=timedelta(seconds=0.3))
    server.will(hangs())
    assert outcome(store, settings) is Outcome.TIMEOUT
    server.will(hangs("hel"))
    assert stream_outcome(store, settings) is Outcome.TIMEOUT
    assert all(each.is_cut.wait(5) for each in server.calls)


@Dialects
def test_a_server_that_drips_has_the_same_time_limit(
    store: Store, server: ModelServer, dialect: Dialect
) -> None:
    settings = on(server, dialect, timeout=timedelta(seconds=0.4))
    server.will(drips(0.05))
    began = time.perf_counter()
    assert outcome(store, settings) is Outcome.TIMEOUT
    assert stream_outcome(store, settings) is Outcome.TIMEOUT
    assert time.perf_counter() - began < 5
    assert all(each.is_cut.wait(5) for each in server.calls)


def test_tries_and_pauses_count_towards_the_time_limit(store: Store, server: ModelServer) -> None:
    server.will(stalls(0.2, fails(503)))
    began = time.perf_counter()
    with pytest.raises(ModelError):
        call(
            store, on(server, timeout=timedelta(seconds=0.5)),
            lambda opened: opened.complete(request()),
        )  # fmt: skip
    assert time.perf_counter() - began < 2


@Dialects
@pytest.mark.parametrize("is_polite", [True, False])
@pytest.mark.parametrize("pieces", [(), ("hel",)])
def test_a_lost_connection_is_no_answer(
    store: Store, server: ModelServer, dialect: Dialect, *, is_polite: bool, pieces: tuple[str, ...]
) -> None:
    server.will(breaks_off(*pieces, is_polite=is_polite))
    assert outcome(store, on(server, dialect)) is Outcome.SERVER_ERROR
    assert stream_outcome(store, on(server, dialect)) is Outcome.SERVER_ERROR
    assert len(server.calls) == 2


@pytest.mark.parametrize(
    ("dialect", "data"),
    [
        (Dialect.OPENAI, b"<html>"), (Dialect.OPENAI, b"{}"), (Dialect.OPENAI, b'{"choices": 3}'),
        (Dialect.OPENAI, b'{"choices": [{"message": {"content": 5}}]}'), (Dialect.OPENAI, b"\xff\xfe"),
        (Dialect.OPENAI, b"[" * 100_000), (Dialect.OPENAI, b'{"error": {"message": "no"}}'),
        (Dialect.OLLAMA, b"<html>"), (Dialect.OLLAMA, b'{"message": {"content": "a"}}'),
        (Dialect.OLLAMA, b'{"error": "no"}'), (Dialect.OLLAMA, b""),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_not_taken_for_one(
    store: Store, server: ModelServer, dialect: Dialect, data: bytes
) -> None:
    server.will(writes(data))
    assert outcome(store, on(server, dialect)) is Outcome.SERVER_ERROR


@pytest.mark.parametrize(
    ("dialect", "data"),
    [
        (Dialect.OPENAI, b"data: {\n\n"), (Dialect.OPENAI, b"data: [DONE"), (Dialect.OPENAI, b"hello\n\n"),
        (Dialect.OPENAI, b'data: {"error": {"message": "no"}}\n\n'),
        (Dialect.OPENAI, b'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}\n\n'),
        (Dialect.OLLAMA, b'{"message": {"content": "a"}, "done": false}\n'), (Dialect.OLLAMA, b"oops\n"),
        (Dialect.OLLAMA, b'{"error": "no"}\n'),
    ],
)  # fmt: skip
def test_a_bad_stream_is_an_error(
    store: Store, server: ModelServer, dialect: Dialect, data: bytes
) -> None:
    server.will(writes(data, kind="text/event-stream"))
    assert stream_outcome(store, on(server, dialect)) is Outcome.SERVER_ERROR


def test_events_may_be_cut_anywhere_and_carry_other_lines(
    store: Store, server: ModelServer
) -> None:
    event = b': keep-alive\r\n\r\nevent: x\r\ndata:{"choices": [{"delta": {"content": "\xc3\xa9\\n"}}]}\r\n\r\n'
    server.will(writes(event * 2 + b"data: [DONE]\r\n\r\n"))
    pieces, whole = call(store, on(server), lambda opened: streamed(opened, request()))
    assert pieces == ["é\n", "é\n"]
    assert whole.usage.is_estimated


@pytest.mark.parametrize("behaviour", [floods(100), packs("hello")])
def test_an_answer_beyond_all_bounds_is_refused(
    store: Store, server: ModelServer, behaviour: Any
) -> None:
    server.will(behaviour)
    assert outcome(store, on(server)) is Outcome.SERVER_ERROR


@Dialects
def test_a_stream_without_end_ends(store: Store, server: ModelServer, dialect: Dialect) -> None:
    server.will(pours())
    assert stream_outcome(store, on(server, dialect)) is Outcome.SERVER_ERROR
    assert server.calls[0].is_cut.wait(5)


@Dialects
def test_closing_a_stream_closes_the_connection(
    store: Store, server: ModelServer, dialect: Dialect
) -> None:
    async def first_piece(opened: Gateway) -> str:
        async with aclosing(opened.stream(request())) as pieces:
            return str(await anext(pieces))

    server.will(hangs("hel", "lo"))
    assert call(store, on(server, dialect), first_piece) == "hel"
    assert server.calls[0].is_cut.wait(5)
    assert [row["outcome"] for row in rows(store, model_calls)] == ["cancelled"]


def test_cancelling_a_call_closes_the_connection_and_is_recorded(
    store: Store, server: ModelServer
) -> None:
    async def cancelled(opened: Gateway) -> None:
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(opened.complete(request()))
            while not server.calls:
                await asyncio.sleep(0.01)
            asking.cancel()

    server.will(hangs())
    call(store, on(server), cancelled)
    assert server.calls[0].is_cut.wait(5)
    assert [row["outcome"] for row in rows(store, model_calls)] == ["cancelled"]


def test_a_refusal_and_a_cut_answer_are_told_apart(store: Store, server: ModelServer) -> None:
    server.will(refuses(), says(GOOD[:9], finish="length"))
    for expected in (Outcome.REFUSED_BY_MODEL, Outcome.TRUNCATED):
        with pytest.raises(ModelError) as caught:
            call(store, on(server), lambda opened: ask(opened, request(), Booking))
        assert caught.value.outcome is expected
    assert [row["outcome"] for row in rows(store, model_calls)] == ["refused_by_model", "truncated"]


def test_a_request_that_a_server_silently_cuts_is_counted(
    store: Store, server: ModelServer
) -> None:
    server.will(says("hello", counted=(50, 2)))
    long = request("word " * 100)
    reply = call(store, on(server, Dialect.OLLAMA), lambda opened: opened.complete(long))
    assert reply.usage.is_input_cut
    assert [row["outcome"] for row in rows(store, model_calls)] == ["truncated"]


def test_a_typed_answer_is_asked_for_once_more_with_what_was_wrong(
    store: Store, server: ModelServer
) -> None:
    server.will(says('{"who": "leo", "hour": "four"}'), says(f"```json\n{GOOD}\n```"))
    answer = call(store, on(server), lambda opened: ask(opened, request(), Booking))
    assert answer.value == Booking(who="leo", hour=16)
    assert answer.is_repaired
    words = sum(len(text.split()) for sent in server.calls for text in sent.texts)
    assert answer.reply.usage.input_tokens == 2 * words
    told = server.calls[1].texts
    assert told[-2] == '{"who": "leo", "hour": "four"}'
    assert "hour" in told[-1]
    assert "four" not in told[-1]
    assert [row["outcome"] for row in rows(store, model_calls)] == ["invalid_output", "repaired"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sure!",
        '{"who": "leo"}',
        '{"who": "leo", "hour": "16"}',
        '{"who": "leo", "hour": 16, "to": "all"}',
        "[]",
        '{"who": 1,',
    ],
)
def test_a_typed_answer_that_stays_wrong_is_no_answer(
    store: Store, server: ModelServer, text: str
) -> None:
    server.will(says(text))
    with pytest.raises(ModelError) as caught:
        call(store, on(server), lambda opened: ask(opened, request(), Booking))
    assert caught.value.outcome is Outcome.INVALID_OUTPUT
    assert len(server.calls) == 2
    assert "leo" not in str(caught.value)


def test_no_error_repeats_what_was_sent_or_answered(store: Store, server: ModelServer) -> None:
    secret = "blauer elefant"  # noqa: S105 - a message's
    for behaviour in (
        fails(400, body=secret.encode()), fails(500, body=secret.encode()), writes(secret.encode()),
        says(secret), breaks_off(secret),
    ):  # fmt: skip
        server.will(behaviour)
        with pytest.raises(ModelError) as caught:
            call(store, on(server), lambda opened: ask(opened, request(secret), Booking))
        assert secret not in str(caught.value)
        assert secret not in repr(caught.value.context)
