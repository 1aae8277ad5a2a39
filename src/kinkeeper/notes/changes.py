"""Changes of notes that a person can take back: each is journaled with what was before."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from kinkeeper.core.errors import ConflictError
from kinkeeper.notes.model import Note
from kinkeeper.notes.repository import find_note, load_note, put_note, remove_note
from kinkeeper.notes.rows import note_of, note_row
from kinkeeper.notes.text import checked_body, checked_title
from kinkeeper.store import row_changes
from kinkeeper.store.row_changes import RowChange

_KIND = "note"


def add_note(conn: Connection, note: Note, *, change_id: str, at: datetime) -> None:
    """Write a new note.

    Args:
        conn: Open connection, in a write transaction.
        note: The note.
        change_id: Identifies this change; making it again does nothing.
        at: When, aware.

    Raises:
        ConflictError: There is a note with that id.
        InputError: It cannot be kept.
    """
    if row_changes.is_recorded(conn, _change(note.household, note.id, change_id, at)):
        return
    if find_note(conn, note.household, note.id) is not None:
        raise ConflictError(f"there is a note {note.id!r} already", note_id=note.id)
    _write(conn, None, _checked(note), change_id=change_id, at=at)


def change_note(
    conn: Connection, household: str, note_id: str, body: str, *, change_id: str, at: datetime
) -> None:
    """Give a note another text.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        note_id: Of the note.
        body: Its text as it shall be.
        change_id: Identifies this change; making it again does nothing.
        at: When, aware.

    Raises:
        NotFoundError: There is no note with that id.
        InputError: The text cannot be kept.
    """
    if not row_changes.is_recorded(conn, _change(household, note_id, change_id, at)):
        before = load_note(conn, household, note_id)
        after = _checked(replace(before, body=body))
        _write(conn, before, after, change_id=change_id, at=at)


def delete_note(
    conn: Connection, household: str, note_id: str, *, change_id: str, at: datetime
) -> None:
    """Remove a note.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        note_id: Of the note.
        change_id: Identifies this change; making it again does nothing.
        at: When, aware.

    Raises:
        NotFoundError: There is no note with that id.
    """
    change = _change(household, note_id, change_id, at)
    if not row_changes.is_recorded(conn, change):
        before = load_note(conn, household, note_id)
        remove_note(conn, household, note_id)
        row_changes.record(conn, change, note_row(before), None)


def undo_change(conn: Connection, household: str, change_id: str, *, at: datetime) -> None:
    """Restore exactly what was before a change; taking it back again does nothing.

    Args:
        conn: Open connection, in a write transaction.
        household: Tenant key.
        change_id: The change.
        at: When, aware.

    Raises:
        NotFoundError: There is no such change.
        ConflictError: The note has changed since.
    """

    def read(note_id: str) -> Mapping[str, Any] | None:
        note = find_note(conn, household, note_id)
        return None if note is None else note_row(note)

    def write(note_id: str, row: Mapping[str, Any] | None) -> None:
        if row is None:
            remove_note(conn, household, note_id)
        else:
            put_note(conn, note_of(row), at=at)

    row_changes.take_back(conn, household, change_id, at=at, read=read, write=write)


def _checked(note: Note) -> Note:
    return replace(note, title=checked_title(note.title), body=checked_body(note.body))


def _write(
    conn: Connection, before: Note | None, after: Note, *, change_id: str, at: datetime
) -> None:
    put_note(conn, after, at=at)
    change = _change(after.household, after.id, change_id, at)
    earlier = None if before is None else note_row(before)
    row_changes.record(conn, change, earlier, note_row(after))


def _change(household: str, note_id: str, change_id: str, at: datetime) -> RowChange:
    return RowChange(household=household, change_id=change_id, kind=_KIND, row_id=note_id, at=at)
