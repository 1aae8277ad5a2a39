"""Calls to a model over real HTTP: what is sent, what is read, and how an answer gets its type."""

from dataclasses import replace

import pytest
from pydantic import SecretStr

from kinkeeper.models.endpoints import Dialect, Endpoint
from kinkeeper.models.gateway import Gateway
from kinkeeper.models.model import Finish, ModelError, Outcome
from kinkeeper.models.repository import model_calls
from kinkeeper.models.structured import ask, output_schema
from kinkeeper.store.store import Store
from model_calls import Booking, Dialects, call, config, on, outcome, request, role, rows, streamed
from modelserver import (
    ModelServer,
    fails,
    model_server,
    refuses,
    refuses_parameter,
    refuses_schemas,
    says,
    writes,
)

GOOD = '{"who": "leo", "hour": 16}'


@Dialects
def test_an_answer_comes_whole_or_in_pieces(
    calls: Store, models: ModelServer, dialect: Dialect
) -> None:
    settings = on(models, dialect)
    reply = call(calls, settings, lambda opened: opened.complete(request()))
    assert (reply.text, reply.model, reply.finish) == ("hello", "test-model", Finish.STOP)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (200, 20)
    pieces, whole = call(calls, settings, lambda opened: streamed(opened, request()))
    assert pieces == ["hel", "lo"]
    assert whole == reply
    assert [row["outcome"] for row in rows(calls, model_calls)] == ["ok", "ok"]


def test_what_openai_s_protocol_says(calls: Store, models: ModelServer) -> None:
    schema = output_schema(Booking)
    asked = request("leo at four", output=schema, max_output_tokens=100, temperature=0)
    call(calls, on(models, temperature=0.5), lambda opened: opened.complete(asked))
    sent = models.calls[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.body == {
        "model": "test-model",
        "temperature": 0.5,
        "max_tokens": 100,
        "messages": [
            {"role": "system", "content": "Read the message."},
            {"role": "user", "content": "leo at four"},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "Booking", "strict": True, "schema": dict(schema.schema)},
        },
    }
    assert schema.schema["required"] == ["who", "hour"]
    assert schema.schema["additionalProperties"] is False


def test_what_ollama_s_protocol_says(calls: Store, models: ModelServer) -> None:
    schema = output_schema(Booking)
    settings = on(models, Dialect.OLLAMA, max_output_tokens=300)
    asked = request(output=schema, max_output_tokens=100, temperature=0.7)
    call(calls, settings, lambda opened: opened.complete(asked))
    sent = models.calls[0]
    assert sent.path == "/api/chat"
    assert sent.body["format"] == schema.schema
    assert sent.body["options"] == {"temperature": 0.7, "num_predict": 300, "num_ctx": 4096}
    assert sent.body["stream"] is False


@pytest.mark.parametrize("base", ["", "/v1"])
@pytest.mark.parametrize("is_ollama", [True, False])
def test_the_protocol_is_found_out_once(calls: Store, *, is_ollama: bool, base: str) -> None:
    async def twice(opened: Gateway) -> None:
        await opened.complete(request())
        await opened.complete(request())

    with model_server(is_ollama=is_ollama) as server:
        every = replace(role(server.url), endpoint=Endpoint(url=f"{server.url}{base}"))
        call(calls, config(every), twice)
        paths = [each.path for each in server.received]
    chat = "/api/chat" if is_ollama else "/v1/chat/completions"
    assert paths == ["/api/version", chat, chat]


def test_the_key_goes_out_and_is_never_shown(calls: Store, models: ModelServer) -> None:
    secret = "sk-nobody-may-see"  # noqa: S105 - nobody's
    endpoint = Endpoint(url=models.url, dialect=Dialect.OPENAI, api_key=SecretStr(secret))
    settings = config(replace(role(models.url), endpoint=endpoint))
    models.will(says("hi"), fails(401))
    call(calls, settings, lambda opened: opened.complete(request()))
    assert models.calls[0].headers["authorization"] == f"Bearer {secret}"
    with pytest.raises(ModelError, match="MODEL_API_KEY") as caught:
        call(calls, settings, lambda opened: opened.complete(request()))
    assert caught.value.outcome is Outcome.REJECTED
    assert secret not in f"{caught.value} {caught.value.__cause__!r} {settings!r}"


@Dialects
def test_a_server_that_refuses_schemas_is_asked_without_from_then_on(
    calls: Store, models: ModelServer, dialect: Dialect
) -> None:
    async def twice(opened: Gateway) -> list[Booking]:
        return [(await ask(opened, request(), Booking)).value for _ in range(2)]

    models.will(refuses_schemas(says(GOOD)))
    assert call(calls, on(models, dialect), twice) == [Booking(who="leo", hour=16)] * 2
    assert len(models.calls) == 3
    for late in models.calls[1:]:
        assert late.body.get("response_format", {}).get("type") != "json_schema"
        assert late.body.get("format", "json") == "json"
        assert '"hour"' in late.texts[0]


