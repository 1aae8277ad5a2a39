"""Notes: values, the entries of their text, and which note a few words mean. Pure."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from kinkeeper.core.errors import InputError, NotFoundError, UnclearError
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.language.name_match import meant_by
from kinkeeper.language.text import one_line, shorten, strip_controls


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text in Markdown, such as a shopping list or the code of the wifi.

    Attributes:
        scope: Who may see it: HOUSEHOLD_SCOPE or "person:<member id>".
        title: What it is called.
        body: Its text; entries of a list are lines beginning with "- ".
        made_by: Member id of who made it; None where it came from elsewhere.
    """

    id: str
    household: str
    title: str
    body: str
    created_at: datetime
    scope: str = HOUSEHOLD_SCOPE
    made_by: str | None = None


# The text of notes: entries that are added, ticked off and taken out. Pure.

LONGEST_TITLE = 200
LONGEST_BODY = 100_000

_ENTRY = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(?P<words>.*\S)\s*")
_MOST_LINES_SHOWN = 8
_LONGEST_SHOWN = 60


def checked_title(title: str) -> str:
    """Return a title as it is kept.

    Raises:
        InputError: There is nothing of it, or too much.
    """
    kept = one_line(title)
    if not kept:
        raise InputError("a note needs a title")
    if len(kept) > LONGEST_TITLE:
        raise InputError(f"a note's title may have at most {LONGEST_TITLE} characters")
    return kept


def checked_body(body: str) -> str:
    """Return a text as it is kept."""
    kept = strip_controls(body).expandtabs(4).strip("\n").rstrip()
    if len(kept) > LONGEST_BODY:
        raise InputError(f"a note may have at most {LONGEST_BODY:,} characters; start another one")
    return kept


def entries(body: str) -> list[str]:
    """Return the words of a text line by line, each with single spaces, without the marks of a list and blank lines."""
    found = (" ".join(_words_of(line).split()) for line in body.splitlines())
    return [words for words in found if words]


def appended(body: str, added: str) -> str:
    """Return a text with lines added: as entries of its list where it is one, as they are otherwise.

    Entries that stand in the list already are not added again.
    """
    added = strip_controls(added)
    lines = entries(added)
    if body and not is_list(body):
        return checked_body(f"{body.rstrip()}\n{added.strip()}")
    known = {_sameness(each) for each in entries(body)}
    new: dict[str, str] = {}
    for line in (f"- {each}" for each in lines):
        new.setdefault(_sameness(*entries(line)), line)
    kept = [line for sameness, line in new.items() if sameness not in known]
    return checked_body("\n".join([*body.splitlines(), *kept]))


def _words_of(line: str) -> str:
    entry = _ENTRY.fullmatch(line)
    return entry["words"] if entry else line.strip()


def _sameness(words: str) -> str:
    """Return what words of an entry have in common with those that say the same."""
    return unicodedata.normalize("NFC", words.casefold())


def is_list(body: str) -> bool:
    """Whether every line of a text is an entry of a list, or a heading."""
    lines = [line for line in body.splitlines() if line.strip()]
    return bool(lines) and all(
        _ENTRY.fullmatch(line) is not None or line.lstrip().startswith("#") for line in lines
    )


def without(body: str, words: str) -> tuple[str, str]:
    """Return a text without the one line that words mean, and the words of that line.

    Raises:
        NotFoundError: No line is meant; the message says what there is.
        UnclearError: Several can be meant; the question names them.
    """
    place, line = _line_of(body, words)
    lines = body.splitlines()
    return "\n".join([*lines[:place], *lines[place + 1 :]]), line


def _line_of(body: str, words: str) -> tuple[int, str]:
    """Return the place of the one line that words mean, and its words."""
    plain = [" ".join(entries(line)) for line in body.splitlines()]
    said = " ".join(words.split())
    written_out = [place for place, line in enumerate(plain) if line and line == said]
    found = written_out[:1] or [place for place in meant_by(words, plain) if plain[place]]
    if not found:
        raise NotFoundError(f"{words!r} is not on it. It has: {_some(entries(body))}.")
    if len(found) > 1:
        options = [shorten(plain[place], _LONGEST_SHOWN) for place in found[:_MOST_LINES_SHOWN]]
        raise UnclearError(f"Which one: {', '.join(options)}?", options=options)
    return found[0], plain[found[0]]


def replaced(body: str, removed: Sequence[str], added: str) -> str:
    """Return a text with lines taken out of it, and others where the first of them was.

    Args:
        removed: Words of each line that goes.
        added: What takes their place, one line each, in the form of the first; empty for nothing.

    Raises:
        UnclearError: Words can mean several lines.
    """
    first, _ = _line_of(body, removed[0])
    old, body = body.splitlines()[first], without(body, removed[0])[0]
    lines = body.splitlines()
    words = _words_of(old)
    lines[first:first] = [old.replace(words, each) for each in entries(strip_controls(added))]
    body = "\n".join(lines)
    for each in removed[1:]:
        body = without(body, each)[0]
    return checked_body(body)


def _some(found: Sequence[str]) -> str:
    shown = (
        ", ".join(shorten(each, _LONGEST_SHOWN) for each in found[:_MOST_LINES_SHOWN]) or "nothing"
    )
    more = len(found) - _MOST_LINES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


# Which note a few words mean, and which notes speak of something. Pure.

_MOST_TITLES_SHOWN = 5


def find_by(words: str, notes: Sequence[Note]) -> Note:
    """Return the note that is meant by its id, its title, or words of its title.

    Args:
        notes: Those that can be meant, the likelier ones first.

    Raises:
        NotFoundError: None is meant; the message says what there is.
        UnclearError: Several can be meant; the question names them.
    """
    by_id = [note for note in notes if note.id == words.strip()]
    found = by_id or [notes[place] for place in meant_by(words, [note.title for note in notes])]
    titles = [note.title for note in (found or notes)[:_MOST_TITLES_SHOWN]]
    if not found:
        there_is = f"Your notes: {', '.join(titles)}." if titles else "There are no notes yet."
        raise NotFoundError(f"I can't find a note called {words!r}. {there_is}")
    if len(found) > 1:
        raise UnclearError(f"Which note do you mean: {', '.join(titles)}?", options=titles)
    return found[0]


def matching(words: str, notes: Sequence[Note]) -> list[Note]:
    """Return the notes whose title or one of whose lines speaks of something, in their order."""
    by_title = set(meant_by(words, [note.title for note in notes]))
    return [
        note
        for place, note in enumerate(notes)
        if place in by_title or meant_by(words, [f"{note.title} {line}" for line in _lines(note)])
    ]


def _lines(note: Note) -> list[str]:
    return [line for line in note.body.splitlines() if line.strip()]
