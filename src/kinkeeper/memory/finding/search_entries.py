"""Rows of memory as entries of a search, read no further than the search needs."""

from collections.abc import Sequence
from math import inf
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, select

from kinkeeper.memory.finding.shelf import Entry
from kinkeeper.memory.finding.visible_results import is_said_in
from kinkeeper.memory.model import ACTIVE_STATUSES, FactStatus
from kinkeeper.memory.tables import episodes, facts, statements
from kinkeeper.memory.transience import IMPORT_SESSION

_EPISODE_COLUMNS: tuple[ColumnElement[Any], ...] = (
    episodes.c.seq, episodes.c.id, episodes.c.scope, episodes.c.session, episodes.c.speaker,
    episodes.c.is_assistant, episodes.c.text, episodes.c.title, episodes.c.said_at,
)  # fmt: skip
# Who said a fact: what somebody says of themselves names them nowhere else.
_SAID_BY = (
    select(episodes.c.speaker)
    .join(statements, is_said_in)
    .where(statements.c.household == facts.c.household, statements.c.fact_id == facts.c.id)
    .order_by(statements.c.said_at.desc(), statements.c.id)
    .limit(1)
    .scalar_subquery()
    .label("speaker")
)
_FACT_COLUMNS: tuple[ColumnElement[Any], ...] = (
    facts.c.seq, facts.c.id, facts.c.scope, facts.c.status, facts.c.title, facts.c.subtitle,
    facts.c.narrative, facts.c.details, facts.c.said_at, facts.c.held_from, facts.c.valid_to,
    facts.c.due_at, facts.c.confidence, facts.c.decayed_until, facts.c.is_transient, _SAID_BY,
)  # fmt: skip

Read = tuple[int, str, Entry | None]
"""Change number and id of a row, and its entry; None where it is not to be found."""


def read_episodes(
    conn: Connection, household: str, *, after: int = 0, before: int | None = None, limit: int
) -> list[Read]:
    """Return episodes: the first ones after a change number, or the last ones before one.

    The words of a fact that came without any place where they were said are found as that fact alone.

    Args:
        conn: Open connection.
        household: Tenant key.
        after: Only higher numbers.
        before: Only lower numbers, the highest first.
        limit: Most rows, > 0.
    """
    query = _slice(episodes, _EPISODE_COLUMNS, household, after=after, before=before)
    return [
        (row.seq, row.id, None if _is_of_fact(row.id) else _episode(row))
        for row in conn.execute(query.limit(limit))
    ]


def read_facts(
    conn: Connection, household: str, *, after: int = 0, before: int | None = None, limit: int
) -> list[Read]:
    """Return facts as `read_episodes` returns episodes; those that do not hold have no entry."""
    query = _slice(facts, _FACT_COLUMNS, household, after=after, before=before)
    return [
        (row.seq, row.id, _fact(row) if row.status in ACTIVE_STATUSES else None)
        for row in conn.execute(query.limit(limit))
    ]


def read_former_facts(
    conn: Connection, household: str, *, after: int = 0, before: int | None = None, limit: int
) -> list[Read]:
    """Return facts as `read_episodes` returns episodes; those that hold, or never held, have no entry."""
    query = _slice(facts, _FACT_COLUMNS, household, after=after, before=before)
    if before is not None:
        # Going back, nothing is known that would have to leave: most facts hold, and need not be read.
        query = query.where(*(facts.c.status != status for status in ACTIVE_STATUSES))
    return [
        (row.seq, row.id, _fact(row) if _has_held(row) else None)
        for row in conn.execute(query.limit(limit))
    ]


def text_of_fact(title: str, subtitle: str | None, narrative: str, details: Sequence[str]) -> str:
    """Return what of a fact is searched: its sentences, and its title where that says more."""
    parts = [narrative, subtitle, *details]
    if title.rstrip(".").lower() not in narrative.lower():
        parts.insert(0, title)
    return "\n".join(part for part in parts if part)


def _slice(
    table: Table,
    columns: Sequence[ColumnElement[Any]],
    household: str,
    *,
    after: int,
    before: int | None,
) -> Select[Any]:
    query = select(*columns).where(table.c.household == household, table.c.seq > after)
    if before is None:
        return query.order_by(table.c.seq)
    return query.where(table.c.seq < before).order_by(table.c.seq.desc())


def _has_held(row: Row[Any]) -> bool:
    is_former = row.status not in {*ACTIVE_STATUSES, FactStatus.MERGED_INTO.value}
    return is_former and (row.valid_to is None or row.valid_to > row.held_from)


def _is_of_fact(episode_id: str) -> bool:
    return episode_id.startswith(f"{IMPORT_SESSION}:")


def _episode(row: Row[Any]) -> Entry:
    return Entry(
        id=row.id, text=row.text if row.title is None else f"{row.title}\n{row.text}",
        scope=row.scope, said_at=row.said_at.timestamp(), arrival=row.seq, session=row.session,
        speaker=row.speaker, is_assistant=row.is_assistant,
    )  # fmt: skip


def _fact(row: Row[Any]) -> Entry:
    return Entry(
        id=row.id, text=text_of_fact(row.title, row.subtitle, row.narrative, row.details),
        scope=row.scope, speaker=row.speaker, said_at=row.said_at.timestamp(), arrival=row.seq,
        shown_from=row.held_from.timestamp(), shown_until=row.due_at.timestamp(),
        confidence=row.confidence,
        faded_since=row.decayed_until.timestamp() if row.is_transient else inf,
    )  # fmt: skip
