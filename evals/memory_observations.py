"""How well durable statements and corrections are found in messages; measured on our own messages."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.coordination import read_lines
from evals.report import Floor, Report, Table
from kinkeeper.memory.model import Observation
from kinkeeper.memory.statements.extraction import observe

OWN = "memory/observations_heldout.jsonl"
FLOORS = {"precision": 0.88, "recall": 0.92, "kind": 0.97}

_SAID_AT = datetime(2026, 3, 5, 12, tzinfo=UTC)


def measure(root: Path) -> Report:
    """Measure what is found in messages.

    Args:
        root: The repository.
    """
    found = missed = extra = of_kind = number = 0
    worst: list[str] = []
    for row in read_lines(root / "evals" / "data" / OWN):
        number += 1
        left = [*observe(row["text"], said_at=_SAID_AT, previous=row.get("previous", ()))]
        for expected in row["expected"]:
            match = _match(row["text"], expected, left)
            if match is None:
                missed += 1
                worst.append(f"missed {expected['words']!r}: {row['text']!r}")
                continue
            left.remove(match)
            found += 1
            of_kind += _kind(match) == expected["kind"]
        extra += len(left)
        worst.extend(f"not worth keeping: {each.text!r}" for each in left)
    figures = {
        "precision": found / max(1, found + extra),
        "recall": found / max(1, found + missed),
        "kind": of_kind / max(1, found),
    }
    return Report(
        suite="memory observations",
        worst=tuple(worst),
        tables=(
            Table(
                title="Statements found in messages",
                columns=("messages", "number", "statements", "precision", "recall", "right kind"),
                rows=((OWN, number, found + missed, *figures.values()),),
            ),
        ),
        floors=tuple(
            Floor(name=f"{OWN}: {name}", value=figures[name], minimum=minimum)
            for name, minimum in FLOORS.items()
        ),
    )


def _match(
    text: str, expected: Mapping[str, Any], left: Sequence[Observation]
) -> Observation | None:
    start = text.find(expected["words"])
    end = start + len(expected["words"])
    return next((each for each in left if each.start < end and start < each.end), None)


def _kind(observation: Observation) -> str:
    if observation.correction is None:
        return "statement"
    return "retraction" if observation.correction.is_retraction else "correction"
