"""Notes in the database: reading and writing them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Index,
    Select,
    String,
    Table,
    Text,
    delete,
    insert,
    select,
    update,
)

from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.time import from_text, to_text
from kinkeeper.household.viewers import Viewer
from kinkeeper.notes.model import Note
from kinkeeper.store.prepared import in_scope
from kinkeeper.store.schema import Instant, metadata

# Table of notes.

notes = Table(
    "notes",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("scope", String, nullable=False),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("made_by", String(64)),
    Column("created_at", Instant, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Index("ix_notes_changed", "household", "changed_at"),
)


# How notes lie in their rows. Pure.


def note_row(note: Note) -> dict[str, Any]:
    """Return what people change of a note: JSON-ready, and equal for equal notes."""
    return {
        "household": note.household,
        "id": note.id,
        "scope": note.scope,
        "title": note.title,
        "body": note.body,
        "made_by": note.made_by,
        "created_at": to_text(note.created_at),
    }


def note_of(row: Mapping[str, Any]) -> Note:
    """Return the note of a row, as `note_row` made it or as it was stored."""
    created_at = row["created_at"]
    return Note(
        id=row["id"],
        household=row["household"],
        scope=row["scope"],
        title=row["title"],
        body=row["body"],
        made_by=row["made_by"],
        created_at=from_text(created_at) if isinstance(created_at, str) else created_at,
    )


_notes = notes.c


def find_note(conn: Connection, viewer: Viewer, note_id: str) -> Note | None:
    """Return the note with that id, if there is one that may be seen."""
    found = _read(conn, viewer, select(notes).where(_notes.id == note_id))
    return found[0] if found else None


def load_note(conn: Connection, viewer: Viewer, note_id: str) -> Note:
    """Return the note with that id."""
    note = find_note(conn, viewer, note_id)
    if note is None:
        raise NotFoundError(f"there is no note {note_id!r}", note_id=note_id)
    return note


def list_notes(conn: Connection, viewer: Viewer) -> Sequence[Note]:
    """Return the notes that may be seen, the last changed first."""
    return _read(conn, viewer, select(notes).order_by(_notes.changed_at.desc(), _notes.id))


def put_note(conn: Connection, note: Note, *, at: datetime) -> None:
    """Write a note, new or in the place of the one with its id."""
    mine = (_notes.household == note.household, _notes.id == note.id)
    row = note_row(note)
    values = row | {"created_at": from_text(row["created_at"]), "changed_at": at}
    if not conn.execute(update(notes).where(*mine).values(values)).rowcount:
        conn.execute(insert(notes).values(values))


def remove_note(conn: Connection, household: str, note_id: str) -> None:
    """Remove a note."""
    conn.execute(delete(notes).where(_notes.household == household, _notes.id == note_id))


def _read(conn: Connection, viewer: Viewer, query: Select[Any]) -> list[Note]:
    mine = query.where(_notes.household == viewer.household, in_scope(_notes.scope))
    return [note_of(dict(row)) for row in conn.execute(mine, viewer.parameters).mappings()]
