"""The vectors of facts, read in blocks so that memory stays bounded. Statements only."""

from sqlalchemy import Connection, and_, select

from kinkeeper.memory.finding.vectors import readable
from kinkeeper.memory.model import ACTIVE_STATUSES
from kinkeeper.memory.tables import facts, memory_vectors
from kinkeeper.memory.upkeep.near import Block

BLOCK = 8_000
"""Vectors that are held at a time."""

_facts = facts.c
_vectors = memory_vectors.c


def fact_block(
    conn: Connection, household: str, model: str, *, after: str
) -> tuple[Block, str | None]:
    """Return some vectors of active facts, and where the next ones begin.

    Args:
        conn: In a transaction.
        household: Tenant key.
        model: Whose vectors.
        after: Last id of the block before; "" to begin with.

    Returns:
        A block, and what to pass as `after` next; None at the end.
    """
    query = (
        select(_vectors.id, _vectors.vector, _facts.scope, _facts.status)
        .join(facts, and_(_facts.household == _vectors.household, _facts.id == _vectors.id))
        .where(
            _vectors.household == household, _vectors.kind == "fact", _vectors.model == model,
            _vectors.id > after,
        )
        .order_by(_vectors.id)
        .limit(BLOCK)
    )  # fmt: skip
    rows = conn.execute(query).all()
    active = {row.id: row for row in rows if row.status in ACTIVE_STATUSES}
    ids, vectors = readable([(row.id, row.vector) for row in active.values()])
    block = Block(ids, [active[each].scope for each in ids], vectors)
    return block, rows[-1].id if len(rows) == BLOCK else None
