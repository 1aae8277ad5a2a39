"""The words of consent and refusal, and what they make of a clause. Pure."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from itertools import product

from kinkeeper.conversation.routing.clause_words import Clause
from kinkeeper.reading.phrases import ASKED


class Said(StrEnum):
    """What a phrase says; `OTHER` is a word of no phrase."""

    YES = "yes"
    WEAK = "weak"
    NO = "no"
    UNDO = "undo"
    HOLD = "hold"
    CORRECTS = "corrects"
    DIFFERS = "differs"
    FILLER = "filler"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentWords:
    """What people answer when they are asked whether something is to be done.

    Attributes:
        said: What each phrase says.
        closed: Those that count only where a clause ends with them.
        longest: Words of the longest phrase.
        fillers: Say nothing either way.
        changing: Verbs that change what is waiting.
        changed: What they change.
        leading: Stand before a value: "at", "to".
        values: Mean a person or a moment without a name or number.
        including: Verbs that change it with a value alone.
        curt: As they are spelled, before they are read: a yes of these alone is a weak one.
        kind: Make a clause a kindness, if it is a courtesy at all.
    """

    said: Mapping[Clause, Said]
    closed: frozenset[Clause]
    longest: int
    fillers: frozenset[str]
    changing: frozenset[str]
    changed: frozenset[str]
    leading: frozenset[str]
    values: frozenset[str]
    including: frozenset[str]
    curt: frozenset[str]
    kind: frozenset[str]


_CLOSED = "$"
_ORDER = (Said.CORRECTS, Said.HOLD, Said.NO, Said.UNDO, Said.YES, Said.WEAK, Said.DIFFERS)


@cache
def consent_words() -> ConsentWords:
    """Return the words of the data file; read once."""
    raw = tomllib.loads(
        files(__package__).joinpath("data/confirmation.toml").read_text(encoding="utf-8")
    )
    said: dict[Clause, Said] = {}
    closed: set[Clause] = set()
    for kind in reversed(_ORDER):
        for phrase, is_closed in _spelled_out(raw[kind.value]):
            said[phrase] = kind
            (closed.add if is_closed else closed.discard)(phrase)
    lists = {
        name: frozenset(raw[name].split())
        for name in ("changing", "changed", "leading", "values", "including", "curt", "kind")
    }
    return ConsentWords(
        said=said, closed=frozenset(closed), longest=max(map(len, said)),
        fillers=frozenset(raw["filler"].split()), **lists,
    )  # fmt: skip


def _spelled_out(lines: str) -> Iterator[tuple[Clause, bool]]:
    for line in lines.strip().splitlines():
        words = line.split()
        is_closed = words[-1] == _CLOSED
        choices = [_choices(word) for word in (words[:-1] if is_closed else words)]
        for phrase in product(*choices):
            yield tuple(" ".join(phrase).split()), is_closed


def _choices(word: str) -> list[str]:
    """Return what a word of a line stands for; one in brackets may be left out."""
    chosen = [each.replace("_", " ") for each in word.strip("()").split("|")]
    return [*chosen, ""] if word.startswith("(") else chosen


def read_clause(clause: Clause) -> Iterator[Said]:
    """Yield what the phrases of a clause say, and each word of none.

    Args:
        clause: Canonical words.
    """
    for _, said in spoken(clause[:-1] if clause[-1] == ASKED else clause):
        yield said


def spoken(words: Clause) -> Iterator[tuple[Clause, Said]]:
    """Yield the phrases of a clause, and each word of none, with what they say.

    Args:
        words: Of the clause, without its mark of a question.
    """
    at = 0
    while at < len(words):
        length, said = _longest(words, at)
        yield words[at : at + length], said
        at += length


def _longest(words: Clause, at: int) -> tuple[int, Said]:
    phrases = consent_words()
    for length in range(min(phrases.longest, len(words) - at), 0, -1):
        phrase = words[at : at + length]
        if phrase in phrases.said and (phrase not in phrases.closed or _ends(words, at + length)):
            return length, phrases.said[phrase]
    return 1, Said.FILLER if words[at] in phrases.fillers else Said.OTHER


def _ends(words: Clause, at: int) -> bool:
    """Whether nothing but fillers follows."""
    return all(word in consent_words().fillers for word in words[at:])
