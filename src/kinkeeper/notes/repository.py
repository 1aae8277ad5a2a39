"""Notes in the database: reading and writing them."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from kinkeeper.core.errors import NotFoundError
from kinkeeper.core.time import from_text
from kinkeeper.notes.model import Note
from kinkeeper.notes.rows import note_of, note_row
from kinkeeper.notes.tables import notes

_notes = notes.c


def find_note(conn: Connection, household: str, note_id: str) -> Note | None:
    """Return the note with that id, if there is one."""
    query = select(notes).where(_notes.household == household, _notes.id == note_id)
    row = conn.execute(query).mappings().one_or_none()
    return None if row is None else note_of(dict(row))


def load_note(conn: Connection, household: str, note_id: str) -> Note:
    """Return the note with that id.

    Raises:
        NotFoundError: There is none.
    """
    note = find_note(conn, household, note_id)
    if note is None:
        raise NotFoundError(f"there is no note {note_id!r}", note_id=note_id)
    return note


def list_notes(conn: Connection, household: str) -> Sequence[Note]:
    """Return a household's notes, the last changed first."""
    query = select(notes).where(_notes.household == household)
    rows = conn.execute(query.order_by(_notes.changed_at.desc(), _notes.id)).mappings()
    return [note_of(dict(row)) for row in rows]


def put_note(conn: Connection, note: Note, *, at: datetime) -> None:
    """Write a note, new or in the place of the one with its id.

    Args:
        conn: Open connection, in a write transaction.
        note: As it shall be.
        at: When, aware.
    """
    mine = (_notes.household == note.household, _notes.id == note.id)
    version = conn.execute(select(_notes.version).where(*mine)).scalar()
    row = note_row(note)
    values = row | {"created_at": from_text(row["created_at"]), "changed_at": at}
    if version is None:
        conn.execute(insert(notes).values(values | {"version": 1}))
    else:
        conn.execute(update(notes).where(*mine).values(values | {"version": version + 1}))


def remove_note(conn: Connection, household: str, note_id: str) -> None:
    """Remove a note."""
    conn.execute(delete(notes).where(_notes.household == household, _notes.id == note_id))
