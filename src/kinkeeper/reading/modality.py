"""How a clause is meant: asked for, named, told, denied, supposed, past or somebody else's words. Pure.

A small reader over closed-class words, all of them in `data/modality.toml`. It knows no phrases of particular requests. Where
it cannot tell, a clause counts as told, which is never enough to write anything unasked.
"""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from itertools import pairwise

from kinkeeper.language.dictionary import first_names
from kinkeeper.language.text import tokenise
from kinkeeper.reading.asked import general_words
from kinkeeper.reading.corrections import calls_off
from kinkeeper.reading.phrases import denials
from kinkeeper.reading.replies import is_question

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_QUOTE_MARK = re.compile('[\ue300-\ue3ff]|["“”„«»]')
_LONGEST_PHRASE = 3
_BREAKS = re.compile(r"[.!?;\n…]+|,? \b(?:so|and|but|though|although)\b|,", re.IGNORECASE)
_ASIDE_WORDS = 2
"""Words after a comma that still belong to what is asked before it: "judo's off, isn't it?"."""
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
_BEGIN_QUESTIONS = frozenset(
    {"is", "are", "was", "were", "has", "have", "did", "does", "isn't", "wasn't"}
)
_CONTRASTS = frozenset({"but", "though", "although"})
OTHERS_WORDS = frozenset({Modality.REPORTED, Modality.QUOTED})


def modality_of(clause: str, *, is_ahead: bool = False) -> Modality:
    """Return how a clause is meant.

    Args:
        clause: Plain text, or with marks for its times and quotations.
        is_ahead: Whether it names a day to come: then what somebody "got" or "has taken" is still ahead.
    """
    written = (each.lower() for each in _WORD.findall(clause.replace("’", "'")))
    words = [denials().get(each, each) for each in written]
    said = _phrases(words)
    tables = _tables()
    for kind in ("conditional", "hypothetical"):
        if not said.isdisjoint(tables[kind]):
            return Modality(kind)
    if not said.isdisjoint(tables["reported"]):
        return Modality.QUOTED if _QUOTE_MARK.search(clause) else Modality.REPORTED
    if not said.isdisjoint(tables["negated"]) or any(each.endswith("n't") for each in words):
        return Modality.NEGATED
    if _is_past(words, clause) or (not is_ahead and _is_over(words)):
        return Modality.PAST
    if not said.isdisjoint(tables["telling"] | tables["arranging"] | tables["subjects"]):
        return Modality.TOLD
    return Modality.NAMED


def is_denied(clause: str, at: int) -> bool:
    """Return whether a clause denies what it says of somebody or something: "Leo is not going to judo".

    Args:
        clause: Contractions written out, perhaps with marks for what it names.
        at: Offset of what it speaks of; what is said beyond a joint is of something else.
    """
    breaks = [*_BREAKS.finditer(clause)]
    start = max((each.end() for each in breaks if each.end() <= at), default=0)
    end = min((each.start() for each in breaks if each.start() >= at), default=len(clause))
    words, tables = [each.lower() for each in _WORD.findall(clause[start:end])], _tables()
    return any(
        word == "not"
        and words[place - 1] in tables["auxiliaries"]
        and tables["not_denying"].isdisjoint(words[place + 1 : place + 2])
        for place, word in enumerate(words)
        if place > 1
    )


def reported_in(clause: str) -> str:
    """Return what a clause says that somebody else said: "Leo had a nap" of "gran told me that Leo had a nap"; empty where it does not.

    Args:
        clause: Plain text.
    """
    found = [*_WORD.finditer(clause)]
    said = [each[0].lower().replace("’", "'") for each in found]
    told = next((at for at, each in enumerate(said) if each in _tables()["reported"]), None)
    if told is None:
        return ""
    begin = told + 1
    if "that" in said[begin : begin + _LONGEST_PHRASE + 1]:
        begin = said.index("that", begin) + 1
    elif said[begin : begin + 1] and said[begin] in _tables()["hearers"]:
        begin += 1
    return clause[found[begin].start() :] if begin < len(found) else ""


