"""How a clause is meant: asked for, named, told, denied, supposed, past or somebody else's words. Pure.

A small reader over closed-class words, all of them in `data/modality.toml`. It knows no phrases of particular
requests. Where it cannot tell, a clause counts as told, which is never enough to write anything unasked.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from itertools import pairwise

from kinkeeper.language.dictionary import first_names

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_QUOTE_MARK = re.compile('[\ue300-\ue3ff]|["“”„«»]')
_LONGEST_PHRASE = 3
_SHORTEST_PAST = 5  # letters of a regular past form: "ended"


class Modality(StrEnum):
    """How a clause is meant."""

    NAMED = "named"
    TOLD = "told"
    NEGATED = "negated"
    PAST = "past"
    REPORTED = "reported"
    QUOTED = "quoted"
    CONDITIONAL = "conditional"
    HYPOTHETICAL = "hypothetical"


UNREAL = frozenset({Modality.CONDITIONAL, Modality.HYPOTHETICAL})
OTHERS_WORDS = frozenset({Modality.REPORTED, Modality.QUOTED})


def modality_of(clause: str) -> Modality:
    """Return how a clause is meant.

    Args:
        clause: Plain text, or with marks for its times and quotations.
    """
    words = [each.lower() for each in _WORD.findall(clause.replace("’", "'"))]
    said = _phrases(words)
    tables = _tables()
    for kind in ("conditional", "hypothetical"):
        if not said.isdisjoint(tables[kind]):
            return Modality(kind)
    if not said.isdisjoint(tables["reported"]):
        return Modality.QUOTED if _QUOTE_MARK.search(clause) else Modality.REPORTED
    if not said.isdisjoint(tables["negated"]) or any(each.endswith("n't") for each in words):
        return Modality.NEGATED
    if _is_past(words, clause):
        return Modality.PAST
    if not said.isdisjoint(tables["telling"] | tables["arranging"] | tables["subjects"]):
        return Modality.TOLD
    return Modality.NAMED


def tells_of_deed_or_wish(text: str) -> bool:
    """Return whether a message tells of something done, arranged or wanted.

    Args:
        text: Plain.
    """
    words = [each.lower() for each in _WORD.findall(text.replace("’", "'"))]
    tables = _tables()
    return _is_past(words, text) or not _phrases(words).isdisjoint(
        tables["wishing"] | tables["arranging"] | tables["hypothetical"] | tables["over"]
    )


def _is_past(words: Sequence[str], clause: str) -> bool:
    tables = _tables()
    before = ["", *words]
    named = {each.lower() for each in re.findall(r"(?<=[a-z,] )[A-Z]\w+", clause)}
    for first, word in pairwise(before):
        is_past = word in tables["past"] or (_ends_in_past(word) and word not in named)
        if not is_past:
            continue
        if word in tables["arranging"] or (word == "been" and first in tables["having"]):
            continue
        return True
    return False


def _ends_in_past(word: str) -> bool:
    if len(word) < _SHORTEST_PAST or not word.endswith("ed"):
        return False
    return word not in _tables()["no_past"] and word not in first_names()


def _phrases(words: Sequence[str]) -> frozenset[str]:
    """Return the words of a clause, and those that follow each other joined by "_"."""
    spans = range(1, _LONGEST_PHRASE + 1)
    return frozenset(
        "_".join(words[at : at + length]) for length in spans for at in range(len(words))
    )


@cache
def _tables() -> Mapping[str, frozenset[str]]:
    text = (files(__package__) / "data" / "modality.toml").read_text(encoding="utf-8")
    return {name: frozenset(words.split()) for name, words in tomllib.loads(text)["words"].items()}
