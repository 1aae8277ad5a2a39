"""Facts, statements and episodes that tests of the pages of memory build on."""

from datetime import UTC, datetime
from typing import Any

from kinkeeper.memory.model import Category, Episode, Fact, FactStatus, Origin, Statement

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def fact(name: str, **fields: Any) -> Fact:
    plain: dict[str, Any] = {
        "household": "vienna",
        "id": name,
        "category": Category.PREFERENCE,
        "subject": "me",
        "title": name,
        "narrative": f"{name}.",
        "origin": Origin.SAID,
        "confidence": 0.8,
        "status": FactStatus.ACTIVE,
        "held_from": NOW,
        "said_at": NOW,
        "created_at": NOW,
        "last_evidence_at": NOW,
        "decayed_until": NOW,
    }
    return Fact(**{**plain, **fields})


def statement(name: str, **fields: Any) -> Statement:
    plain: dict[str, Any] = {
        "household": "vienna",
        "id": name,
        "episode_id": f"e-{name}",
        "scope": "household",
        "start": 0,
        "end": len(name),
        "text": name,
        "speaker": None,
        "subject": "me",
        "title": name,
        "narrative": name,
        "category": Category.PREFERENCE,
        "confidence": 0.8,
        "said_at": NOW,
        "origin": Origin.SAID,
        "strand": name,
    }
    return Statement(**{**plain, **fields})


def episode(name: str, **fields: Any) -> Episode:
    plain: dict[str, Any] = {
        "household": "vienna",
        "id": name,
        "text": name,
        "said_at": NOW,
        "origin": Origin.SAID,
    }
    return Episode(**{**plain, **fields})
