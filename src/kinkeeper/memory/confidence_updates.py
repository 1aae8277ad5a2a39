"""What upkeep sets about facts besides what follows from their evidence: how sure, and whether still shown."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, select

from kinkeeper.memory.evidence import for_facts
from kinkeeper.memory.fact_rows import FACTS, replace_facts
from kinkeeper.memory.fact_sync import settle
from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.journal import Change
from kinkeeper.memory.memory_rows import fact_row
from kinkeeper.memory.model import ACTIVE_STATUSES, Fact, FactStatus
from kinkeeper.memory.tables import facts

_columns = facts.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """What upkeep sets about one fact; None leaves it.

    Attributes:
        fact_id: Which one.
        confidence: In [0, 1].
        decayed_until: Until when its silence is charged in that, aware.
        last_evidence_at: When it was supported last, aware.
        is_deprecated: True takes it out of retrieval, False brings it back.
    """

    fact_id: str
    confidence: float | None = None
    decayed_until: datetime | None = None
    last_evidence_at: datetime | None = None
    is_deprecated: bool | None = None


def adjust(
    conn: Connection, change: Change, adjustments: Sequence[Adjustment], *, at: datetime
) -> list[Fact]:
    """Set what upkeep found about facts.

    Args:
        conn: In a write transaction.
        change: Collects what becomes different.
        adjustments: One a fact; those of unknown facts are passed over.
        at: Present time, aware.

    Returns:
        The facts that are different.
    """
    known = facts_by_id(conn, change.made.household, (each.fact_id for each in adjustments))
    changed = []
    for each in adjustments:
        old = known.get(each.fact_id)
        if old is None:
            continue
        fact = _adjusted(old, each, at)
        if fact != old:
            change.note(FACTS, fact.id, fact_row(old), fact_row(fact))
            changed.append(fact)
    return replace_facts(conn, changed)


def settle_due(conn: Connection, change: Change, *, at: datetime, limit: int = 1000) -> list[Fact]:
    """Let what has come to its end by itself hold no more: what was announced, feelings, dated facts.

    Args:
        conn: In a write transaction.
        change: Collects what becomes different.
        at: Present time, aware.
        limit: Most facts at once, > 0.

    Returns:
        The facts that are different; none where nothing is due.
    """
    household = change.made.household
    query = (
        select(_columns.id)
        .where(
            _columns.household == household,
            _columns.status.in_(ACTIVE_STATUSES),
            _columns.valid_to <= at,
        )
        .order_by(_columns.valid_to, _columns.id)
        .limit(limit)
    )
    due = list(conn.execute(query).scalars())
    return settle(conn, change, {each.strand for each in for_facts(conn, household, due)}, at=at)


def _adjusted(old: Fact, adjustment: Adjustment, at: datetime) -> Fact:
    fact = replace(
        old,
        confidence=old.confidence if adjustment.confidence is None else adjustment.confidence,
        decayed_until=adjustment.decayed_until or old.decayed_until,
        last_evidence_at=adjustment.last_evidence_at or old.last_evidence_at,
    )
    if adjustment.is_deprecated and old.status.is_active:
        return replace(fact, status=FactStatus.DEPRECATED, archived_at=at)
    if adjustment.is_deprecated is False and old.status is FactStatus.DEPRECATED:
        return replace(fact, status=FactStatus.PENDING_EMBED, archived_at=None)
    return fact
