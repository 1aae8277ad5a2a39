"""Accuracy of routing: the right set of domains, on public requests and on our own, by stage."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

from evals.report import Floor, Report, Table, share
from evals.router_turns import FLOORS as TURN_FLOORS
from evals.router_turns import Turns, measure_turns
from evals.sorting_gold import (
    CALENDAR_SET,
    COMPOSED_SET,
    OWN_REQUESTS_HELD_OUT,
    SINGLE_SETS,
    Request,
    own_requests,
    public_requests,
)
from kinkeeper.language.sorting.domains import DomainRouter, Route
from kinkeeper.models.embedding.embedder import Embedder

OWN = "own, held out"
"""Measured, and never shown: whoever mends a cue must not have read it."""

FLOORS = {
    "clinc_router: recall": 0.96,
    "hwu_router: recall": 0.9,
    "slurp_router: recall": 0.88,
    "smcalflow_calendar: recall": 0.88,
    "multidomain_mix: right": 0.89,
    f"{OWN}: right": 0.85,
}
_NO_TURNS = Turns(tables=(), values={}, worst=())
_HALF = 250
_WORST = 40
_COLUMNS = ("requests", "number", "right", "recall", "false fire", "ms")


def measure(
    data: Path | None, *, embedders: Mapping[str, Embedder | None], root: Path, is_full: bool
) -> Report:
    """Measure the router on what nothing was fitted on; sure labels only.

    Args:
        data: Folder with the public sets; without it our own held-out requests alone are measured.
        embedders: By name, the best last: the floors are its.
        root: The repository.
        is_full: Everything, instead of a fixed sample of each set.
    """
    sets: dict[str, Sequence[Request]] = {
        OWN: [*own_requests(root / "evals" / "data", OWN_REQUESTS_HELD_OUT)]
    }
    if data is not None:
        for name in (*SINGLE_SETS, CALENDAR_SET, COMPOSED_SET):
            sure = [
                each for each in public_requests(data, name) if each.is_sure and each.is_held_out
            ]
            sets[name] = sure if is_full else _sample(sure)
    tables: list[Table] = []
    values: dict[str, float] = {}
    worst: list[str] = []
    for name, embedder in embedders.items():
        router = DomainRouter(embedder)
        routed, took = {}, {}
        for of, requests in sets.items():
            begun = perf_counter()
            routed[of] = asyncio.run(router.route([each.text for each in requests]))
            took[of] = 1000 * (perf_counter() - begun) / max(len(requests), 1)
        rows = tuple((of, *_figures(sets[of], routes), took[of]) for of, routes in routed.items())
        tables.append(Table(title=f"Routing by {name}", columns=_COLUMNS, rows=rows))
        for of, _, right, recall, *_ in rows:
            values |= {f"{of}: right": float(right), f"{of}: recall": float(recall)}
        worst = [
            line
            for of, routes in routed.items()
            if of != OWN
            for line in _wrong(of, sets[of], routes)
        ]
    turns = measure_turns(data, [*embedders.values()][-1]) if data is not None else _NO_TURNS
    values |= turns.values
    return Report(
        suite="router",
        tables=(*tables, *turns.tables),
        worst=(*turns.worst, *worst[:_WORST]),
        floors=tuple(
            Floor(name=name, value=values[name], minimum=minimum)
            for name, minimum in {**FLOORS, **TURN_FLOORS}.items()
            if name in values
        ),
    )


def _sample(requests: Sequence[Request]) -> Sequence[Request]:
    """Return requests from all over a set, as many with a domain as without, the same ones every time."""
    halves = (
        [each for each in requests if each.domains],
        [each for each in requests if not each.domains],
    )
    return [each for half in halves for each in half[:: len(half) // _HALF + 1]]


def _is_right(request: Request, route: Route) -> bool:
    return frozenset(map(str, route.domains)) in request.accepted


def _figures(
    requests: Sequence[Request], routes: Sequence[Route]
) -> tuple[int, float, float, float]:
    """Return how many, the share that is right, that of those with a domain, and needless domains."""
    pairs = [*zip(requests, routes, strict=True)]
    with_domain = [_is_right(*pair) for pair in pairs if pair[0].domains]
    fired = [not _is_right(*pair) for pair in pairs if not pair[0].domains]
    return (len(pairs), share(_is_right(*pair) for pair in pairs), share(with_domain), share(fired))


def _wrong(of: str, requests: Sequence[Request], routes: Sequence[Route]) -> list[str]:
    return [
        f"{of}: {'+'.join(sorted(request.domains)) or 'none'} taken for "
        f"{'+'.join(sorted(route.domains)) or 'none'}: {request.text[:90]!r}"
        for request, route in zip(requests, routes, strict=True)
        if not _is_right(request, route)
    ]
