"""Purges what people said once it is old: texts, surfaces, words in evidence and in memory's answers. Decisions and scores stay."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Integer, cast, or_, select, update

from kinkeeper.actions.action_retention import purge_extractions
from kinkeeper.actions.journal import purge_refusals
from kinkeeper.actions.press_tokens import purge_tokens
from kinkeeper.jobs.leases import WorkState
from kinkeeper.messaging import failed_updates, inbox, outbox
from kinkeeper.models import repository as model_records
from kinkeeper.models.embedding.cache import purge_vectors
from kinkeeper.observer import arrangement_rows
from kinkeeper.observer.model import OWN_WORDS, TITLE
from kinkeeper.observer.tables import observer_messages, open_questions

_NAMES = frozenset({"label", "activity", "sides"})
_OWN = frozenset({OWN_WORDS, TITLE})


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
    unread = select(cast(observer_messages.c.id, Integer)).where(
        observer_messages.c.household == household,
        observer_messages.c.state.in_([WorkState.QUEUED.value, WorkState.RUNNING.value]),
    )
    purged = inbox.purge_texts(conn, household, now=now, keep=keep, except_for=unread)
    purge_extractions(conn, household, created_before=before, now=now)
    outbox.purge_bodies(conn, household, before=before)
    failed_updates.purge(conn, household, before=before)
    purge_tokens(conn, household, before=before)
    purge_refusals(conn, household, before=before)
    model_records.purge(conn, household, before=before)
    purge_vectors(conn, household, before=before)
    scores = (observer_messages.c.tripwire_evidence, observer_messages.c.sent_at, _scores)
    said = (observer_messages.c.extraction, observer_messages.c.sent_at, without_surfaces)
    asked = (open_questions.c.extraction, open_questions.c.asked_at, without_surfaces)
    known = (observer_messages.c.brain_context, observer_messages.c.sent_at, _relevances)
    facts = (observer_messages.c.redline_facts, observer_messages.c.sent_at, _without_labels)
    for column, since, blank in (scores, said, asked, known, facts):
        _blank(conn, household, column, since < before, blank)
    _drop_lines(conn, household, before)
    arrangement_rows.purge(conn, household, before=before)
    return purged


def without_surfaces(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return an extraction's record without the words it was read from."""
    if record is None:
        return None
    found = record["extracted_entities"]
    own = {entity["value"] for entity in found if entity["type"] in _OWN}
    entities = [
        {**entity, "surface": "", "value": "" if entity["type"] in _OWN else entity["value"]}
        for entity in found
    ]
    activity = None if record["activity"] in own else record["activity"]
    return {**record, "extracted_entities": entities, "activity": activity}


def _scores(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if record is None else {**record, "contributions": []}


def _relevances(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what memory said without its words: a brain elsewhere may answer with anything."""
    if record is None:
        return None
    answers = [{**answer, "summary": "", "items": []} for answer in record["answers"]]
    return {**record, "answers": answers}


def _without_labels(facts: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what a rule's verdict rests on without what things are called: they may be called as a message did."""
    if facts is None:
        return None
    return {name: _unnamed(value) for name, value in facts.items() if name not in _NAMES}


def _unnamed(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return dict(value) | {name: None for name in _NAMES if name in value}


def _drop_lines(conn: Connection, household: str, before: datetime) -> None:
    """Remove what was said aloud, with its buttons: it goes as it goes from the outbox."""
    has_line = or_(
        observer_messages.c.reply.is_not(None), observer_messages.c.conflict_key.is_not(None)
    )
    conn.execute(
        update(observer_messages)
        .where(
            observer_messages.c.household == household, observer_messages.c.sent_at < before, has_line
        )
        .values(reply=None, buttons=[], conflict_key=None)
    )  # fmt: skip


def _blank(  # noqa: PLR0917 - what to blank, where, and how
    conn: Connection,
    household: str,
    column: Column[Any],
    is_old: ColumnElement[bool],
    blank: Callable[[Any], Any],
) -> None:
    table = column.table
    rows = conn.execute(
        select(table.c.id, column).where(table.c.household == household, is_old)
    ).all()
    for row_id, value in rows:
        if (blanked := blank(value)) != value:
            conn.execute(
                update(table)
                .where(table.c.household == household, table.c.id == row_id)
                .values({column.name: blanked})
            )
