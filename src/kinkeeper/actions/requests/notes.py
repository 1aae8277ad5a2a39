"""Requests about notes: texts and lists that the household keeps."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pydantic import Field

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.effects.notes import (
    AddNote,
    AppendToNote,
    DeleteNote,
    NoteField,
    ReplaceLines,
    SetNoteScope,
)
from kinkeeper.actions.model import ActionType
from kinkeeper.actions.requests.model import Asked, Card, Found, Parameters, Prepared, RequestKind
from kinkeeper.actions.requests.parameters import (
    ForWhom,
    SetAudience,
    becomes_seen,
    changed_scope,
    for_asker,
    kept_scope,
    scope_for,
    seen_by,
)
from kinkeeper.core.errors import (
    ConflictError,
    DeniedError,
    InputError,
    NotFoundError,
    UnclearError,
)
from kinkeeper.core.ids import stable_id
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, audience_json
from kinkeeper.language.name_match import meant_by
from kinkeeper.language.text import shorten
from kinkeeper.notes.model import (
    Note,
    appended,
    checked_body,
    checked_title,
    entries,
    find_by,
    is_list,
    matching,
    without,
)
from kinkeeper.notes.repository import list_notes
from kinkeeper.reading.own_lists import OWN_LIST, SHOPPING, list_title
from kinkeeper.store.store import Store

_TITLE = "the note's id, its title, or words from it"
_LINES = "text; for a list, one entry per line"
_MOST_UNASKED = 3
"""Lines that may be taken off a list all together without a question."""

_LONGEST_LINE = 100
_MOST_FOUND = 10


class CreateNote(ForWhom):
    """A new note."""

    title: str = Field(min_length=1)
    body: str = Field(default="", description="Markdown")


class AppendNote(ForWhom):
    """What to add to which note; the note is begun where there is none."""

    title: str = Field(min_length=1, description=_TITLE)
    body: str = Field(min_length=1, description=_LINES)


class RemoveLine(Parameters):
    """What to take off which note."""

    title: str = Field(min_length=1, description=_TITLE)
    line: str = Field(min_length=1, description="words from the line")


class ChangeLine(RemoveLine):
    """Which line of a note is to be another."""

    new: str = Field(min_length=1, description=f"the new text; {_LINES}")


class SetNoteAudience(SetAudience):
    """Who may see a note, or lines of it."""

    lines: str | None = Field(
        default=None,
        description="words from the lines that it is about, one per line; omit for the whole note",
    )


class ClearNote(Parameters):
    """Which list to empty."""

    title: str = Field(min_length=1, description=_TITLE)


class DeleteNoteOf(Parameters):
    """Which note to throw away."""

    title: str = Field(min_length=1, description=_TITLE)


class SearchNotes(Parameters):
    """What notes are about."""

    query: str = Field(min_length=1)


class ListNotes(Parameters):
    """All notes, or the text of one."""

    title: str | None = Field(default=None, description=_TITLE)
    line: str | None = Field(
        default=None, description="words from a line, to check whether it is there"
    )
    may_lack: bool = Field(default=False, description="whether the note may be missing")


def note_requests(store: Store) -> tuple[RequestKind, ...]:
    """Return the rows of the table of requests that are about notes."""
    requests = _NoteRequests(store)
    return (
        RequestKind(
            domain="notes",
            name="create",
            parameters=CreateNote,
            stakes=Stakes.LOW,
            description="Write a new note.",
            progress="Writing that down…",
            prepare=requests.create,
        ),
        RequestKind(
            domain="notes",
            name="append",
            parameters=AppendNote,
            stakes=Stakes.LOW,
            description="Add to a note or a list, such as the shopping list.",
            progress="Adding that…",
            prepare=requests.append,
        ),
        RequestKind(
            domain="notes",
            name="set_audience",
            parameters=SetNoteAudience,
            stakes=Stakes.LOW,
            description="Share a note or lines of it with the household, or make them private.",
            progress="Looking for the note…",
            prepare=requests.set_audience,
        ),
        RequestKind(
            domain="notes",
            name="remove_line",
            parameters=RemoveLine,
            stakes=Stakes.LOW,
            description="Take something off a list or a note.",
            progress="Taking that off…",
            prepare=requests.remove_line,
        ),
        RequestKind(
            domain="notes",
            name="change_line",
            parameters=ChangeLine,
            stakes=Stakes.LOW,
            description="Replace a line in a list or note.",
            progress="Changing that…",
            prepare=requests.change_line,
        ),
        RequestKind(
            domain="notes",
            name="clear",
            parameters=ClearNote,
            stakes=Stakes.LOW,
            description="Take everything off a list, such as the shopping list after the shopping.",
            progress="Taking that off…",
            prepare=requests.clear,
        ),
        RequestKind(
            domain="notes",
            name="delete",
            parameters=DeleteNoteOf,
            stakes=Stakes.HIGH,
            description="Delete a whole note.",
            progress="Looking for the note…",
            prepare=requests.delete,
        ),
        RequestKind(
            domain="notes",
            name="search",
            parameters=SearchNotes,
            stakes=Stakes.LOW,
            description="Find notes about something.",
            progress="Searching the notes…",
            read=requests.search,
        ),
        RequestKind(
            domain="notes",
            name="list",
            parameters=ListNotes,
            stakes=Stakes.LOW,
            description="List the notes, or show what is on one, such as the shopping list.",
            progress="Looking at the notes…",
            read=requests.list,
        ),
    )


def note_json(note: Note) -> dict[str, Any]:
    """Return a note as requests tell it."""
    return {
        "id": note.id,
        "title": note.title,
        **audience_json(note.scope),
        "body": note.body,
        "entries": entries(note.body),
        "made_by": note.made_by,
    }


class _NoteRequests:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def create(self, wanted: CreateNote, asked: Asked) -> Prepared:
        title = checked_title(wanted.title)
        body = checked_body(wanted.body)
        scope = _scope(wanted, title, body, asked)
        known = [note for note in await self._all(asked) if note.scope == scope]
        if title.casefold() in {note.title.casefold() for note in known}:
            raise ConflictError(
                f"there is already a note {title!r}; add to it, or choose another title"
            )
        return _new(title, body, scope, asked)

    async def append(self, wanted: AppendNote, asked: Asked) -> Prepared:
        scope = _scope(wanted, wanted.title, wanted.body, asked)
        try:
            note = _meant(wanted.title, _open_to(wanted, scope, await self._all(asked)))
        except NotFoundError:
            title, body = checked_title(wanted.title), appended("", wanted.body)
            return _new(title, body, scope, asked)
        if appended(note.body, wanted.body) == note.body:
            raise InputError(f"that is already on {note.title}")
        effect = AppendToNote(note_id=note.id, made_by=note.made_by, added=wanted.body)
        added = ", ".join(entries(wanted.body))
        return _changed(note, effect, f"Add to {note.title}: {added}", {"added": added})

    async def set_audience(self, wanted: SetNoteAudience, asked: Asked) -> Prepared:
        notes = await self._all(asked)
        note = _meant(wanted.find_by, notes)
        is_whole = wanted.lines is None or (
            note.made_by == asked.member.id and {*entries(note.body)} == {*entries(wanted.lines)}
        )
        if not is_whole:
            return _moved_lines(note, wanted, notes, asked)
        people = (note.made_by,) if note.made_by else ()
        scope = changed_scope(note.scope, wanted, asked, people)
        effect = SetNoteScope(note=NoteField.of(note), new_scope=scope)
        return Prepared(
            type=ActionType.NOTE,
            summary=f"{becomes_seen(scope, asked)}: the note {note.title}",
            effects=(effect.frozen(),),
            shown={"title": note.title, "body": note.body},
            result=note_json(replace(note, scope=scope)),
        )

    async def remove_line(self, wanted: RemoveLine, asked: Asked) -> Prepared:
        note, line = _with_line(wanted, await self._all(asked))
        effect = ReplaceLines(note_id=note.id, made_by=note.made_by, removed=(line,))
        return _changed(note, effect, f"Take off {note.title}: {line}", {"removed": line})

    async def change_line(self, wanted: ChangeLine, asked: Asked) -> Prepared:
        note, line = _with_line(wanted, await self._all(asked))
        effect = ReplaceLines(
            note_id=note.id, made_by=note.made_by, removed=(line,), added=wanted.new
        )
        added = ", ".join(entries(wanted.new))
        summary = f"Change {note.title}: {added} instead of {line}"
        return _changed(note, effect, summary, {"removed": line, "added": added})

    async def clear(self, wanted: ClearNote, asked: Asked) -> Prepared:
        note = _meant(wanted.title, await self._all(asked))
        if not is_list(note.body):
            raise InputError(
                f"{note.title} has no list on it" if note.body else f"{note.title} is empty"
            )
        lines = [each for each in entries(note.body) if not each.startswith("#")]
        effect = ReplaceLines(note_id=note.id, made_by=note.made_by, removed=tuple(lines))
        removed = ", ".join(lines)
        changed = _changed(note, effect, f"Take off {note.title}: {removed}", {"removed": removed})
        return replace(changed, stakes=Stakes.HIGH) if len(lines) > _MOST_UNASKED else changed

    async def delete(self, wanted: DeleteNoteOf, asked: Asked) -> Prepared:
        note = _meant(wanted.title, await self._all(asked))
        effect = DeleteNote(note=NoteField.of(note))
        return Prepared(
            type=ActionType.NOTE,
            summary=f"Delete the note {note.title}",
            effects=(effect.frozen(),),
            shown={"title": note.title, "body": note.body},
            result=note_json(note),
        )

    async def search(self, wanted: SearchNotes, asked: Asked) -> Found:
        return _found(matching(wanted.query, await self._all(asked))[:_MOST_FOUND], "Notes")

    async def list(self, wanted: ListNotes, asked: Asked) -> Found:
        notes = await self._all(asked)
        if wanted.title is None:
            return _found(notes, "Notes")
        try:
            called = _called_alike(_meant(wanted.title, notes), notes)
        except NotFoundError:
            if not wanted.may_lack:
                raise
            return Found(result={"notes": []})
        title, lines = (
            called[0].title,
            [(each, line) for each in called for line in entries(each.body)],
        )
        if wanted.line is not None:
            said = [line for _, line in lines]
            found = [said[place] for place in meant_by(wanted.line, said)]
            return Found(result={"note": title, "lines_found": found})
        items = tuple({"id": each.id, "text": line} for each, line in lines)
        card = Card(kind="notes", title=title, items=items)
        return Found(result={"notes": [note_json(each) for each in called]}, card=card)

    async def _all(self, asked: Asked) -> Sequence[Note]:
        return await self._store.read(lambda conn: list_notes(conn, asked.viewer))


def _found(notes: Sequence[Note], title: str) -> Found:
    items = tuple(
        {
            "id": note.id,
            "text": note.title,
            "detail": shorten(", ".join(entries(note.body)), _LONGEST_LINE),
        }
        for note in notes
    )
    return Found(
        result={"notes": [note_json(note) for note in notes]},
        card=Card(kind="notes", title=title, items=items),
    )


def _meant(words: str, notes: Sequence[Note]) -> Note:
    """Return the note that is meant, of two of one title the household's; a list of things to buy by any of its names."""
    shared = {each.title.casefold() for each in notes if each.scope == HOUSEHOLD_SCOPE}
    wanted = [
        each
        for each in notes
        if each.scope == HOUSEHOLD_SCOPE or each.title.casefold() not in shared
    ]
    by_id = [each for each in notes if each.id == words.strip()]
    if by_id:
        return by_id[0]
    try:
        return find_by(words, wanted)
    except NotFoundError:
        alike = [each for each in wanted if list_title(each.title) == list_title(words)]
        if len(alike) != 1:
            raise
        return alike[0]


