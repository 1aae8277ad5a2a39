"""Whether a message only sets right what was said before: "10am sorry", "nope, 5 like always", "*Thursday"."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from kinkeeper.language.lexicon import Mention
from kinkeeper.language.phrases import ASKED, ENDS, canonical, phrase_book
from kinkeeper.language.text import Token

_LONGEST = 12
_MOST_UNKNOWN = 2
_VALUES = frozenset({"<number>", "<name>"})
_STAR = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of corrections, from the data file.

    Attributes:
        signs: Make a message a correction.
        plain: Let it be one.
        never: With one of these it is something else.
    """

    signs: frozenset[str]
    plain: frozenset[str]
    never: frozenset[str]


@cache
def correction_words() -> Words:
    """Return the words of the data file; read once."""
    raw = tomllib.loads(
        files(__package__).joinpath("data/corrections.toml").read_text(encoding="utf-8")
    )
    return Words(**{name: frozenset(raw[name].split()) for name in ("signs", "plain", "never")})


def may_correct(tokens: Sequence[Token], mentions: Sequence[Mention] = ()) -> bool:
    """Tell whether a message reads as a correction: another time, day or name, and a sign that it is one.

    Args:
        tokens: The message.
        mentions: Household words found in it.
    """
    if any(token.text == _STAR for token in (*tokens[:1], *tokens[-1:])):
        return _has_room(tokens, mentions)
    spoken = {token.text for token in tokens} | set(canonical(tokens, mentions))
    return not spoken.isdisjoint(correction_words().signs) and _has_room(tokens, mentions)


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
    if ASKED in words or len(said) > _LONGEST or not any(map(_is_value, said)):
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


def _is_value(word: str) -> bool:
    return word in _VALUES or phrase_book().is_class(word, "time")