def is_over(clause: str) -> bool:
    """Whether a clause tells, in whatever mood, of what has been: "never gave", "not given"."""
    words = [each.lower() for each in _WORD.findall(clause.replace("’", "'"))]
    return _is_past(words, clause) or words[0:1] == ["given"] or _is_over(words)


class Force(StrEnum):
    """With what force news is told."""

    ASSERTED = "asserted"
    ASKED = "asked"
    SUPPOSED = "supposed"  # depends on something, is only imagined, or is others' words in doubt


def force_of_news(text: str, start: int, end: int, people: Collection[str]) -> Force:
    """Return with what force a message tells in a clause that something is off or moved.

    What stands before the news in its sentence governs it ("if it rains, judo is off"); what follows only up to the next
    break ("judo is off, so if you like we could swim").

    Args:
        start: Offset of the clause's first character.
        end: Offset past its last.
        people: Words for people who are known, in small letters.
    """
    words = [each for each in tokenise(text) if start <= each.start < end]
    at = next((each.end for each in words if calls_off((each,))), end)
    breaks = [*_BREAKS.finditer(text)]
    begin = max((each.end() for each in breaks if each.end() < at and each[0] != ","), default=0)
    after = [each for each in breaks if each.start() >= at]
    closing = after[0] if after else None
    piece = text[begin : closing.start() if closing else len(text)]
    if modality_of(piece) in UNREAL:
        return Force.SUPPOSED
    is_contrast = closing is not None and closing[0].strip(", ").lower() in _CONTRASTS
    if modality_of(piece) in OTHERS_WORDS and is_contrast:
        return Force.SUPPOSED
    rest = text[closing.end() : after[1].start()] if len(after) > 1 and closing else ""
    is_tagged = len(after) > 1 and "?" in after[1][0] and len(rest.split()) <= _ASIDE_WORDS
    is_marked = closing is not None and "?" in closing[0]
    is_inverted = piece.split()[:1] and piece.split()[0].lower() in _BEGIN_QUESTIONS
    is_asked = is_marked or is_tagged or is_inverted or is_question(tokenise(piece), piece, people)
    return Force.ASKED if is_asked else Force.ASSERTED


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


def begins_bare(clause: str) -> bool:
    """Whether a clause begins with a verb, or with a thing that nothing tells whose it is: no subject, article, owner or question word.

    Args:
        clause: Plain.
    """
    words = [each.lower() for each in _WORD.findall(clause.replace("’", "'"))]
    tables = _tables()
    led = tables["subjects"] | tables["articles"] | tables["leads"]
    return bool(words) and words[0] not in led and not words[0].endswith("'s")


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


def _is_over(words: Sequence[str]) -> bool:
    """Whether a clause tells what is over by a form that is no past tense by itself: "done the bins", "she got her jab"."""
    tables = _tables()
    if words[:1] and words[0] in tables["participles"] - {"given"}:
        return True
    if _is_on_body(words):
        return True
    if (
        words[-1:]
        and words[-1] in tables["participles"]
        and tables["unless_wanted"].isdisjoint(words)
    ):
        return True
    by_having = tables["participles"] | tables["same_in_past"]
    for place, word in enumerate(words[1:], start=1):
        before, after = words[:place], "".join(words[place + 1 : place + 2])
        is_had = not tables["having"].isdisjoint(before[-_LONGEST_PHRASE:])
        if word in by_having and is_had and tables["wishing"].isdisjoint(before):
            return True
        if word == "got" and not is_had and _is_given(after, words):
            return True
    return False


def _is_given(after: str, words: Sequence[str]) -> bool:
    """Whether what somebody got, by the word after it, is something given: "got her jab", and of care "got the jab"."""
    tables = _tables()
    is_named = after in tables["given"] or after.isdecimal()
    return is_named or (after in tables["articles"] and bool(general_words(" ".join(words))))


def is_put_on_body(clause: str) -> bool:
    """Whether "put" tells what was put where on somebody's body, which nobody asks the assistant for."""
    return _is_on_body([each.lower() for each in _WORD.findall(clause)])


def _is_on_body(words: Sequence[str]) -> bool:
    tables = _tables()
    onto = next((place for place, word in enumerate(words) if word in tables["onto"]), len(words))
    return words[:1] == ["put"] and not tables["body"].isdisjoint(words[onto:])


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
