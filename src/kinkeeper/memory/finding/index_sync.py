"""Keeps what is searched in step with the database: rows read as entries, whichever process wrote them.

Every change of a row takes the household's next number. What came after the last number known is read
before each search; what was there before that is read backwards, the newest first, as time allows.
So from the first search on all that is new is found, and the past is filled in.
"""

from collections.abc import Callable, Collection, Sequence
from math import inf
from time import monotonic
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Row, Select, Table, select

from kinkeeper.memory.confidence import IMPORT_SESSION
from kinkeeper.memory.finding.shelf import Entry, Shelf
from kinkeeper.memory.finding.vectors import vectors_changed, vectors_of
from kinkeeper.memory.finding.visible_results import is_said_in
from kinkeeper.memory.memory_rows import Changed, last_seq, removed
from kinkeeper.memory.model import ACTIVE_STATUSES, FactStatus
from kinkeeper.memory.tables import episodes, facts, statements

# Rows of memory as entries of a search, read no further than the search needs.

_EPISODE_COLUMNS: tuple[ColumnElement[Any], ...] = (
    episodes.c.seq,
    episodes.c.id,
    episodes.c.scope,
    episodes.c.session,
    episodes.c.speaker,
    episodes.c.is_assistant,
    episodes.c.text,
    episodes.c.title,
    episodes.c.said_at,
)
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
    facts.c.seq,
    facts.c.id,
    facts.c.scope,
    facts.c.status,
    facts.c.title,
    facts.c.subtitle,
    facts.c.narrative,
    facts.c.details,
    facts.c.said_at,
    facts.c.held_from,
    facts.c.valid_to,
    facts.c.due_at,
    facts.c.confidence,
    facts.c.decayed_until,
    facts.c.is_transient,
    _SAID_BY,
)

Read = tuple[int, str, Entry | None]
"""Change number and id of a row, and its entry; None where it is not to be found."""


def read_episodes(
    conn: Connection, household: str, *, after: int = 0, before: int | None = None, limit: int
) -> list[Read]:
    """Return episodes: the first ones after a change number, or the last ones before one.

    The words of a fact that came without any place where they were said are found as that fact alone.

    Args:
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
        id=row.id,
        text=row.text if row.title is None else f"{row.title}\n{row.text}",
        scope=row.scope,
        said_at=row.said_at.timestamp(),
        arrival=row.seq,
        session=row.session,
        speaker=row.speaker,
        is_assistant=row.is_assistant,
    )


def _fact(row: Row[Any]) -> Entry:
    return Entry(
        id=row.id,
        text=text_of_fact(row.title, row.subtitle, row.narrative, row.details),
        scope=row.scope,
        speaker=row.speaker,
        said_at=row.said_at.timestamp(),
        arrival=row.seq,
        shown_from=row.held_from.timestamp(),
        shown_until=row.due_at.timestamp(),
        confidence=row.confidence,
        faded_since=row.decayed_until.timestamp() if row.is_transient else inf,
    )


Reader = Callable[..., list[Read]]

_PAGE = 2_000
_NOT_BEGUN = -1


class Following:
    """One shelf in step with its table.

    Args:
        kind: What the table's rows are called among the removals.
        shelf: Is kept in step.
        model: Whose vectors; None where nothing makes any.
    """

    def __init__(
        self, household: str, *, kind: str, read: Reader, shelf: Shelf, model: str | None
    ) -> None:
        self.shelf = shelf
        self._household = household
        self._kind = kind
        self._read = read
        self._model = model
        self._known = _NOT_BEGUN
        self._unread_below = 0
        self._vectors_known = dict.fromkeys(shelf.vectors, 0)
        self._lacks_vectors = model is not None
        self._dimension: int | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all of the past was read, and what it means."""
        return self._has_texts and not self._lacks_vectors

    @property
    def _has_texts(self) -> bool:
        return self._known != _NOT_BEGUN and self._unread_below == 0

    def catch_up(self, conn: Connection, *, deadline: float) -> None:
        """Read all that is new, and of the past as much as time allows.

        Args:
            deadline: Of the monotonic clock; the past is read until then.
        """
        last = last_seq(conn, self._household)
        if self._known == _NOT_BEGUN:
            self._known, self._unread_below = last, last + 1
        while self._known < last:
            self._read_new(conn, last)
        while not self._has_texts and (monotonic() < deadline or not len(self.shelf)):
            self._read_past(conn)
        if self._has_texts and self._model is not None:
            self._lacks_vectors = not self._read_vectors(conn, self._model, last, deadline)

    def _read_new(self, conn: Connection, last: int) -> None:
        page = self._read(conn, self._household, after=self._known, limit=_PAGE)
        # A full page tells nothing about what comes after it.
        until = page[-1][0] if len(page) == _PAGE else last
        gone: list[Changed[object]] = removed(
            conn, self._household, self._kind, after_seq=self._known, limit=last - self._known
        )
        self.shelf.drop([each for _, each, entry in page if entry is None])
        self.shelf.put([entry for *_, entry in page if entry is not None])
        # What came back under its old id after it was removed has the higher number.
        back = {each: seq for seq, each, _ in page}
        self.shelf.drop([each.id for each in gone if back.get(each.id, 0) < each.seq <= until])
        self._restore_vectors(conn, [each for _, each, entry in page if entry is not None])
        self._known = until

    def _read_past(self, conn: Connection) -> None:
        page = self._read(conn, self._household, before=self._unread_below, limit=_PAGE)
        # Of the same time, the later arrival stands later whatever is read first.
        self.shelf.put([entry for *_, entry in reversed(page) if entry is not None])
        self._unread_below = page[-1][0] if len(page) == _PAGE else 0

    def _restore_vectors(self, conn: Connection, ids: Collection[str]) -> None:
        """Read the vectors of texts that were put again, unless all vectors are still to be read."""
        if self._model is None or not any(self._vectors_known.values()):
            return
        for kind in self.shelf.vectors:
            found = vectors_of(
                conn, self._household, self._model, kind=kind, ids=ids, dimension=self._dimension
            )
            if found:
                self.shelf.put_vectors(kind, [*found], np.stack([*found.values()]))

    def _read_vectors(self, conn: Connection, model: str, last: int, deadline: float) -> bool:
        """Read the vectors that are new, a part at least and more as time allows; returns whether these are all."""
        for kind in self.shelf.vectors:
            while (known := self._vectors_known[kind]) < last:
                part = vectors_changed(
                    conn, self._household, model, kind, after_seq=known, dimension=self._dimension
                )
                if part is None:
                    self._vectors_known[kind] = last
                    break
                self._vectors_known[kind], ids, vectors = part
                if ids:
                    self._dimension = vectors.shape[1]
                    self.shelf.put_vectors(kind, ids, vectors)
                if monotonic() >= deadline:
                    return False
        return True
