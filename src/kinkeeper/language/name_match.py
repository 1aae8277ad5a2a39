"""Which thing or person a few words mean, by name or by pronoun. Pure."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files

from Stemmer import Stemmer

from kinkeeper.language.dictionary import slips_between
from kinkeeper.language.text import Token, TokenKind, fold, tokenise, unaccented

_STEMMER = Stemmer("english")

_WORDS = tomllib.loads(
    (files("kinkeeper.language.data") / "naming.toml").read_text(encoding="utf-8")
)
_LIGHT = frozenset(_WORDS["light"].split())
_WEAK = frozenset(_STEMMER.stemWords(_WORDS["weak"].split()))
_SHORTEST_SLIP = 5
_MOST_MISSED = 1 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    strong: frozenset[str]
    weak: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.strong | self.weak


def meant_by(words: str, names: Sequence[str], also: Sequence[str] = ()) -> list[int]:
    """Return the positions of the names that a few words can mean, none where they mean something else.

    A name that is written out whole goes before others that contain it. Otherwise every word that says
    something must stand in the name, whatever its ending and with one slip of the pen; words such as
    "task" or "appointment" count only where nothing else is said. Of longer descriptions a third may be
    missing from the name.

    Args:
        words: As a person says them.
        also: Further words for each of them, where there are such.
    """
    wanted = _plain(words)
    exact = [place for place, name in enumerate(names) if wanted and _plain(name) == wanted]
    if exact:
        return exact
    query = _content(words)
    if not query.all:
        return []
    told = [f"{name} {more}" for name, more in zip(names, also, strict=True)] if also else names
    known = [_content(each).all for each in told]
    found = _with_all(query, known)
    for each in () if found else _compounds(words):
        found = found or _with_all(_content(each), known)
    return found or _with_most(query, known)


def telling_stems(words: str) -> frozenset[str]:
    """Return the stems of the words that tell one thing from another; of the sort of thing where nothing else is said.

    Args:
        words: As a person says them.
    """
    content = _content(words)
    return content.strong or content.weak


def content_stems(words: str) -> frozenset[str]:
    """Return the stems of all words that say what something is, without those that only join them; keeps no text."""
    return _content.__wrapped__(words).all


def _compounds(words: str) -> Iterator[str]:
    """Yield words with two of them written as one: "hair cut" as "haircut"."""
    said = words.split()
    for place in range(len(said) - 1):
        yield " ".join((*said[:place], f"{said[place]}{said[place + 1]}", *said[place + 2 :]))


def _with_all(query: _Words, known: Sequence[frozenset[str]]) -> list[int]:
    needed = query.strong or query.weak
    found = [place for place, stems in enumerate(known) if _missing(needed, stems) == 0]
    better = [place for place in found if _missing(query.all, known[place]) == 0]
    return better or found


def _with_most(query: _Words, known: Sequence[frozenset[str]]) -> list[int]:
    missed = {place: _missing(query.strong, stems) for place, stems in enumerate(known)}
    fewest = min(missed.values(), default=0)
    if not query.strong or fewest > len(query.strong) * _MOST_MISSED:
        return []
    return [place for place, count in missed.items() if count == fewest]


def _missing(needed: frozenset[str], stems: frozenset[str]) -> int:
    return sum(1 for stem in needed if stem not in stems and not _is_slip(stem, stems))


def _is_slip(stem: str, stems: frozenset[str]) -> bool:
    """Whether a word is one slip of the pen away from one of the name."""
    # A stem has an "i" for the last "y" of a word.
    stem = f"{stem[:-1]}y" if stem.endswith("i") else stem
    return len(stem) >= _SHORTEST_SLIP and any(
        each[0] == stem[0] and slips_between(stem, each, most=1) <= 1
        for each in stems
        if len(each) >= _SHORTEST_SLIP
    )


@lru_cache(maxsize=2048)
def _plain(text: str) -> str:
    return " ".join(unaccented(fold(text).text).split()).strip(" .!?\"'")


@lru_cache(
    maxsize=2048
)  # the same names are compared with every word of a question, turn after turn
def _content(text: str) -> _Words:
    said = [
        unaccented(token.text).removesuffix("'s").removesuffix("'")
        for token in tokenise(text)
        if token.kind is not TokenKind.PUNCTUATION
    ]
    parts = [part for word in said for part in word.split("-") if part]
    stems = {_STEMMER.stemWord(part) for part in parts if part not in _LIGHT}
    return _Words(strong=frozenset(stems - _WEAK), weak=frozenset(stems & _WEAK))


# Words that stand for people without naming them: a closed class.


class Pronoun(StrEnum):
    """Whom such a word stands for, seen from who says it."""

    SPEAKER = "speaker"
    SPEAKERS = "speakers"
    ADDRESSEE = "addressee"
    ADDRESSEES = "addressees"
    OTHERS = "others"
    EVERYBODY = "everybody"
    NOBODY = "nobody"


_TABLE = {
    word: Pronoun(name)
    for name, words in tomllib.loads(
        (files("kinkeeper.language.data") / "pronouns.toml").read_text(encoding="utf-8")
    ).items()
    for word in words.split()
}


def pronouns_among(tokens: Sequence[Token]) -> tuple[Pronoun, ...]:
    """Return what the pronouns among tokens stand for, in their order."""
    return tuple(_TABLE[each.text] for each in tokens if each.text in _TABLE)
