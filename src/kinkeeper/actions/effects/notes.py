"""Effects on notes; every one is journaled there and can be taken back."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from kinkeeper.actions.effects.contract import Effect, Execution, Told, Touched
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, kept_to
from kinkeeper.notes import note_changes
from kinkeeper.notes.model import Note, appended, checked_body, checked_title, replaced
from kinkeeper.notes.repository import find_note, load_note


class NoteField(BaseModel):
    """A note as it is frozen.

    Attributes:
        id: Of the note.
        title: What it is called.
        body: Its text.
        scope: Who may see it.
        made_by: Member id of who made it.
        created_at: With offset.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    title: str
    body: str
    scope: str = HOUSEHOLD_SCOPE
    made_by: str | None = None
    created_at: AwareDatetime

    @classmethod
    def of(cls, note: Note) -> "NoteField":
        """Return a note in its frozen form."""
        return cls(
            id=note.id,
            title=note.title,
            body=note.body,
            scope=note.scope,
            made_by=note.made_by,
            created_at=note.created_at,
        )

    def note(self, household: str) -> Note:
        """Return the note."""
        return Note(
            id=self.id,
            household=household,
            scope=self.scope,
            title=self.title,
            body=self.body,
            made_by=self.made_by,
            created_at=self.created_at,
        )


class _WholeNote(Effect):
    """Something done to a note as a whole.

    Attributes:
        note: As it shall be where it is new, else as it was when this was asked for.
    """

    note: NoteField

    def check(self, household: str) -> None:
        """Refuse a note that cannot be kept."""
        checked_title(self.note.title)
        checked_body(self.note.body)

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return the note: whose it is who made it."""
        before, after = _stored_scope(conn, household, self.note.id), self._after
        touched = Touched(id=self.note.id, before=before, after=after, whose=self.note.made_by)
        return (touched,)

    @property
    def _after(self) -> str:
        return self.note.scope


class AddNote(_WholeNote):
    """Begin a new note."""

    effect: Literal["notes.add"] = "notes.add"

    @property
    def told(self) -> Told:
        """Its title and text."""
        return Told(f"{self.note.title}\n{self.note.body}")

    def narrowed(self, conn: Connection, household: str, scope: str) -> Self:
        """Return it with the note for fewer people."""
        note = self.note.model_copy(update={"scope": kept_to(self.note.scope, scope)})
        return self.model_copy(update={"note": note})

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        scope = kept_to(self.note.scope, execution.scope)
        note = replace(self.note.note(execution.household), scope=scope)
        note_changes.add_note(conn, note, change_id=execution.change_id, at=execution.at)


class DeleteNote(_WholeNote):
    """Remove a note; if it has changed since this was asked for, nothing is written."""

    effect: Literal["notes.delete"] = "notes.delete"

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        _require_unchanged(conn, self.note, execution)
        note_changes.delete_note(
            conn, execution.household, self.note.id, change_id=execution.change_id, at=execution.at
        )


class _PartOfNote(Effect):
    """Something done to a part of a note; what others do to its other parts is no obstacle.

    Attributes:
        note_id: Of the note.
        made_by: Member id of who made the note.
    """

    note_id: str = Field(min_length=1)
    made_by: str | None

    def check(self, household: str) -> None:
        """Accept any note; whether it is there shows when it is written."""

    def narrowed(self, conn: Connection, household: str, scope: str) -> Self:
        """Return it as it is, where the note is for so few people already."""
        known = _stored_scope(conn, household, self.note_id)
        if known is not None and kept_to(known, scope) != known:
            raise InputError(
                "others can see that list; put it on a private list instead, so that only you see it"
            )
        return self

    def touches(self, conn: Connection, household: str) -> Sequence[Touched]:
        """Return the note: whose it is who made it."""
        scope = _stored_scope(conn, household, self.note_id)
        if scope is None:
            return ()
        return (Touched(id=self.note_id, before=scope, after=scope, whose=self.made_by),)

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        note = load_note(conn, Viewer.whole(execution.household), self.note_id)
        note_changes.change_note(
            conn,
            execution.household,
            self.note_id,
            self.changed(note.body),
            change_id=execution.change_id,
            at=execution.at,
        )

    @abstractmethod
    def changed(self, body: str) -> str:
        """Return the text of the note as it shall be."""


class AppendToNote(_PartOfNote):
    """Add lines to a note.

    Attributes:
        added: One line each.
    """

    effect: Literal["notes.append"] = "notes.append"
    added: str = Field(min_length=1)

    @property
    def told(self) -> Told:
        """The new lines."""
        return Told(self.added)

    def changed(self, body: str) -> str:
        """Return the text with the lines at its end."""
        return appended(body, self.added)


class ReplaceLines(_PartOfNote):
    """Take lines out of a note, and put others where the first of them was.

    Attributes:
        removed: The words of each line that goes.
        added: What takes their place, one line each; empty for nothing.
    """

    effect: Literal["notes.replace_lines"] = "notes.replace_lines"
    removed: tuple[str, ...] = Field(min_length=1)
    added: str = ""

    @property
    def told(self) -> Told:
        """The new lines."""
        return Told(self.added, "\n".join(self.removed))

    def changed(self, body: str) -> str:
        """Return the text with the lines replaced."""
        return replaced(body, self.removed, self.added)


class SetNoteScope(_WholeNote):
    """Let others see a note, or keep it to one member; if it has changed since this was asked for, nothing is written.

    Attributes:
        new_scope: Who may see it from then on.
    """

    effect: Literal["notes.set_scope"] = "notes.set_scope"
    new_scope: str = Field(min_length=1)

    @property
    def _after(self) -> str:
        return self.new_scope

    def apply(self, conn: Connection, execution: Execution) -> None:
        """Write it."""
        _require_unchanged(conn, self.note, execution)
        note_changes.share_note(
            conn,
            execution.household,
            self.note.id,
            self.new_scope,
            change_id=execution.change_id,
            at=execution.at,
        )


def undo(conn: Connection, execution: Execution) -> None:
    """Restore exactly what was before the change that `execution` names.

    Raises:
        ConflictError: The note was changed again since.
        NotFoundError: There was no such change.
    """
    note_changes.undo_change(conn, execution.household, execution.change_id, at=execution.at)


def _stored_scope(conn: Connection, household: str, note_id: str) -> str | None:
    stored = find_note(conn, Viewer.whole(household), note_id)
    return None if stored is None else stored.scope


def _require_unchanged(conn: Connection, note: NoteField, execution: Execution) -> None:
    stored = load_note(conn, Viewer.whole(execution.household), note.id)
    if NoteField.of(stored) != note:
        raise ConflictError(f"the note {stored.title!r} has changed since this was asked for")
