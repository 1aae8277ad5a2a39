"""Accuracy of categories of memory: our own held-out statements, and public ones about unseen things."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from evals.report import Floor, Report, Table
from evals.sorting_gold import (
    OWN_STATEMENTS_HELD_OUT,
    Statement,
    awkward_statements,
    own_statements,
    public_statements,
)
from kinkeeper.memory.model import Category
from kinkeeper.memory.statements.classification import Classified, StatementClassifier
from kinkeeper.models.embedding.embedder import Embedder

OWN = "own, held out"
"""Measured, and never shown: whoever mends a cue must not have read it."""

AWKWARD = "awkward ones, held out"

FLOORS = {OWN: 0.9, AWKWARD: 0.85, "memory updates": 0.9}


def measure(data: Path | None, *, embedders: Mapping[str, Embedder | None], root: Path) -> Report:
    """Measure the categories on what nothing was fitted on.

    Args:
        data: Folder with the public sets; without it our own held-out statements alone are measured.
        embedders: By name, the best last: the floors are its.
        root: The repository.
    """
    sets = {
        OWN: [*own_statements(root / "evals" / "data", OWN_STATEMENTS_HELD_OUT)],
        AWKWARD: [*awkward_statements(root / "evals" / "data")],
    }
    if data is not None:
        sets["memory updates"] = [each for each in public_statements(data) if each.is_held_out]
    rows: list[tuple[str | int | float, ...]] = []
    values: dict[str, float] = {}
    worst: list[str] = []
    by_category: list[tuple[str, int, float]] = []
    for name, embedder in embedders.items():
        classifier = StatementClassifier(embedder)
        for of, statements in sets.items():
            found = asyncio.run(classifier.classify([each.text for each in statements]))
            values[of] = _right(statements, found)
            rows.append((f"{of}, by {name}", len(statements), values[of]))
            if of == OWN:
                by_category = _by_category(statements, found)
            elif of != AWKWARD:
                worst = [*_wrong(of, statements, found), *worst]
    return Report(
        suite="category",
        worst=tuple(worst),
        tables=(
            Table(title="Categories", columns=("statements", "number", "right"), rows=tuple(rows)),
            Table(
                title=f"Own, held out, by {[*embedders][-1]}",
                columns=("category", "number", "right"),
                rows=tuple(by_category),
            ),
        ),
        floors=tuple(
            Floor(name=name, value=values[name], minimum=minimum)
            for name, minimum in FLOORS.items()
            if name in values
        ),
    )


def _right(statements: Sequence[Statement], found: Sequence[Classified]) -> float:
    hits = [each.category == own.category for each, own in zip(statements, found, strict=True)]
    return sum(hits) / len(hits) if hits else 0.0


def _by_category(
    statements: Sequence[Statement], found: Sequence[Classified]
) -> list[tuple[str, int, float]]:
    rows = []
    for category in Category:
        pairs = [
            (each, own)
            for each, own in zip(statements, found, strict=True)
            if each.category == category
        ]
        own_share = _right([each for each, _ in pairs], [own for _, own in pairs])
        rows.append((str(category), len(pairs), own_share))
    return rows


def _wrong(of: str, statements: Sequence[Statement], found: Sequence[Classified]) -> list[str]:
    return [
        f"{of}: {each.category} taken for {own.category} by {own.stage}: {each.text[:90]!r}"
        for each, own in zip(statements, found, strict=True)
        if each.category != own.category
    ]
