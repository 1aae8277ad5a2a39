"""Notes in the database: reading and writing them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, select, update

from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.time import from_text
from kinkeeper.household.viewers import Viewer
from kinkeeper.notes.model import Note
from kinkeeper.notes.note_rows import note_of, note_row
from kinkeeper.notes.tables import notes
from kinkeeper.store.visibility import in_scope

_notes = notes.c


def find_note(conn: Connection, viewer: Viewer, note_id: str) -> Note | None:
    """Return the note with that id, if there is one that may be seen."""
    found = _read(conn, viewer, select(notes).where(_notes.id == note_id))
    return found[0] if found else None


def load_note(conn: Connection, viewer: Viewer, note_id: str) -> Note:
    """Return the note with that id.

    Raises:
        NotFoundError: There is none that may be seen.
    """
    note = find_note(conn, viewer, note_id)
    if note is None:
        raise NotFoundError(f"there is no note {note_id!r}", note_id=note_id)
    return note


def list_notes(conn: Connection, viewer: Viewer) -> Sequence[Note]:
    """Return the notes that may be seen, the last changed first."""
    return _read(conn, viewer, select(notes).order_by(_notes.changed_at.desc(), _notes.id))


def put_note(conn: Connection, note: Note, *, at: datetime) -> None:
    """Write a note, new or in the place of the one with its id.

    Args:
        conn: Open connection, in a write transaction.
        note: As it shall be.
        at: When, aware.
    """
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
