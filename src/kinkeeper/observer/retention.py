"""Purges what people said once it is old: texts, surfaces, words in evidence. Decisions and scores stay."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Table, select, update

from kinkeeper.actions.repository import purge_extractions
from kinkeeper.messaging import inbox
from kinkeeper.observer.tables import observer_messages, open_questions


def purge(conn: Connection, household: str, *, now: datetime, keep: timedelta) -> int:
    """Remove the words of messages older than `keep` from every table.

    The caller folds the database's log afterwards, so that they are gone from the files too.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        now: Aware.
        keep: Age up to which words are kept.

    Returns:
        How many messages lost their text.
    """
    before = now - keep
    purged = inbox.purge_texts(conn, household, now=now, keep=keep)
    purge_extractions(conn, household, created_before=before)
    _blank(conn, observer_messages, household, before, "sent_at", {"tripwire_evidence": _scores})
    _blank(conn, observer_messages, household, before, "sent_at", {"extraction": without_surfaces})
    _blank(conn, open_questions, household, before, "asked_at", {"extraction": without_surfaces})
    return purged


def without_surfaces(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return an extraction's record without the words it was read from."""
    if record is None:
        return None
    entities = [{**entity, "surface": ""} for entity in record["extracted_entities"]]
    return {**record, "extracted_entities": entities}


def _scores(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if record is None else {**record, "contributions": []}


def _blank(
    conn: Connection,
    table: Table,
    household: str,
    before: datetime,
    column: str,
    blanks: Mapping[str, Any],
) -> None:
    for name, blank in blanks.items():
        old = table.c[column] < before
        rows = conn.execute(
            select(table.c.id, table.c[name]).where(table.c.household == household, old)
        ).all()
        for row_id, value in rows:
            if (blanked := blank(value)) != value:
                conn.execute(
                    update(table)
                    .where(table.c.household == household, table.c.id == row_id)
                    .values({name: blanked})
                )
