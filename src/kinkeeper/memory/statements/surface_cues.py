"""What the words of a statement show at a look: what it is about, who is named, and what in it speaks of change."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

from kinkeeper.memory.statements.canonical_words import Word, lexicon, opened, words_of
from kinkeeper.memory.statements.freely import carried
from kinkeeper.memory.statements.kin import kin_canons
from kinkeeper.memory.statements.names import names_in
from kinkeeper.memory.statements.statement_reader import LONGEST_STATEMENT, Reading, read_statement

_KEPT = 8_192
_POSSESSIVE = "'s"
_FIRST_PERSON = frozenset(("i", "we", "my", "our", "me", "us"))
_PRONOUNS = frozenset("he she they his her their him them it its".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A statement's words.

    Attributes:
        plain: In lower case, contractions opened.
        words: All words in order, without marks.
        told: Canonical words that a comparison may rest on, in order.
        names: Canonical words that are names.
        people: Those that name somebody, "mum" and the like too.
        owners: Canonical words of who has something ("Ida's").
        lead: Canonical words of what stands before the first verb, in order.
        cues: Where each kind of cue is first found in `plain`; kinds that are not are left out.
        readings: What each of its clauses says.
        is_ours: Whether it speaks of its speaker.
        is_led_by_us: Whether it begins with its speaker.
        has_pronoun: Whether it speaks of "her" or "it".
    """

    plain: str
    words: Sequence[Word]
    told: Sequence[str]
    names: frozenset[str]
    people: frozenset[str]
    owners: frozenset[str]
    lead: Sequence[str]
    cues: Mapping[str, re.Match[str]]
    readings: Sequence[Reading]
    is_ours: bool
    is_led_by_us: bool
    has_pronoun: bool


@cache
def cue_patterns() -> Mapping[str, re.Pattern[str]]:
    """Return the patterns of the data file by kind, read once."""
    raw = tomllib.loads(files(__package__).joinpath("data/cues.toml").read_text(encoding="utf-8"))
    return {
        kind: re.compile(rf"(?<![\w'])(?:{'|'.join(each)})(?![\w'])") for kind, each in raw.items()
    }


@lru_cache(maxsize=_KEPT)
def wording_of(text: str) -> Wording:
    """Return what a statement's words show.

    Args:
        text: A sentence, or a few; beyond 500 characters it is not read.
    """
    text = text[:LONGEST_STATEMENT]
    plain, known = opened(text), lexicon()
    all_words = words_of(plain)
    words = [word for word in all_words if word.text[0].isalnum()]
    names = names_in(text)
    empty = known.light | known.fillers | known.negations
    owners = (before.canon for before, mark in pairwise(all_words) if mark.text == _POSSESSIVE)
    said = {word.text for word in words}
    return Wording(
        plain=plain, words=words, names=names, owners=frozenset(owners),
        told=[word.canon for word in words if word.text not in empty],
        people=frozenset(word.canon for word in words if word.canon in names or word.canon in kin_canons()),
        lead=_lead(words, names), readings=carried(read_statement(text)),
        cues={kind: found for kind, pattern in cue_patterns().items() if (found := pattern.search(plain))},
        is_ours=not said.isdisjoint(_FIRST_PERSON), has_pronoun=not said.isdisjoint(_PRONOUNS),
        is_led_by_us=bool(words) and words[0].text in _FIRST_PERSON,
    )  # fmt: skip


def _lead(words: Sequence[Word], names: frozenset[str]) -> list[str]:
    known = lexicon()
    end = next(
        (
            at
            for at, word in enumerate(words)
            if word.canon in known.verbs and word.canon not in names
        ),
        len(words),
    )
    return [word.canon for word in words[:end] if word.text not in known.light]
