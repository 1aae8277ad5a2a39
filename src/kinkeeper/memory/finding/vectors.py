"""Rows of vectors: what texts of memory mean to a model, remade at any time."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, func, insert, select

from kinkeeper.memory.finding.arrays import widened
from kinkeeper.memory.memory_rows import in_parts, reserve
from kinkeeper.memory.tables import memory_vectors
from kinkeeper.models.embedding.embedder import Vectors
from kinkeeper.store.prepared import Prepared, is_one_of

# Little-endian wherever the file is read; what half precision loses is a thousandth of a cosine.
_NUMBER = np.dtype("<f2")
_PART = 2_000

_columns = memory_vectors.c

# Asked for hundreds of ids with every search.
_BY_IDS = Prepared(
    select(_columns.id, _columns.vector).where(
        _columns.household == bindparam("household"),
        _columns.kind == bindparam("kind"),
        is_one_of(_columns.id, "ids"),
        _columns.model == bindparam("model"),
    )
)


class VectorKind(StrEnum):
    """Of what a vector is."""

    EPISODE = "episode"
    """A turn by itself."""
    CONTEXT = "context"
    """A turn with the two before it."""
    FACT = "fact"


class VectorKey(NamedTuple):
    """Of which text a vector is."""

    kind: VectorKind
    id: str


def put_vectors(
    conn: Connection, household: str, model: str, vectors: Mapping[VectorKey, Vectors]
) -> None:
    """Store vectors, in place of earlier ones of the same texts by the same model.

    Args:
        vectors: Each of shape (dimension,) and length 1.
    """
    if not vectors:
        return
    for kind in {key.kind for key in vectors}:
        ids = [key.id for key in vectors if key.kind is kind]
        for part in in_parts(ids):
            conn.execute(delete(memory_vectors).where(_of(household, model, kind, part)))
    first = reserve(conn, household, len(vectors))
    rows = [
        {
            "household": household,
            "kind": key.kind.value,
            "id": key.id,
            "model": model,
            "vector": vector.astype(_NUMBER).tobytes(),
            "seq": first + place,
        }
        for place, (key, vector) in enumerate(vectors.items())
    ]
    conn.execute(insert(memory_vectors), rows)


def vectors_of(
    conn: Connection,
    household: str,
    model: str,
    *,
    kind: VectorKind,
    ids: Collection[str],
    dimension: int | None = None,
) -> dict[str, Vectors]:
    """Return vectors by id, each of shape (dimension,); texts without one are left out.

    Args:
        dimension: Numbers of a vector; None: as many as most of these have.
    """
    found, vectors = _read(conn, household, model, kind=kind, ids=[*ids], dimension=dimension)
    return dict(zip(found, vectors, strict=True))


def vectors_in_order(
    conn: Connection,
    household: str,
    model: str,
    *,
    kind: VectorKind,
    ids: Sequence[str],
    dimension: int,
) -> Vectors:
    """Return vectors in the order of ids: shape (ids, dimension), 0 of texts without one.

    Args:
        ids: Of which texts, each once.
        dimension: Numbers of a vector.
    """
    place_of = {each: place for place, each in enumerate(ids)}
    found, vectors = _read(conn, household, model, kind=kind, ids=ids, dimension=dimension)
    ordered = np.zeros((len(ids), dimension), np.float32)
    if found:
        ordered[[place_of[each] for each in found]] = vectors
    return ordered


def vectors_changed(
    conn: Connection,
    household: str,
    model: str,
    kind: VectorKind,
    *,
    after_seq: int,
    dimension: int | None = None,
) -> tuple[int, list[str], Vectors] | None:
    """Return the next vectors in the order of their change numbers: the last number, ids and vectors; None after the last.

    Args:
        after_seq: Last number that is known already.
        dimension: Numbers of a vector; None: as many as most have.
    """
    query = (
        select(_columns.id, _columns.vector, _columns.seq)
        .where(
            _columns.household == household,
            _columns.model == model,
            _columns.seq > after_seq,
            _columns.kind == kind.value,
        )
        .order_by(_columns.seq)
        .limit(_PART)
    )
    rows = conn.execute(query).all()
    if not rows:
        return None
    return rows[-1].seq, *readable([(row.id, row.vector) for row in rows], dimension)


def count_vectors(conn: Connection, household: str) -> dict[tuple[str, VectorKind], int]:
    """Return how many vectors there are, by model and of what."""
    query = (
        select(_columns.model, _columns.kind, func.count())
        .where(_columns.household == household)
        .group_by(_columns.model, _columns.kind)
    )
    return {(model, VectorKind(kind)): count for model, kind, count in conn.execute(query)}


def drop_other_models(conn: Connection, household: str, model: str) -> int:
    """Remove the vectors of all models but one; returns how many.

    Args:
        model: Whose vectors stay.
    """
    return conn.execute(
        delete(memory_vectors).where(_columns.household == household, _columns.model != model)
    ).rowcount


def drop_vectors(conn: Connection, household: str) -> None:
    """Remove all vectors; they are made anew like those of another model."""
    conn.execute(delete(memory_vectors).where(_columns.household == household))


def _read(
    conn: Connection,
    household: str,
    model: str,
    *,
    kind: VectorKind,
    ids: Sequence[str],
    dimension: int | None,
) -> tuple[list[str], Vectors]:
    """Return the ids of those that have a vector, and these: shape (found, dimension)."""
    asked = {"household": household, "kind": kind.value, "model": model, "ids": ids}
    return readable([(each, vector) for each, vector in _BY_IDS.execute(conn, asked)], dimension)


def _of(household: str, model: str, kind: VectorKind, ids: Collection[str]) -> ColumnElement[bool]:
    return and_(
        _columns.household == household,
        _columns.kind == kind.value,
        _columns.id.in_(ids),
        _columns.model == model,
    )


def readable(
    stored: Sequence[tuple[str, bytes]], dimension: int | None = None
) -> tuple[list[str], Vectors]:
    """Return ids and vectors: shape (readable, dimension).

    A vector of another length than its model's is damaged. Its text is found by words until the vector is made anew,
    which `memory.invariants` asks for.

    Args:
        dimension: Numbers of a vector; None: as many as most have.
    """
    sizes = Counter(len(vector) for _, vector in stored if len(vector) % _NUMBER.itemsize == 0)
    most = max(sizes, key=lambda size: (sizes[size], size), default=0)
    size = most if dimension is None else dimension * _NUMBER.itemsize
    whole = [(each, vector) for each, vector in stored if len(vector) == size]
    read: NDArray[np.float16] = np.frombuffer(b"".join(vector for _, vector in whole), _NUMBER)
    shape = (len(whole), size // _NUMBER.itemsize)
    return [each for each, _ in whole], widened(read.reshape(shape))
