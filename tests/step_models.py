"""A model that works on steps of goals as a test tells it, over real HTTP, for work that runs on an event loop of its own each time."""

import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

from asking import FAMILY, NOW
from kinkeeper.core.time import VirtualClock
from kinkeeper.models.endpoints import DailyLimits, ModelConfig
from kinkeeper.models.gateway import Gateway
from kinkeeper.models.model import ChatReply, ChatRequest, Outcome
from kinkeeper.store.store import Store
from model_calls import config, role
from modelserver import Received

Shown = dict[str, Any]
"""What the model is shown, by the names of the prompt's inputs."""


def shown(received: Received) -> Shown:
    """Return what a call shows a model."""
    lines = received.texts[1].splitlines()
    at = [number for number, line in enumerate(lines) if line.startswith("<data ")]
    return {lines[n].removeprefix("<data ").rstrip(">"): json.loads(lines[n + 1]) for n in at}


def answer(*answers: int, look: str = "", words: str = "") -> str:
    """Return an answer of the model."""
    return json.dumps({"answers": [*answers], "look": look, "words": words})


def choosing(choose: Callable[[Shown], str]) -> Callable[[Received], str]:
    """Return what answers calls by what they show."""
    return lambda received: choose(shown(received))


def numbers_of(seen: Shown, *words: str) -> list[int]:
    """Return the numbers of the shown lines that have one of these words."""
    return [int(at) for at, line in seen["lines"].items() if any(word in line for word in words)]


class EachCall:
    """The way to models, opened anew for each call."""

    def __init__(self, file: Path | str, url: str, **changes: Any) -> None:
        self._store = Store.open(str(file))
        self._config: ModelConfig = config(role(url), **changes)

    def opened(self) -> Gateway:
        zones = {FAMILY.id: FAMILY.zone}
        return Gateway(self._config, store=self._store, clock=VirtualClock(NOW), zones=zones)

    async def complete(self, request: ChatRequest) -> ChatReply:
        async with self.opened() as gateway:
            return await gateway.complete(request)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        async with self.opened() as gateway:
            async for piece in gateway.stream(request):
                yield piece

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        async with self.opened() as gateway:
            await gateway.note_fallback(household, stage=stage, outcome=outcome)

    def close(self) -> None:
        self._store.close()


NO_CALLS = DailyLimits(calls=0)
