"""Makes the vectors of what is new in memory, beside everything else.

A text is found by its words from the moment it is stored; its vectors follow. They are stored in the
transaction that says so, if the text is still the one they were made of: whatever is killed in between
is done again. Where nothing tells what texts mean, a text needs no vectors and waits for none. Under
another model everything is made anew, the newest first; until then texts are found by their words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import structlog
from sqlalchemy import Connection, Select, Table, exists, select

from kinkeeper.memory.episodes import mark_episodes_embedded
from kinkeeper.memory.facts import mark_facts_embedded
from kinkeeper.memory.finding.vectors import VectorKey, VectorKind, drop_other_models, put_vectors
from kinkeeper.memory.model import ACTIVE_STATUSES, EmbedState, FactStatus
from kinkeeper.memory.tables import episodes, facts, memory_vectors
from kinkeeper.models.embedding.embedder import Embedder, Vectors
from kinkeeper.observability.failures import repeat
from kinkeeper.store.store import Store

log = structlog.get_logger()

_BATCH = 32
_WITHOUT_VECTORS = 1_000
_BEFORE = 2
_LONGEST = 4_000
"""Characters of a text that are read: more than any model's window."""
_STATES = {
    episodes: ("embed_state", EmbedState.PENDING.value),
    facts: ("status", FactStatus.PENDING_EMBED.value),
}
_MARKS = {episodes: mark_episodes_embedded, facts: mark_facts_embedded}
_KINDS = {episodes: VectorKind.EPISODE, facts: VectorKind.FACT}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """A text that waits for its vectors.

    Attributes:
        seq: Its change number when it was read.
    """

    id: str
    seq: int
    texts: Mapping[VectorKind, str]


class EmbeddingWork:
    """Makes one household's vectors.

    Args:
        embedder: Makes vectors; None where nothing tells what texts mean.
    """

    def __init__(self, store: Store, household: str, embedder: Embedder | None) -> None:
        self._store = store
        self._household = household
        self._embedder = embedder
        self._is_settled = False

    async def run(self, every: timedelta) -> None:
        """Make what is missing, again and again, until cancelled.

        Args:
            every: Wait where nothing is missing, > 0.
        """
        await repeat(self.finish, every, name="memory.embedding")

    async def finish(self) -> int:
        """Make all that is missing; returns of how many texts.

        Raises:
            UnavailableError: The model or the database cannot be used.
        """
        made = 0
        while batch := await self.run_once():
            made += batch
        return made

    async def run_once(self) -> int:
        """Make the vectors of one batch; returns how many texts it had.

        Raises:
            UnavailableError: The model or the database cannot be used.
        """
        if self._embedder is None:
            return await self._store.write(self._excuse)
        model = self._embedder.model
        for table in (episodes, facts):
            waiting = await self._store.read(partial(self._waiting, table=table, model=model))
            if waiting:
                await self._make(table, waiting, self._embedder)
                self._is_settled = False
                return len(waiting)
        if not self._is_settled:
            await self._store.write(lambda conn: drop_other_models(conn, self._household, model))
            self._is_settled = True
        return 0

    async def _make(self, table: Table, waiting: Sequence[_Waiting], embedder: Embedder) -> None:
        wanted = [
            (each, VectorKey(kind, each.id), text)
            for each in waiting
            for kind, text in each.texts.items()
        ]
        # A turn that nothing precedes is its own context.
        texts = [*dict.fromkeys(text for *_, text in wanted)]
        made = dict(zip(texts, await embedder.embed(texts), strict=True))
        vectors = {key: (each.seq, made[text]) for each, key, text in wanted}
        await self._store.write(lambda conn: self._keep(conn, table, embedder.model, vectors))

    def _keep(
        self,
        conn: Connection,
        table: Table,
        model: str,
        vectors: Mapping[VectorKey, tuple[int, Vectors]],
    ) -> None:
        """Store vectors of texts that have not changed since they were read."""
        ids = sorted({key.id for key in vectors})
        query = select(table.c.id, table.c.seq).where(
            table.c.household == self._household, table.c.id.in_(ids)
        )
        now = {row.id: row.seq for row in conn.execute(query)}
        fresh = {key: vector for key, (seq, vector) in vectors.items() if now.get(key.id) == seq}
        put_vectors(conn, self._household, model, fresh)
        _MARKS[table](conn, self._household, {key.id for key in fresh})

    def _excuse(self, conn: Connection) -> int:
        """Let texts wait for vectors no longer, where none will be made."""
        excused = 0
        for table in (episodes, facts):
            ids = conn.execute(self._pending(table).limit(_WITHOUT_VECTORS)).scalars().all()
            _MARKS[table](conn, self._household, ids)
            excused += len(ids)
        return excused

    def _pending(self, table: Table) -> Select[Any]:
        state, before = _STATES[table]
        return (
            select(table.c.id)
            .where(table.c.household == self._household, table.c[state] == before)
            .order_by(table.c.seq)
        )

    def _waiting(self, conn: Connection, *, table: Table, model: str) -> list[_Waiting]:
        """Return texts that wait, the oldest first; where none does, those without vectors by this model."""
        ids = conn.execute(self._pending(table).limit(_BATCH)).scalars().all()
        if not ids and not self._is_settled:
            ids = conn.execute(self._strangers(table, model).limit(_BATCH)).scalars().all()
        if table is facts:
            return self._facts(conn, ids)
        return self._episodes(conn, ids)

    def _strangers(self, table: Table, model: str) -> Select[Any]:
        has_vector = exists().where(
            memory_vectors.c.household == table.c.household,
            memory_vectors.c.id == table.c.id,
            memory_vectors.c.kind == _KINDS[table].value,
            memory_vectors.c.model == model,
        )
        query = select(table.c.id).where(table.c.household == self._household, ~has_vector)
        if table is facts:
            query = query.where(facts.c.status.in_(ACTIVE_STATUSES))
        return query.order_by(table.c.seq.desc())

    def _facts(self, conn: Connection, ids: Sequence[str]) -> list[_Waiting]:
        query = select(facts.c.id, facts.c.seq, facts.c.narrative).where(
            facts.c.household == self._household, facts.c.id.in_(ids)
        )
        return [
            _Waiting(id=row.id, seq=row.seq, texts={VectorKind.FACT: row.narrative[:_LONGEST]})
            for row in conn.execute(query)
        ]

    def _episodes(self, conn: Connection, ids: Sequence[str]) -> list[_Waiting]:
        columns = episodes.c
        query = select(
            columns.id,
            columns.seq,
            columns.speaker,
            columns.text,
            columns.session,
            columns.scope,
            columns.said_at,
        ).where(columns.household == self._household)
        found = []
        for row in conn.execute(query.where(columns.id.in_(ids))).all():
            earlier = []
            if row.session is not None:
                before = query.where(
                    columns.session == row.session,
                    columns.scope == row.scope,
                    (columns.said_at < row.said_at)
                    | ((columns.said_at == row.said_at) & (columns.seq < row.seq)),
                )
                latest = before.order_by(columns.said_at.desc(), columns.seq.desc()).limit(_BEFORE)
                earlier = [
                    _line(each.speaker, each.text) for each in reversed(conn.execute(latest).all())
                ]
            texts = {
                VectorKind.EPISODE: _line(row.speaker, row.text),
                VectorKind.CONTEXT: "\n".join([*earlier, _line(row.speaker, row.text)]),
            }
            found.append(_Waiting(id=row.id, seq=row.seq, texts=texts))
        return found


def _line(speaker: str | None, text: str) -> str:
    said = text[:_LONGEST]
    return f"{speaker}: {said}" if speaker else said