def _called_alike(meant: Note, notes: Sequence[Note]) -> Sequence[Note]:
    """Return a note and others of its title that hold something: what few may see of a list stands in one of its own."""
    title = meant.title.casefold()
    alike = [each for each in notes if each.title.casefold() == title and entries(each.body)]
    return [meant, *(each for each in alike if each is not meant)]


def _with_line(wanted: RemoveLine, notes: Sequence[Note]) -> tuple[Note, str]:
    """Return the note of a title that has a line, and the line."""
    first, *others = _called_alike(_meant(wanted.title, notes), notes)
    for note in others:
        with suppress(NotFoundError, UnclearError):
            if not meant_by(wanted.line, entries(first.body)):
                return note, without(note.body, wanted.line)[1]
    return first, without(first.body, wanted.line)[1]


def _open_to(wanted: AppendNote, scope: str, notes: Sequence[Note]) -> Sequence[Note]:
    """Return the notes that something may be added to: nothing of everybody's list is put where few see it."""
    title = wanted.title
    is_open = wanted.private is None and scope == HOUSEHOLD_SCOPE and title != SHOPPING
    found = [each for each in notes if is_open or each.scope == scope]
    return [each for each in found if each.title == title] if title == OWN_LIST else found


def _scope(wanted: ForWhom, title: str, body: str, asked: Asked) -> str:
    """Return who may see a note: as it is said, or as its words make likely."""
    return scope_for(for_asker(wanted, asked), asked, text=f"{title}\n{body}")