def test_a_server_that_names_a_parameter_it_does_not_take_is_asked_without_it(
    calls: Store, models: ModelServer
) -> None:
    async def thrice(opened: Gateway) -> list[str]:
        whole = [(await opened.complete(request())).text for _ in range(2)]
        return [*whole, (await streamed(opened, request()))[1].text]

    picky = refuses_parameter("temperature", refuses_parameter("max_tokens", says("hello")))
    models.will(picky)
    assert call(calls, on(models, max_output_tokens=300), thrice) == ["hello"] * 3
    assert len(models.calls) == 5
    assert models.calls[-1].body["max_completion_tokens"] == 300
    assert "temperature" not in models.calls[-1].body


def test_a_request_that_is_wrong_without_a_schema_too_stays_refused(
    calls: Store, models: ModelServer
) -> None:
    models.will(fails(400))
    assert outcome(calls, on(models), request(output=output_schema(Booking))) is Outcome.REJECTED
    assert len(models.calls) == 2
    assert outcome(calls, on(models)) is Outcome.REJECTED
    assert len(models.calls) == 3


def test_events_may_be_cut_anywhere_and_carry_other_lines(
    calls: Store, models: ModelServer
) -> None:
    event = b': keep-alive\r\n\r\nevent: x\r\ndata:{"choices": [{"delta": {"content": "\xc3\xa9\\n"}}]}\r\n\r\n'
    models.will(writes(event * 2 + b"data: [DONE]\r\n\r\n"))
    pieces, whole = call(calls, on(models), lambda opened: streamed(opened, request()))
    assert pieces == ["é\n", "é\n"]
    assert whole.usage.is_estimated


def test_a_refusal_and_a_cut_answer_are_told_apart(calls: Store, models: ModelServer) -> None:
    models.will(refuses(), says(GOOD[:9], finish="length"))
    for expected in (Outcome.REFUSED_BY_MODEL, Outcome.TRUNCATED):
        with pytest.raises(ModelError) as caught:
            call(calls, on(models), lambda opened: ask(opened, request(), Booking))
        assert caught.value.outcome is expected
    assert [row["outcome"] for row in rows(calls, model_calls)] == ["refused_by_model", "truncated"]


def test_a_request_that_a_server_silently_cuts_is_counted(
    calls: Store, models: ModelServer
) -> None:
    models.will(says("hello", counted=(50, 2)))
    long = request("word " * 100)
    reply = call(calls, on(models, Dialect.OLLAMA), lambda opened: opened.complete(long))
    assert reply.usage.is_input_cut
    assert [row["outcome"] for row in rows(calls, model_calls)] == ["truncated"]


def test_what_a_model_says_to_itself_first_is_no_part_of_its_answer(
    calls: Store, models: ModelServer
) -> None:
    models.will(says(f'<think>\n{{"who": "mia"}}? No.\n</think>\n\n{GOOD}'))
    answer = call(calls, on(models), lambda opened: ask(opened, request(), Booking))
    assert (answer.value, answer.is_repaired) == (Booking(who="leo", hour=16), False)
    assert [row["outcome"] for row in rows(calls, model_calls)] == ["ok"]


def test_a_typed_answer_is_asked_for_once_more_with_what_was_wrong(
    calls: Store, models: ModelServer
) -> None:
    models.will(says('{"who": "leo", "hour": "four"}'), says(f"```json\n{GOOD}\n```"))
    answer = call(calls, on(models), lambda opened: ask(opened, request(), Booking))
    assert answer.value == Booking(who="leo", hour=16)
    assert answer.is_repaired
    words = sum(len(text.split()) for sent in models.calls for text in sent.texts)
    assert answer.reply.usage.input_tokens == 2 * words
    told = models.calls[1].texts
    assert told[-2] == '{"who": "leo", "hour": "four"}'
    assert "hour" in told[-1]
    assert "four" not in told[-1]
    assert [row["outcome"] for row in rows(calls, model_calls)] == ["invalid_output", "repaired"]


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
    calls: Store, models: ModelServer, text: str
) -> None:
    models.will(says(text))
    with pytest.raises(ModelError) as caught:
        call(calls, on(models), lambda opened: ask(opened, request(), Booking))
    assert caught.value.outcome is Outcome.INVALID_OUTPUT
    assert len(models.calls) == 2
    assert "leo" not in str(caught.value)
