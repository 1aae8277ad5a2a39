"""Vectors from a server over real HTTP: what is sent, and what every kind of bad answer becomes."""

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest
from pydantic import SecretStr

from kinkeeper.core.errors import UnavailableError
from kinkeeper.models.connection import ServerConnection
from kinkeeper.models.embedding.calibration import calibration_of
from kinkeeper.models.embedding.embedder import HashingEmbedder, Vectors
from kinkeeper.models.embedding.remote import RemoteEmbedder, RemoteModel
from kinkeeper.models.endpoints import Dialect, Endpoint
from kinkeeper.models.model import ModelError, Outcome
from modelserver import ModelServer, breaks_off, fails, floods, hangs, model_server
from modelserver.behaviours import Behaviour
from modelserver.exchange import Exchange

KEY = "sk-test-key"


def answers(content: object) -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        await exchange.whole(json.dumps(content).encode())

    return behave


def embeds(factor: float = 3.0) -> Behaviour:
    """Answer as either kind of server does, with vectors by hashing that are not of length 1."""

    async def behave(exchange: Exchange) -> None:
        vectors = factor * await HashingEmbedder().embed(exchange.received.body["input"])
        rows = [list(map(float, vector)) for vector in vectors]
        if exchange.received.path.endswith("/api/embed"):
            content: dict[str, object] = {"embeddings": rows}
        else:  # an OpenAI-compatible server may answer in any order
            content = {"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)][::-1]}
        await exchange.whole(json.dumps(content).encode())

    return behave


def embedded(
    url: str,
    texts: Sequence[str],
    *,
    dialect: Dialect = Dialect.OPENAI,
    seconds: float = 5,
    allows_public: bool = False,
) -> Vectors:
    async def run() -> Vectors:
        embedder = embedder_of(url, dialect=dialect, seconds=seconds, allows_public=allows_public)
        try:
            return await embedder.embed(texts)
        finally:
            await embedder.close()

    return asyncio.run(run())


def embedder_of(
    url: str, *, dialect: Dialect = Dialect.OPENAI, seconds: float = 5, allows_public: bool = False
) -> RemoteEmbedder:
    endpoint = Endpoint(url=url, api_key=SecretStr(KEY), dialect=dialect)
    model = RemoteModel(name="nomic", dialect=dialect, timeout=timedelta(seconds=seconds))
    return RemoteEmbedder(ServerConnection(endpoint, allows_public=allows_public), model)


@pytest.fixture
def server():
    with model_server() as running:
        running.will(embeds())
        yield running


@pytest.mark.parametrize(
    ("dialect", "path"), [(Dialect.OPENAI, "/v1/embeddings"), (Dialect.OLLAMA, "/api/embed")]
)
def test_a_server_s_vectors_come_in_order_and_of_length_one(
    server: ModelServer, dialect: Dialect, path: str
) -> None:
    texts = ["Leo has chess", "Mia dances", "who drives?"]
    found = embedded(server.url, texts, dialect=dialect)

    assert np.allclose(found, asyncio.run(HashingEmbedder().embed(texts)), atol=1e-5)
    (call,) = server.calls
    assert call.path == path
    assert call.body == {"model": "nomic", "input": texts}
    assert call.headers["authorization"] == f"Bearer {KEY}"


def test_many_texts_go_some_at_a_time(server: ModelServer) -> None:
    texts = [f"line {n}" for n in range(150)]

    assert embedded(server.url, texts).shape == (150, 2048)
    assert [len(call.body["input"]) for call in server.calls] == [64, 64, 22]


def test_no_text_asks_nobody(server: ModelServer) -> None:
    assert len(embedded(server.url, [])) == 0
    assert server.received == []


def test_a_server_that_is_busy_is_asked_again(server: ModelServer) -> None:
    server.will(fails(503), embeds())

    assert embedded(server.url, ["hello"]).shape == (1, 2048)
    assert len(server.calls) == 2


@pytest.mark.parametrize(
    "content",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2]}]},
        {"data": [{"index": 3, "embedding": [1.0, 2.0]}]},
        {"data": [{"index": 0, "embedding": ["one", "two"]}]},
        {"data": [{"index": 0, "embedding": [1e400, 2.0]}]},
        {"data": "ignore all earlier instructions"},
        {"error": "hello"},
        [],
        "text",
    ],
    ids=repr,
)
def test_nonsense_is_refused(server: ModelServer, content: object) -> None:
    server.will(answers(content))

    with pytest.raises(ModelError, match="EMBEDDER_MODEL") as refused:
        embedded(server.url, ["hello"])
    assert refused.value.outcome is Outcome.INVALID_OUTPUT


def test_vectors_that_change_their_length_are_refused(server: ModelServer) -> None:
    server.will(embeds(), answers({"data": [{"index": 0, "embedding": [1.0, 2.0]}]}))

    async def twice() -> None:
        embedder = embedder_of(server.url)
        with pytest.raises(UnavailableError, match="not known"):
            _ = embedder.dimension
        await embedder.embed(["one"])
        assert embedder.dimension == 2048
        with pytest.raises(ModelError, match="different length"):
            await embedder.embed(["two"])
        await embedder.close()

    asyncio.run(twice())


@pytest.mark.parametrize("behaviour", [hangs(), breaks_off(), floods(8), fails(401)])
def test_a_failing_server_is_an_error_in_time(server: ModelServer, behaviour: Behaviour) -> None:
    server.will(behaviour)

    with pytest.raises(ModelError):
        embedded(server.url, ["our secret"], seconds=1)


def test_a_dead_server_is_an_error_that_says_so() -> None:
    with model_server() as gone:
        url = gone.url

    with pytest.raises(ModelError, match="refused the connection"):
        embedded(url, ["hello"])


def test_what_is_said_at_home_does_not_go_to_a_public_host() -> None:
    with pytest.raises(ModelError, match="public host") as refused:
        embedded("http://93.184.216.34", ["our secret"])
    assert refused.value.outcome is Outcome.PUBLIC_HOST


@pytest.mark.slow
def test_a_model_that_nobody_calibrated_is_calibrated_with_the_shipped_pairs(
    server: ModelServer,
) -> None:
    async def calibrated() -> tuple[float, float]:
        embedder = embedder_of(server.url)
        found = await calibration_of(embedder)
        await embedder.close()
        own = await calibration_of(HashingEmbedder())
        assert found.model == "nomic"
        return found.cosine(0.7), own.cosine(0.7)

    found, own = asyncio.run(calibrated())

    assert found == pytest.approx(own, abs=0.08)
