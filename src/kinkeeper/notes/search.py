"""Which note a few words mean, and which notes speak of something. Pure."""

from collections.abc import Sequence

from kinkeeper.core.errors import NotFoundError, UnclearError
from kinkeeper.language.name_match import meant_by
from kinkeeper.notes.model import Note

_MOST_SHOWN = 5


def find_by(words: str, notes: Sequence[Note]) -> Note:
    """Return the note that is meant by its id, its title, or words of its title.

    Args:
        words: As a person says them.
        notes: Those that can be meant, the likelier ones first.

    Raises:
        NotFoundError: None is meant; the message says what there is.
        UnclearError: Several can be meant; the question names them.
    """
    by_id = [note for note in notes if note.id == words.strip()]
    found = by_id or [notes[place] for place in meant_by(words, [note.title for note in notes])]
    titles = [note.title for note in (found or notes)[:_MOST_SHOWN]]
    if not found:
        there_is = f"Your notes: {', '.join(titles)}." if titles else "There are no notes yet."
        raise NotFoundError(f"I can't find a note called {words!r}. {there_is}")
    if len(found) > 1:
        raise UnclearError(f"Which note do you mean: {', '.join(titles)}?", options=titles)
    return found[0]


def matching(words: str, notes: Sequence[Note]) -> list[Note]:
    """Return the notes whose title or one of whose lines speaks of something, in their order.

    Args:
        words: What it is about.
        notes: Where to look.
    """
    by_title = set(meant_by(words, [note.title for note in notes]))
    return [
        note
        for place, note in enumerate(notes)
        if place in by_title or meant_by(words, [f"{note.title} {line}" for line in _lines(note)])
    ]


def _lines(note: Note) -> list[str]:
    return [line for line in note.body.splitlines() if line.strip()]
