"""Which pairs of statements a night would put to a person: missed updates, and others that need no question."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evals.report import Table
from kinkeeper.memory.statements.relation import WORTH_ASKING, Effect, chance_left_open, relate
from kinkeeper.models.embedding.calibration import calibration_of
from kinkeeper.models.embedding.minilm import shared_minilm, weights_path


class Told(NamedTuple):
    """Two statements in the order in which they were said.

    Attributes:
        old: What was said.
        new: What was said later.
        effect: What is right to become of them.
    """

    old: str
    new: str
    effect: str


def asked_table(sets: Mapping[str, Sequence[Told]]) -> Table:
    """Return how many of the pairs that nothing decides are asked about.

    Args:
        sets: Pairs by the name of their file.
    """
    likeness = asyncio.run(_likenesses([pair for pairs in sets.values() for pair in pairs]))
    return Table(
        title="What a person is asked" + ("" if likeness else " (by words alone)"),
        columns=("pairs", "missed updates", "asked about", "others left alone", "asked about"),
        rows=tuple((name, *_counted(pairs, likeness)) for name, pairs in sets.items()),
    )


def _counted(
    pairs: Sequence[Told], likeness: Mapping[tuple[str, str], float]
) -> tuple[int, int, int, int]:
    every: Counter[bool] = Counter()
    asked: Counter[bool] = Counter()
    for pair in pairs:
        if relate(pair.old, pair.new).effect is not Effect.KEEP_BOTH:
            continue
        is_update = pair.effect == Effect.SUPERSEDE
        every[is_update] += 1
        chance = chance_left_open(pair.old, pair.new, likeness=likeness.get((pair.old, pair.new)))
        asked[is_update] += chance >= WORTH_ASKING
    return every[True], asked[True], every[False], asked[False]


async def _likenesses(pairs: Sequence[Told]) -> Mapping[tuple[str, str], float]:
    """Return how alike the meanings of pairs are; nothing where the embedder is not installed."""
    weights = weights_path()
    if weights is None or not pairs:
        return {}
    model = shared_minilm(weights)
    calibration = await calibration_of(model)
    old = await model.embed([each.old for each in pairs])
    new = await model.embed([each.new for each in pairs])
    found = calibration.likeness((old * new).sum(1))
    return {(each.old, each.new): float(alike) for each, alike in zip(pairs, found, strict=True)}
