"""Which concepts come to mind: seeds drawn by weight, and what they bring up over two steps of relations. Pure.

The graph is memory's map of concepts as it is, with who takes part in what from the calendar beside it.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random  # noqa: TID251 - every draw follows from the seed that is recorded with the cycle
from typing import Final

from kinkeeper.background.drift.model import Observation, Snapshot
from kinkeeper.language.name_match import telling_stems
from kinkeeper.memory.concepts import ConceptMap

DECAYING, RECENT, SALIENT, INSIGHT, RANDOM = "decaying", "recent", "salient", "insight", "random"
WEIGHTS: Final[Mapping[str, float]] = {
    DECAYING: 0.35,
    RECENT: 0.25,
    SALIENT: 0.15,
    INSIGHT: 0.15,
    RANDOM: 0.10,
}
"""How often a seed is drawn from each class; an empty class gives its weight to the rest."""
SEEDS: Final = 3
DEPTH: Final = 2
DECAY_PER_HOP: Final = 0.5
TOP: Final = 5
COOLDOWN: Final = timedelta(minutes=60)
"""How long a concept that was a seed is none again."""

_RECENTLY = timedelta(hours=168)
_UNREPEATED = timedelta(days=30)
_SALIENT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Concepts and what joins them.

    Attributes:
        weights: By concept.
        edges: By concept, the weight of what joins it to each of its neighbours.
        of_fact: By fact, the concepts that it names.
    """

    weights: Mapping[str, float]
    edges: Mapping[str, Mapping[str, float]]
    of_fact: Mapping[str, frozenset[str]]


def graph_of(snapshot: Snapshot, known: ConceptMap) -> Graph:
    """Return memory's concepts and relations, and beside them who takes part in what."""
    weights = defaultdict[str, float](float)
    edges = defaultdict[str, defaultdict[str, float]](lambda: defaultdict(float))
    of_fact = defaultdict[str, frozenset[str]](frozenset)
    names = snapshot.household.names

    def join(source: str, target: str, weight: float) -> None:
        for one, other in ((source, target), (target, source)):
            weights[one] += weight
            edges[one][other] += weight

    for each in sorted(known.relations, key=lambda each: (each.source, each.target, each.type)):
        source, target = names.get(each.source, each.source), names.get(each.target, each.target)
        join(source, target, each.weight)
        for fact in each.facts:
            of_fact[fact] |= {source, target}
    events = {each.event.id: each.event for each in snapshot.occurrences}
    for _, event in sorted(events.items()):
        for member in sorted({*event.who, *event.responsible}):
            join(names.get(member, member), event.activity or event.summary, 1.0)
    return Graph(weights=weights, edges=edges, of_fact=of_fact)


def seeds_of(
    graph: Graph,
    snapshot: Snapshot,
    observations: Sequence[Observation],
    *,
    cooling: Collection[str],
    draw: Random,
) -> tuple[str, ...]:
    """Return the concepts to begin with, at most SEEDS, in the order drawn.

    Args:
        cooling: Concepts that were seeds within COOLDOWN.
    """
    classes = {
        name: sorted(found - {*cooling})
        for name, found in _classes(graph, snapshot, observations).items()
    }
    drawn = list[str]()
    for _ in range(SEEDS):
        left = {
            name: [each for each in found if each not in drawn] for name, found in classes.items()
        }
        names = [name for name in WEIGHTS if left[name]]
        if not names:
            break
        [name] = draw.choices(names, [WEIGHTS[each] for each in names])
        drawn.append(draw.choice(left[name]))
    return tuple(drawn)


def _classes(
    graph: Graph, snapshot: Snapshot, observations: Sequence[Observation]
) -> Mapping[str, set[str]]:
    now: datetime = snapshot.now
    facts = [each for each in snapshot.facts if each.id in graph.of_fact]
    about = frozenset[str]().union(*(each.about for each in observations))
    heaviest = sorted(graph.weights, key=lambda each: (-graph.weights[each], each))[:_SALIENT]

    def named(ids: Collection[str]) -> set[str]:
        return {concept for each in ids for concept in graph.of_fact[each]}

    return {
        DECAYING: named(
            [
                each.id
                for each in facts
                if each.is_transient or now - each.last_evidence_at > _UNREPEATED
            ]
        ),
        RECENT: named([each.id for each in facts if now - each.said_at <= _RECENTLY]),
        SALIENT: {*heaviest},
        INSIGHT: {each for each in graph.weights if about & telling_stems(each)},
        RANDOM: {*graph.weights},
    }


def spread(graph: Graph, seeds: Sequence[str]) -> Mapping[str, float]:
    """Return the TOP concepts that seeds bring up within DEPTH steps, with how strongly, the strongest first."""
    active = defaultdict[str, float](float, dict.fromkeys(seeds, 1.0))
    front = dict.fromkeys(seeds, 1.0)
    for _ in range(DEPTH):
        reached = defaultdict[str, float](float)
        for concept in sorted(front):
            neighbours = graph.edges.get(concept, {})
            total = sum(neighbours.values())
            for other in sorted(neighbours):
                reached[other] += front[concept] * DECAY_PER_HOP * neighbours[other] / total
        for concept, strength in reached.items():
            active[concept] += strength
        front = reached
    strongest = sorted(active, key=lambda each: (-active[each], each))[:TOP]
    return {each: round(active[each], 6) for each in strongest}
