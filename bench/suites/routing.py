"""CPU time of routing one message of a conversation: the social filter alone, and all of it, without an embedder."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from statistics import median, quantiles
from time import thread_time_ns

from bench.report import Ratio
from kinkeeper.conversation.model import Exchange, Mode
from kinkeeper.conversation.routing.intent import read_social
from kinkeeper.conversation.routing.router import Router

_ROUNDS = 5
_VARIANTS = 20
_FILTER_P99_US, _ROUTE_P99_US = 1_000.0, 5_000.0
_MESSAGES = (
    "hi there {n}",
    "thanks so much, that's all I needed {n}",
    "never mind, I found number {n}",
    "remind me to call grandma tomorrow at {n}:15",
    "what's on my calendar on the {n}th?",
    "add {n} eggs and a bag of flour to the shopping list",
    "and what about the {n}th?",
    "check my calendar for tomorrow and email Ade that I'm {n} minutes late",
    "yes but make it {n} o'clock",
    "it was such a long day, {n} meetings and no lunch at all",
    "could you please move the dentist to the {n}th, and tell Ida that she has to bring her boots",
)
_BEFORE = Exchange(
    text="what's on my calendar on Thursday",
    answer="Nothing. Shall I add something?",
    at=datetime(2026, 3, 2, tzinfo=UTC),
    mode=Mode.ACT,
)


def measure() -> tuple[Ratio, ...]:
    """Time messages that were never seen before in their round; each counts with its best round.

    Returns:
        The social filter and the whole routing, after another turn and with a question open, each
        against its limit at the 99th percentile.
    """
    router = Router(None)

    async def route(text: str) -> object:
        return await router.route(text, history=[_BEFORE], open_question=True)

    loop = asyncio.new_event_loop()
    try:
        routing = _timed(lambda text: loop.run_until_complete(route(text)))
    finally:
        loop.close()
    return (
        _ratio("social filter of a message", _timed(read_social), _FILTER_P99_US),
        _ratio("routing of a message, no embedder", routing, _ROUTE_P99_US),
    )


def _timed(work: Callable[[str], object]) -> list[float]:
    best: dict[tuple[str, int], float] = {}
    for number in range(_ROUNDS):
        for message in _MESSAGES:
            for variant in range(_VARIANTS):
                text = message.format(n=number * _VARIANTS + variant + 2)
                begun = thread_time_ns()
                work(text)
                took = (thread_time_ns() - begun) / 1000
                best[message, variant] = min(took, best.get((message, variant), took))
    return [*best.values()]


def _ratio(name: str, took: Sequence[float], limit: float) -> Ratio:
    return Ratio(
        name=name,
        microseconds=median(took),
        p99_microseconds=quantiles(took, n=100)[98],
        peer="-",
        peer_microseconds=None,
        target=limit,
    )
