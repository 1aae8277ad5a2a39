"""How episodes, statements and facts lie in their rows, and how rows are read back."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

from sqlalchemy import Table

from kinkeeper.core.time import from_text, to_text
from kinkeeper.memory.authority import Standing
from kinkeeper.memory.confidence import leaves_at
from kinkeeper.memory.model import (
    Category,
    EmbedState,
    Episode,
    EpisodeKind,
    Fact,
    FactStatus,
    Origin,
    Row,
    Statement,
    StatementType,
)
from kinkeeper.store.schema import Instant

T = TypeVar("T")

IDS_PER_QUERY = 500
"""Databases limit the parameters of one statement."""

_EPISODE_FIELDS = tuple(field.name for field in fields(Episode))
_STATEMENT_COLUMNS = {
    field.name: {"start": "start_index", "end": "end_index"}.get(field.name, field.name)
    for field in fields(Statement)
}
_FACT_FIELDS = tuple(field.name for field in fields(Fact))


def in_parts(values: Sequence[T], size: int = IDS_PER_QUERY) -> Iterator[Sequence[T]]:
    """Yield values in parts that fit one statement."""
    for at in range(0, len(values), size):
        yield values[at : at + size]


def episode_row(episode: Episode) -> dict[str, Any]:
    """Return the row of an episode, without what only the store knows (key, reading, stored when)."""
    return {name: _stored(getattr(episode, name)) for name in _EPISODE_FIELDS}


def episode_from_row(row: Row) -> Episode:
    """Return the episode of a stored row."""
    values = {name: row[name] for name in _EPISODE_FIELDS}
    values |= {
        "kind": EpisodeKind(row["kind"]),
        "participants": tuple(row["participants"]),
        "origin": Origin(row["origin"]),
        "embed_state": EmbedState(row["embed_state"]),
    }
    return Episode(**values)


def statement_row(statement: Statement) -> dict[str, Any]:
    """Return the row of a statement."""
    return {
        column: _stored(getattr(statement, name)) for name, column in _STATEMENT_COLUMNS.items()
    }


def statement_from_row(row: Row) -> Statement:
    """Return the statement of a stored row."""
    values = {name: row[column] for name, column in _STATEMENT_COLUMNS.items()}
    values |= {
        "category": Category(row["category"]),
        "type": StatementType(row["type"]),
        "origin": Origin(row["origin"]),
        "standing": Standing(row["standing"]),
    }
    return Statement(**values)


def fact_row(fact: Fact) -> dict[str, Any]:
    """Return the row of a fact, with when it leaves retrieval."""
    values = {name: _stored(getattr(fact, name)) for name in _FACT_FIELDS}
    return values | {"due_at": leaves_at(fact)}


def fact_from_row(row: Row) -> Fact:
    """Return the fact of a stored row."""
    values = {name: row[name] for name in _FACT_FIELDS}
    values |= {
        "category": Category(row["category"]),
        "type": StatementType(row["type"]),
        "details": tuple(row["details"]),
        "origin": Origin(row["origin"]),
        "derived_from": tuple(row["derived_from"]),
        "status": FactStatus(row["status"]),
    }
    return Fact(**values)


def image_of(row: Row) -> dict[str, Any]:
    """Return a row as JSON can hold it."""
    return {
        name: to_text(value) if isinstance(value, datetime) else value
        for name, value in row.items()
    }


def row_of(table: Table, image: Row) -> dict[str, Any]:
    """Return the row of an image: its instants as such again.

    Args:
        table: Whose row it is.
        image: Made by `image_of`; may lack columns.
    """
    return {
        name: from_text(value)
        if isinstance(table.c[name].type, Instant) and value is not None
        else value
        for name, value in image.items()
    }


def _stored(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value