def _note_of(title: str, body: str, scope: str, asked: Asked) -> Note:
    return Note(
        id=stable_id(asked.household.id, "note", asked.turn_id, asked.number),
        household=asked.household.id,
        scope=scope,
        title=title,
        body=body,
        made_by=asked.member.id,
        created_at=asked.now,
    )


def _new(title: str, body: str, scope: str, asked: Asked) -> Prepared:
    note = _note_of(title, body, scope, asked)
    effect = AddNote(note=NoteField.of(note))
    summary = f"New note {title}: {', '.join(entries(body))}" if body else f"New note {title}"
    return Prepared(
        type=ActionType.NOTE,
        summary=shorten(summary, _LONGEST_LINE),
        effects=(effect.frozen(),),
        shown={
            "title": title,
            "body": body,
            **({"seen by": seen} if (seen := seen_by(scope, asked)) else {}),
        },
        result={**note_json(note), "added": ", ".join(entries(body)), "is_new": True},
    )


def _moved_lines(
    note: Note, wanted: SetNoteAudience, notes: Sequence[Note], asked: Asked
) -> Prepared:
    """Return what takes lines off a note and puts them on one of its title that those alone see who may see the lines.

    Raises:
        DeniedError: A child would take what others can see from them, or show them what an adult has to approve.
        InputError: It is so already.
        NotFoundError: The note has no such line.
    """
    scope = kept_scope(note.scope, wanted, asked)
    if scope == note.scope:
        raise InputError("it's already like that")
    if not asked.member.is_adult:
        raise DeniedError("only an adult can change who sees a part of a list")
    removed = [without(note.body, each)[1] for each in entries(wanted.lines or "")]
    taken = ReplaceLines(note_id=note.id, made_by=note.made_by, removed=tuple(removed))
    added = "\n".join(f"- {each}" for each in removed)
    alike = [each for each in notes if each.title == note.title and each.scope == scope]
    put: AppendToNote | AddNote
    if alike:
        put = AppendToNote(note_id=alike[0].id, made_by=alike[0].made_by, added=added)
        after = replace(alike[0], body=put.changed(alike[0].body))
    else:
        after = _note_of(note.title, added, scope, asked)
        put = AddNote(note=NoteField.of(after))
    what = ", ".join(removed)
    return Prepared(
        type=ActionType.NOTE,
        summary=shorten(f"{becomes_seen(scope, asked)}: {what}", _LONGEST_LINE),
        effects=(taken.frozen(), put.frozen()),
        shown={"title": note.title, "lines": what},
        result={**note_json(after), "lines": what},
    )


def _changed(
    note: Note, effect: AppendToNote | ReplaceLines, summary: str, what: dict[str, Any]
) -> Prepared:
    after = replace(note, body=effect.changed(note.body))
    return Prepared(
        type=ActionType.NOTE,
        summary=shorten(summary, _LONGEST_LINE),
        effects=(effect.frozen(),),
        shown={"title": note.title, **what},
        result={**note_json(after), **what},
    )
