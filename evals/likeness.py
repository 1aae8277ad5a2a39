"""Whether a likeness means what it says: precision at the thresholds in use, and how embedders agree."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.likeness_gold import Pair, pairs
from evals.report import Floor, Report, Table
from kinkeeper.models.embedding.calibration import calibration_of
from kinkeeper.models.embedding.embedder import Embedder

THRESHOLDS = (0.55, 0.7, 0.75, 0.8, 0.85)
LEAST_ABOVE = -0.05
"""Precision may miss its threshold by so much."""

_BANDS = 10
_WORST = 20

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def measure(data: Path, *, embedders: Mapping[str, Embedder]) -> Report:
    """Measure likeness on pairs about what nothing was fitted on.

    Args:
        data: Folder with the public sets.
        embedders: By name.

    Raises:
        InputError: A set is missing.
    """
    held_out = [pair for pair in pairs(data) if pair.is_held_out]
    alike = np.array([pair.is_alike for pair in held_out])
    tables: list[Table] = []
    floors: list[Floor] = []
    worst: list[str] = []
    for name, embedder in embedders.items():
        found = asyncio.run(likenesses(embedder, held_out))
        rows = [(at, *at_threshold(found, alike, at)) for at in THRESHOLDS]
        columns = ("likeness from", "pairs", "precision", "recall")
        tables.append(Table(title=f"Likeness by {name}", columns=columns, rows=tuple(rows)))
        floors += [
            Floor(
                name=f"{name}: precision less threshold {at}",
                value=precision - at,
                minimum=LEAST_ABOVE,
            )
            for at, _, precision, _ in rows
        ]
        floors.append(
            Floor(name=f"{name}: 1 - calibration error", value=1 - error(found, alike), minimum=0.9)
        )
        worst = _worst(held_out, found)
    return Report(suite="likeness", tables=tuple(tables), floors=tuple(floors), worst=tuple(worst))


async def cosines(embedder: Embedder, held: Sequence[Pair]) -> Floats:
    """Return the cosine of each pair.

    Args:
        embedder: Makes the vectors.
        held: The pairs.
    """
    first = await embedder.embed([pair.first for pair in held])
    second = await embedder.embed([pair.second for pair in held])
    return np.asarray((first * second).sum(axis=1), dtype=np.float64)


async def likenesses(embedder: Embedder, held: Sequence[Pair]) -> Floats:
    """Return the likeness of each pair, in (0, 1).

    Args:
        embedder: Makes the vectors.
        held: The pairs.
    """
    calibration = await calibration_of(embedder)
    return calibration.likeness(await cosines(embedder, held))


def at_threshold(found: Floats, alike: Flags, at: float) -> tuple[int, float, float]:
    """Return how many pairs reach a threshold, the share of them that are alike, and of those found.

    Both kinds of pairs count alike, however many there are of each.
    """
    reached = found >= at
    hits = float((reached & alike).sum() / alike.sum())
    misses = float((reached & ~alike).sum() / (~alike).sum())
    return int(reached.sum()), hits / (hits + misses) if hits + misses else 1.0, hits


def error(found: Floats, alike: Flags) -> float:
    """Return the mean distance of a likeness from the share that is alike, over ten bands of it."""
    weights = np.where(alike, 0.5 / alike.sum(), 0.5 / (~alike).sum())
    bands = np.minimum((found * _BANDS).astype(int), _BANDS - 1)
    total = 0.0
    for band in range(_BANDS):
        inside = bands == band
        if weight := float(weights[inside].sum()):
            share = float((weights * alike)[inside].sum()) / weight
            said = float((weights * found)[inside].sum()) / weight
            total += weight * abs(share - said)
    return total


def _worst(held: Sequence[Pair], found: Floats) -> list[str]:
    gaps = [abs(likeness - pair.is_alike) for pair, likeness in zip(held, found, strict=True)]
    order = sorted(range(len(held)), key=lambda index: -gaps[index])[:_WORST]
    return [
        f"{found[index]:.2f} for {'alike' if held[index].is_alike else 'unlike'} "
        f"{held[index].first!r}, {held[index].second!r}"
        for index in order
    ]
