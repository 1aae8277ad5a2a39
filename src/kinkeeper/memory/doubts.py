"""What becomes of a fact of which somebody says otherwise whose word does not settle it: a person decides."""

from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.core.errors import ConflictError
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.corrections import mark_wrong
from kinkeeper.memory.facts import load_fact
from kinkeeper.memory.ingest import Remembered
from kinkeeper.memory.journal import Cause, changing
from kinkeeper.memory.pair_verdicts import Finding, decide
from kinkeeper.memory.rulings import Ruling


def settle_doubt(
    conn: Connection, viewer: Viewer, fact_id: str, *, is_changed: bool, by: str, at: datetime
) -> Remembered:
    """Say whether a doubted fact holds, or what was said otherwise.

    Args:
        conn: In a write transaction.
        viewer: On whose behalf.
        fact_id: The doubted fact.
        is_changed: Whether what was said otherwise takes its place; else that was wrong.
        by: Member id.
        at: Present time, aware.

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
