"""Whether a message only sets right what was said before: "10am sorry", "nope, 5 like always", "*Thursday"."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from kinkeeper.language.lexicon import Mention
from kinkeeper.language.text import Token
from kinkeeper.reading.phrases import ASKED, ENDS, canonical, phrase_book

_LONGEST = 12
_MOST_UNKNOWN = 3
_NAME = "<name>"
_VALUES = frozenset({"<number>", _NAME})
_STAR = "*"
_IT_IS = frozenset({"it's", "its"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of corrections, from the data file.

    Attributes:
        signs: Make a message a correction.
        mixed: Those of them that do so for a name, too.
        plain: Let it be one.
        never: With one of these it is something else.
        changes: Say that something is off or moved.
    """

    signs: frozenset[str]
    mixed: frozenset[str]
    plain: frozenset[str]
    never: frozenset[str]
    changes: frozenset[str]


@cache
def correction_words() -> Words:
    """Return the words of the data file; read once."""
    raw = tomllib.loads(
        files(__package__).joinpath("data/corrections.toml").read_text(encoding="utf-8")
    )
    return Words(
        **{
            name: frozenset(raw[name].split())
            for name in ("signs", "mixed", "plain", "never", "changes")
        }
    )


def may_correct(tokens: Sequence[Token], mentions: Sequence[Mention] = ()) -> bool:
    """Tell whether a message reads as a correction: another time, day or name, and a sign that it is one.

    Args:
        tokens: The message.
        mentions: Household words found in it.
    """
    if not tokens:
        return False
    texts = [token.text for token in tokens]
    is_starred = _STAR in {texts[0], texts[-1]}
    is_signed = is_starred or not correction_words().signs.isdisjoint(texts)
    if not is_signed and texts[0] not in _IT_IS:
        return False
    if not is_signed and not _is_value(canonical(tokens, mentions)[1]):
        return False
    return _has_room(tokens, mentions)


def reads_as_correction(tokens: Sequence[Token], mentions: Sequence[Mention] = ()) -> bool:
    """Tell whether a message may set right something: by a sign of it, as a mere value, or as news of a change.

    Args:
        tokens: The message.
        mentions: Household words found in it.
    """
    return may_correct(tokens, mentions) or is_bare_value(tokens, mentions) or calls_off(tokens)


def calls_off(tokens: Sequence[Token]) -> bool:
    """Tell whether a message has a word that says that something is off or moved.

    Args:
        tokens: The message.
    """
    return not correction_words().changes.isdisjoint(token.text for token in tokens)


def is_bare_value(tokens: Sequence[Token], mentions: Sequence[Mention] = ()) -> bool:
    """Tell whether a message is a time or day and nothing else ("4:30", "at 5", "on thursday").

    Args:
        tokens: The message.
        mentions: Household words found in it.
    """
    if mentions:
        return False
    words = [word for word in canonical(tokens, mentions) if word not in ENDS]
    return bool(words) and all(_is_value(word) or word in {"at", "on"} for word in words)


def _has_room(tokens: Sequence[Token], mentions: Sequence[Mention]) -> bool:
    """Whether a message names a value, is short, and says next to nothing else."""
    known, book = correction_words(), phrase_book()
    words = canonical(tokens, mentions)
    said = [word for word in words if word not in ENDS]
    if ASKED in words or len(said) > _LONGEST or not _has_value(said):
        return False
    if not known.never.isdisjoint(said):
        return False
    unknown = [
        word
        for word in said
        if not (_is_value(word) or word in known.signs or word in known.plain)
        and word not in book.closing
        and word != "<adult>"
    ]
    return len(unknown) <= _MOST_UNKNOWN


def _has_value(said: Sequence[str]) -> bool:
    """Whether a time or day is named; a mere name only where it is said to have been mixed up."""
    if any(_is_value(word) and word != _NAME for word in said):
        return True
    return _NAME in said and not correction_words().mixed.isdisjoint(said)


def _is_value(word: str) -> bool:
    return word in _VALUES or phrase_book().is_class(word, "time")
