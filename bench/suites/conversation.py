"""What a turn costs without a model, by the way it takes, beside a bare endpoint that echoes; and many open streams."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.cost import p99_of
from bench.report import Figure, Ratio
from bench.serving import streams, talk
from bench.serving.processes import ServerProcess, bare_server, our_server
from bench.serving.turns import connected, said

_ROUNDS, _HURRIED, _WARM_UP = 40, 20, 8
_SETTLING_SECONDS = 2.0
# Nobody answers faster: what is done after a turn is over by then.
_PAUSE_SECONDS = 0.25
_P50_MS, _P99_US = 15.0, 50_000.0
_WAYS = {
    "a task": "add buy stamps number {} to my to-do list",
    "a greeting": "good morning!",
    "a question about the calendar": "what's on tomorrow?",
    "a list": "what's on my to-do list?",
    "a statement": "the coach of the rowing team number {} is called Ben",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Times:
    """What one way took.

    Attributes:
        turns: From the message to the end of the answer, microseconds of the clock on the wall.
        echoes: The same of the bare endpoint, in turn.
        hurried: Of turns that come as soon as the one before is answered.
        cpu: Of the server a turn, what is done after it included, ms.
    """

    turns: Sequence[float]
    echoes: Sequence[float]
    hurried: Sequence[float]
    cpu: float


def measure(seconds: int = 60) -> tuple[Ratio | Figure, ...]:
    """Time turns over HTTP as a page sees them; then hold many streams.

    Args:
        seconds: How long the streams are held.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        return (*_turns(folder), *streams.measure(folder, seconds=seconds))


def _turns(folder: Path) -> list[Ratio | Figure]:
    household, database, _ = talk.prepare(folder, "turns")
    token = talk.adult_token(household, database)
    with ExitStack() as held:
        nothing = held.enter_context(bare_server(folder))
        ours = held.enter_context(
            our_server(folder, household=household, database=database, settings=talk.NO_MODEL)
        )
        times = asyncio.run(_all_ways(ours, nothing, token))
    found: list[Ratio | Figure] = []
    for name, each in times.items():
        found += [
            Ratio(
                name=f"{name}, to the end of the answer",
                microseconds=median(each.turns),
                p99_microseconds=p99_of(each.turns),
                peer="-",
                peer_microseconds=None,
                target=_P99_US,
            ),
            Ratio(
                name=f"{name}, beside an echo",
                microseconds=median(each.turns),
                p99_microseconds=p99_of(each.turns),
                peer="a bare endpoint that echoes",
                peer_microseconds=median(each.echoes),
                target=None,
            ),
            Figure(
                name=f"{name}, median", value=median(each.turns) / 1000, unit="ms", target=_P50_MS
            ),
            Ratio(
                name=f"{name}, said without a pause",
                microseconds=median(each.hurried),
                p99_microseconds=max(each.hurried),
                peer="-",
                peer_microseconds=None,
                target=None,
            ),
            Figure(name=f"{name}, CPU with what is done after it", value=each.cpu, unit="ms"),
        ]
    return found


async def _all_ways(ours: ServerProcess, nothing: ServerProcess, token: str) -> dict[str, _Times]:
    found = {}
    for number, (name, text) in enumerate(_WAYS.items(), start=2):
        # An address for each way: a server bounds what one client may write.
        async with (
            connected(ours, f"127.0.0.{number}") as server,
            connected(nothing, f"127.0.0.{number}") as bare,
        ):
            requests = (said(text.format(each), token) for each in count())
            hurried = [await server.answered(next(requests)) for _ in range(_HURRIED)]
            await asyncio.sleep(_SETTLING_SECONDS)
            before = ours.cpu_seconds()
            turns, echoes = [], []
            for request in islice(requests, _ROUNDS):
                turns.append(await server.answered(request))
                await asyncio.sleep(_PAUSE_SECONDS)
                echoes.append(await bare.answered(request))
            spent = 1000 * (ours.cpu_seconds() - before) / _ROUNDS
        found[name] = _Times(turns=turns, echoes=echoes[1:], hurried=hurried[_WARM_UP:], cpu=spent)
    return found
