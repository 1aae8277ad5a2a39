"""What a search of memory on the command line waits for, and how it writes a hit."""

from math import inf
from typing import Any

from kinkeeper.brain.evidence_search import EventHit
from kinkeeper.memory.finding.search import Hit

# Whoever waits for an answer here would rather wait once than get one that is not complete.
AS_LONG_AS_IT_TAKES = inf


def ranked(hit: Hit | EventHit) -> dict[str, Any]:
    """Return the JSON form of a hit: which it is, and how it scored."""
    legs = {} if isinstance(hit, EventHit) else hit.parts
    parts = {name: round(part, 4) for name, part in legs.items()}
    return {
        "id": hit.id, "kind": hit.kind.value, "score": round(hit.score, 4),
        "parts": parts | {"relevance": round(hit.relevance, 4)},
    }  # fmt: skip
