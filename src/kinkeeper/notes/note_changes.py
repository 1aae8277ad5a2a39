"""Changes of notes that a person can take back: each is journaled with what was before."""

from datetime import datetime

from sqlalchemy import Connection

from kinkeeper.core.errors import ConflictError, NotFoundError
from kinkeeper.household.viewers import Viewer
from kinkeeper.notes.model import Note, checked_body, checked_title
from kinkeeper.notes.repository import find_note, note_of, note_row, put_note, remove_note
from kinkeeper.store.row_changes import Journal, Row


def add_note(conn: Connection, note: Note, *, change_id: str, at: datetime) -> None:
    """Write a new note.

    Raises:
        ConflictError: There is a note with that id.
    """

    def after(before: Row | None) -> Row:
        if before is not None:
            raise ConflictError(f"there is already a note {note.id!r}", note_id=note.id)
        title, body = checked_title(note.title), checked_body(note.body)
        return {**note_row(note), "title": title, "body": body}

    _JOURNAL.change(conn, note.household, note.id, after, change_id=change_id, at=at)


def change_note(
    conn: Connection, household: str, note_id: str, body: str, *, change_id: str, at: datetime
) -> None:
    """Give a note another text."""

    def after(before: Row | None) -> Row:
        return {**_there(before, note_id), "body": checked_body(body)}

    _JOURNAL.change(conn, household, note_id, after, change_id=change_id, at=at)


def share_note(
    conn: Connection, household: str, note_id: str, scope: str, *, change_id: str, at: datetime
) -> None:
    """Let others see a note, or keep it to one member."""

    def after(before: Row | None) -> Row:
        return {**_there(before, note_id), "scope": scope}

    _JOURNAL.change(conn, household, note_id, after, change_id=change_id, at=at)


def delete_note(
    conn: Connection, household: str, note_id: str, *, change_id: str, at: datetime
) -> None:
    """Remove a note."""

    def after(before: Row | None) -> None:
        _there(before, note_id)

    _JOURNAL.change(conn, household, note_id, after, change_id=change_id, at=at)


def _there(row: Row | None, note_id: str) -> Row:
    if row is None:
        raise NotFoundError(f"there is no note {note_id!r}", note_id=note_id)
    return row


def _read(conn: Connection, household: str, note_id: str) -> Row | None:
    note = find_note(conn, Viewer.whole(household), note_id)
    return None if note is None else note_row(note)


def _write(
    conn: Connection, household: str, note_id: str, row: Row | None, *, at: datetime
) -> None:
    if row is None:
        remove_note(conn, household, note_id)
    else:
        put_note(conn, note_of(row), at=at)


_JOURNAL = Journal(kind="note", read=_read, write=_write)
undo_change = _JOURNAL.take_back
