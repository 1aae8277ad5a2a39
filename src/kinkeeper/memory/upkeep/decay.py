"""Facts that leave retrieval by themselves, and those that come back. In the caller's transaction."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, select

from kinkeeper.memory.adjustments import Adjustment, adjust, settle_due
from kinkeeper.memory.confidence import confidence_now
from kinkeeper.memory.evidence import for_facts
from kinkeeper.memory.fact_sync import settle
from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.journal import Change
from kinkeeper.memory.model import ACTIVE_STATUSES, FactStatus
from kinkeeper.memory.tables import facts
from kinkeeper.memory.upkeep.questions import QuestionKind, known_ids, question_id

MOST_FADING = 5_000
"""Facts that leave or come back in one run; more follow in the next."""

KEPT = 0.6
"""How far a fact is believed at least that a person wants kept."""

_columns = facts.c


def let_go(conn: Connection, change: Change, *, now: datetime) -> None:
    """Take out of retrieval what has ended on its day, and what silence has made too doubtful."""
    settle_due(conn, change, at=now, limit=MOST_FADING)
    query = (
        select(_columns.id)
        .where(
            _columns.household == change.made.household,
            _columns.status.in_(ACTIVE_STATUSES),
            _columns.due_at <= now,
        )
        .order_by(_columns.due_at, _columns.id)
        .limit(MOST_FADING)
    )
    silent = [Adjustment(fact_id=key, is_deprecated=True) for key in conn.execute(query).scalars()]
    adjust(conn, change, silent, at=now)


def restore(conn: Connection, change: Change, *, now: datetime) -> None:
    """Put back into retrieval what was let go although it does not fade, as it was before only some facts faded."""
    household = change.made.household
    query = (
        select(_columns.id)
        .where(
            _columns.household == household,
            _columns.status == FactStatus.DEPRECATED.value,
            _columns.is_transient.is_(False),
            _columns.due_at > now,
        )
        .order_by(_columns.id)
        .limit(MOST_FADING)
    )
    lost = list(conn.execute(query).scalars())
    declined = known_ids(conn, household, [_unwanted(each) for each in lost])
    lost = [each for each in lost if _unwanted(each) not in declined]
    settle(conn, change, {each.strand for each in for_facts(conn, household, lost)}, at=now)


def _unwanted(fact_id: str) -> str:
    """Return the id of the answer that a person did not want a fact back."""
    return question_id(QuestionKind.LEARN, [fact_id])


def keep(conn: Connection, change: Change, fact_ids: Iterable[str], *, now: datetime) -> None:
    """Put facts back into retrieval that silence has taken out of it, because a person wants them.

    Args:
        fact_ids: Any; those that left for another reason are passed over.
    """
    found = facts_by_id(conn, change.made.household, fact_ids)
    kept = [
        Adjustment(
            fact_id=each.id,
            confidence=max(KEPT, confidence_now(each, now)),
            decayed_until=now,
            is_deprecated=False,
        )
        for each in found.values()
        if each.status.is_active or each.status is FactStatus.DEPRECATED
    ]
    adjust(conn, change, kept, at=now)
