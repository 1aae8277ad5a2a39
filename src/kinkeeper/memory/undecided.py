"""What only a person settles: doubted facts and pairs of facts that wait, and what the answer does."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.adjustments import Finding, decide
from kinkeeper.memory.corrections import mark_wrong
from kinkeeper.memory.facts import facts_by_id, load_fact
from kinkeeper.memory.ingest import Remembered
from kinkeeper.memory.journal import Cause, changing
from kinkeeper.memory.model import Fact, Ruling
from kinkeeper.memory.upkeep.pair_search import in_time
from kinkeeper.memory.upkeep.questions import Answer, QuestionKind, settle, waiting

# What becomes of a fact of which somebody says otherwise whose word does not settle it: a person
# decides.


def settle_doubt(
    conn: Connection, viewer: Viewer, fact_id: str, *, is_changed: bool, by: str, at: datetime
) -> Remembered:
    """Say whether a doubted fact holds, or what was said otherwise.

    Args:
        is_changed: Whether what was said otherwise takes its place; else that was wrong.

    Raises:
        NotFoundError: There is no such fact for this viewer.
        ConflictError: Nobody doubts it, or not any more.
    """
    fact = load_fact(conn, viewer, fact_id)
    if fact.doubted_by is None:
        raise ConflictError(f"fact {fact_id!r} is no longer in doubt; reload it")
    if not is_changed:
        return mark_wrong(conn, viewer, fact.doubted_by, by=by, at=at)
    with changing(
        conn, viewer.household, cause=Cause.CORRECT, summary="a doubt was settled", by=by, at=at
    ) as change:
        found = Finding(older=fact.id, newer=fact.doubted_by, ruling=Ruling.UPDATE)
        facts = decide(conn, change, [found], by=by, at=at)
    return Remembered(change_set=change.made.id, facts=facts)


_MOST_READ = 500
_RULINGS = {Answer.NEWER: Ruling.UPDATE, Answer.KEEP_BOTH: Ruling.OTHER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """Two facts that may not both hold.

    Attributes:
        older: The one that held first.
    """

    id: str
    older: Fact
    newer: Fact


def undecided(
    conn: Connection, viewer: Viewer, *, now: datetime, limit: int
) -> Sequence[Undecided]:
    """Return pairs that wait, those first of which the older one was borne out most.

    Args:
        viewer: Who must be allowed to see both.
        now: Aware; pairs of which one holds no more are left out.
        limit: Most that are returned, > 0.
    """
    found = _waiting(conn, viewer, now)
    found.sort(key=lambda each: (-each.older.evidence_count, -each.older.confidence, each.id))
    return found[:limit]


def load_undecided(
    conn: Connection, viewer: Viewer, question_id: str, *, now: datetime
) -> Undecided:
    """Return one pair that waits.

    Args:
        viewer: Who must be allowed to see both.

    Raises:
        NotFoundError: There is none, or it was answered.
    """
    found = next((each for each in _waiting(conn, viewer, now) if each.id == question_id), None)
    if found is None:
        raise NotFoundError("this question has already been answered or has expired")
    return found


def settle_undecided(
    conn: Connection, viewer: Viewer, question_id: str, answer: Answer, *, by: str, at: datetime
) -> Remembered:
    """Do what a person says of a pair: both hold, the newer one alone, or the older one alone.

    Raises:
        NotFoundError: There is none, or it was answered.
    """
    pair = load_undecided(conn, viewer, question_id, now=at)
    settle(conn, viewer.household, question_id, answer, at=at)
    if answer is Answer.OLDER:
        return mark_wrong(conn, viewer, pair.newer.id, by=by, at=at)
    with changing(
        conn, viewer.household, cause=Cause.CORRECT, summary="a doubt was settled", by=by, at=at
    ) as change:
        found = Finding(older=pair.older.id, newer=pair.newer.id, ruling=_RULINGS[answer])
        facts = decide(conn, change, [found], by=by, at=at)
    return Remembered(change_set=change.made.id, facts=facts)


def _waiting(conn: Connection, viewer: Viewer, now: datetime) -> list[Undecided]:
    asked = waiting(
        conn, viewer.household, QuestionKind.UPDATE, QuestionKind.CONTRADICTION, limit=_MOST_READ
    )
    facts = facts_by_id(conn, viewer.household, (key for each in asked for key in each.facts))
    seen = {
        key: each for key, each in facts.items() if viewer.sees(each.scope) and each.is_current(now)
    }
    found = []
    for question in asked:
        if not seen.keys() >= {*question.facts}:
            continue
        older, newer = sorted((seen[key] for key in question.facts), key=in_time)
        # Of two of which one was made private since, neither takes the other's place, and others would read of it.
        if older.scope == newer.scope:
            found.append(Undecided(id=question.id, older=older, newer=newer))
    return found
