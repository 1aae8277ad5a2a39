"""Calls to models as tests make them: values that are right unless a test says otherwise."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import pytest
from pydantic import BaseModel, ConfigDict

from kinkeeper.core.time import Clock, VirtualClock
from kinkeeper.models.endpoints import DailyLimits, Dialect, Endpoint, ModelConfig, RoleModel
from kinkeeper.models.gateway import Gateway
from kinkeeper.models.model import (
    Author,
    ChatMessage,
    ChatReply,
    ChatRequest,
    ModelError,
    ModelRole,
    Outcome,
    PromptRef,
)
from kinkeeper.store.store import Store
from modelserver import ModelServer

T = TypeVar("T")

HOUSE = "miller"
ZONE = ZoneInfo("America/Chicago")
NOON = datetime(2026, 3, 3, 18, tzinfo=UTC)
PROMPT = PromptRef(id="test.prompt", version=3, hash="0" * 64)


class Booking(BaseModel):
    """Something typed to ask for."""

    model_config = ConfigDict(extra="forbid")

    who: str
    hour: int


def request(*texts: str, **changes: Any) -> ChatRequest:
    """Return a call: a system message, and one of a user for each text."""
    messages = (
        ChatMessage(author=Author.SYSTEM, text="Read the message."),
        *(ChatMessage(author=Author.USER, text=text) for text in texts or ("leo at four",)),
    )
    made = ChatRequest(
        role=ModelRole.LIGHT, prompt=PROMPT, messages=messages, household=HOUSE, is_ambient=True
    )
    return replace(made, **changes)


def role(url: str, **changes: Any) -> RoleModel:
    """Return a role's model on the server at an address."""
    made = RoleModel(
        endpoint=Endpoint(url=url, dialect=Dialect.OPENAI),
        model="test-model",
        timeout=timedelta(seconds=10),
        context_tokens=4096,
    )
    return replace(made, **changes)


def config(every: RoleModel, **changes: Any) -> ModelConfig:
    """Return settings in which one model does all."""
    made = ModelConfig(
        roles=dict.fromkeys(ModelRole, every),
        concurrency=4,
        allows_public=False,
        keeps_text=False,
        limits=DailyLimits(),
    )
    return replace(made, **changes)


@asynccontextmanager
async def gateway(
    store: Store, config: ModelConfig, *, clock: Clock | None = None, **more: Any
) -> AsyncIterator[Gateway]:
    """Yield a gateway of one household."""
    async with Gateway(
        config, store=store, clock=clock or VirtualClock(NOON), zones={HOUSE: ZONE}, **more
    ) as opened:
        yield opened


async def streamed(opened: Gateway, call: ChatRequest) -> tuple[list[str], ChatReply]:
    """Return the pieces of an answer and the whole of it."""
    found = [piece async for piece in opened.stream(call)]
    *pieces, whole = found
    assert isinstance(whole, ChatReply)
    assert all(isinstance(piece, str) for piece in pieces)
    return [str(piece) for piece in pieces], whole


def rows(store: Store, table: Any) -> Sequence[Mapping[str, Any]]:
    """Return all rows of a table, oldest first."""
    return store.read_now(lambda conn: [dict(row._mapping) for row in conn.execute(table.select())])


Dialects = pytest.mark.parametrize("dialect", [Dialect.OPENAI, Dialect.OLLAMA])


def on(server: ModelServer, dialect: Dialect = Dialect.OPENAI, **changes: Any) -> ModelConfig:
    """Return settings in which a model of a server does all."""
    model = role(server.url, **changes)
    return config(replace(model, endpoint=Endpoint(url=server.url, dialect=dialect)))


def call(
    store: Store, settings: ModelConfig, do: Callable[[Gateway], Awaitable[T]], **more: Any
) -> T:
    """Do something with a gateway on an event loop of its own."""

    async def run() -> T:
        async with gateway(store, settings, **more) as opened:
            return await do(opened)

    return asyncio.run(run())


def outcome(store: Store, settings: ModelConfig, call_: ChatRequest | None = None) -> Outcome:
    """Return how a call ends that is to fail."""
    with pytest.raises(ModelError) as caught:
        call(store, settings, lambda opened: opened.complete(call_ or request()))
    return caught.value.outcome


def stream_outcome(store: Store, settings: ModelConfig) -> Outcome:
    """Return how a stream ends that is to fail."""
    with pytest.raises(ModelError) as caught:
        call(store, settings, lambda opened: streamed(opened, request()))
    return caught.value.outcome
