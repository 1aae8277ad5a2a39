"""How notes lie in their rows. Pure."""

from collections.abc import Mapping
from typing import Any

from kinkeeper.core.time import from_text, to_text
from kinkeeper.notes.model import Note


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
        id=row["id"], household=row["household"], scope=row["scope"], title=row["title"], body=row["body"],
        made_by=row["made_by"],
        created_at=from_text(created_at) if isinstance(created_at, str) else created_at,
    )  # fmt: skip
