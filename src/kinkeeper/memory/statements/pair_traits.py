"""What may tell how two statements relate, in numbers that no single word of theirs is in. Pure."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product

from kinkeeper.language.dictionary import word_ranks
from kinkeeper.memory.statements.canonical_words import canon_of, lexicon
from kinkeeper.memory.statements.freely import is_number
from kinkeeper.memory.statements.sameness import (
    has_same_value,
    is_about_the_same,
    is_of_same_subject,
)
from kinkeeper.memory.statements.surface_cues import Wording, cue_patterns

_UNKNOWN_RANK = 60_000
_KEPT = 8_192
_OF_NEW = (
    "is_negative",
    "is_retraction",
    "is_change",
    "is_past",
    "is_hypothetical",
    "is_added",
    "is_again",
    "is_able",
)
_OF_OLD = ("is_negative", "is_retraction", "is_past", "is_hypothetical")
_PLACED = ("over", "changed", "solved")
_AFTER, _BEFORE = 5, 4


Traits = Mapping[str, float]
"""What is known of a pair, by name."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements side by side.

    Attributes:
        old: What was said.
        new: What is said now.
        shared: Canonical words of both.
        gone: Those of the old one alone.
        come: Those of the new one alone.
        things: What both share that names nobody and says something.
    """

    old: Wording
    new: Wording
    shared: frozenset[str]
    gone: frozenset[str]
    come: frozenset[str]
    things: frozenset[str]


def side_by_side(old: Wording, new: Wording) -> Pair:
    """Return two statements as a pair.

    Args:
        old: What was said.
        new: What is said now.
    """
    one, other = frozenset(old.told), frozenset(new.told)
    shared = one & other
    nobody = shared - old.people - new.people - lexicon().bland
    return Pair(old, new, shared, one - other, other - one, nobody)


def traits_of(pair: Pair) -> Traits:
    """Return what may tell how two statements relate, by name.

    Args:
        pair: The two.
    """
    return dict((*_overlaps(pair), *_kinds(pair), *_people(pair), *_cues(pair), *_slots(pair)))


_Traits = Iterator[tuple[str, float]]


@lru_cache(maxsize=_KEPT)
def _rarity(word: str) -> float:
    """Return how rare a word is in the language: 0 the most frequent, 1 unknown."""
    return math.log1p(word_ranks().get(word, _UNKNOWN_RANK)) / math.log1p(_UNKNOWN_RANK)


def _weight(words: Collection[str]) -> float:
    return sum(map(_rarity, words))


def _share(part: Collection[str], whole: Collection[str]) -> float:
    return _weight(part) / (_weight(whole) or 1.0)


def _overlaps(pair: Pair) -> _Traits:
    old, new = frozenset(pair.old.told), frozenset(pair.new.told)
    people = pair.old.people | pair.new.people | lexicon().bland
    plain_old, plain_new = set(pair.old.plain.split()), set(pair.new.plain.split())
    yield "shared", len(pair.shared)
    yield "shared of old", _share(pair.shared, old)
    yield "shared of new", _share(pair.shared, new)
    yield "things", len(pair.things)
    yield "rarity of things", _weight(pair.things)
    yield "things of old", _share(pair.things, old - people)
    yield "things of new", _share(pair.things, new - people)
    yield "rarest noun", max((_rarity(word) for word in pair.things if _is_noun(word)), default=0.0)
    yield "verb shared", any(word in lexicon().verbs for word in pair.things)
    yield "only beside other nouns", _only_beside(pair)
    yield "length of old", len(old)
    yield "length of new", len(new)
    yield "last word kept", bool(pair.old.told) and pair.old.told[-1] in new
    first = next((word for word in pair.old.told if word not in people), "")
    yield "first thing kept", first in new
    yield "all words", len(plain_old & plain_new) / len(plain_old | plain_new)


def _is_noun(word: str) -> bool:
    known = lexicon()
    return not (
        word in known.verbs or word in known.bland or word in known.times or is_number(word)
    )


def _only_beside(pair: Pair) -> bool:
    """Whether all that both name is in the new one only part of another thing's name ("coffee machine", "boiler man")."""
    names = pair.old.names | pair.new.names
    if not names.isdisjoint(pair.shared - pair.old.people.intersection(pair.old.lead)):
        return False
    nouns = [word for word in pair.things if _is_noun(word)]
    words = [word.canon for word in pair.new.words if word.text not in _PARTICLES]
    following = {word: after for word, after in pairwise(words) if word in nouns}
    return bool(nouns) and all(
        (after := following.get(word)) is not None and after in pair.come and _is_noun(after)
        for word in nouns
    )


_PARTICLES = frozenset("back up off out away over down".split())  # noqa: SIM905


def _kinds(pair: Pair) -> _Traits:
    times, names = lexicon().times, pair.old.names | pair.new.names
    tests = {
        "number": is_number,
        "time": lambda word: word in times and not is_number(word),
        "name": lambda word: word in names,
        "thing": lambda word: _is_noun(word) and word not in names,
    }
    for kind, is_one in tests.items():
        gone, come, kept = (
            sum(map(is_one, words)) for words in (pair.gone, pair.come, pair.shared)
        )
        yield f"{kind} gone", gone
        yield f"{kind} come", come
        yield f"{kind} kept", kept
        yield f"{kind} for another", bool(gone and come)


def _people(pair: Pair) -> _Traits:
    old, new = pair.old, pair.new
    lead, others = set(new.lead), new.people - old.people
    known = set(old.told)
    yield "people kept", len(old.people & new.people)
    yield "people gone", len(old.people - new.people)
    yield "people come", len(others)
    yield "lead kept", len(set(old.lead) & set(new.told)) / (len(set(old.lead)) or 1)
    yield "lead known", len(lead & known) / (len(lead) or 1)
    yield "lead", len(lead)
    yield "same lead", set(old.lead) == lead
    yield "same who does it", old.lead[-1:] == new.lead[-1:]
    yield "value does it", bool(old.told) and bool(new.lead) and new.lead[-1] == old.told[-1]
    yield "other does it", bool(lead & others) and not lead & old.people
    yield "other instead", bool(lead & others) and bool(old.people) and not old.people & new.people
    yield "other's", bool(new.owners & others)
    yield "theirs is new", bool(new.owners & known) and not lead <= known
    yield "ours in old", old.is_ours
    yield "ours in both", old.is_ours and new.is_ours
    yield "ours first in both", old.is_led_by_us and new.is_led_by_us
    yield "ours, then another's", old.is_led_by_us and bool(lead & new.people)
    yield "pronoun", new.has_pronoun
    subjects = list(
        product((each.subject for each in old.readings), (each.subject for each in new.readings))
    )
    yield "same subject", any(is_of_same_subject(*each) for each in subjects)
    yield "same first subject", bool(subjects) and is_of_same_subject(*subjects[0])


def _cues(pair: Pair) -> _Traits:
    for kind in cue_patterns():
        yield f"new: {kind}", kind in pair.new.cues
        yield f"old: {kind}", kind in pair.old.cues
    for kind in _PLACED:
        yield f"{kind} beside", _beside(pair, kind)
    for flag in _OF_NEW:
        yield f"new {flag}", any(getattr(each, flag) for each in pair.new.readings)
    for flag in _OF_OLD:
        yield f"old {flag}", any(getattr(each, flag) for each in pair.old.readings)
    yield "denied otherwise", float("denied" in pair.new.cues) - float("denied" in pair.old.cues)
    yield "clauses", len(pair.new.readings)
    replaced = {word for each in pair.new.readings for word in each.replaced}
    known = set(pair.old.told)
    yield "succeeded", any(each.succeeded and each.succeeded <= known for each in pair.new.readings)
    yield "replaced", len(replaced & set(pair.old.told)) / (len(replaced) or 1)


def _beside(pair: Pair, kind: str) -> float:
    """Return 2 where what is shared follows a cue, and 1 more where it stands before it."""
    found = pair.new.cues.get(kind)
    if found is None:
        return 0.0
    after = map(canon_of, pair.new.plain[found.end() :].split()[:_AFTER])
    before = map(canon_of, pair.new.plain[: found.start()].split()[-_BEFORE:])
    return 2.0 * (not pair.things.isdisjoint(after)) + float(not pair.shared.isdisjoint(before))


def _slots(pair: Pair) -> _Traits:
    both = list(product(pair.old.readings, pair.new.readings))
    same = [(old, new) for old, new in both if is_about_the_same(old, new)]
    yield "same slot", any(old.is_known for old, _ in same)
    yield "same single slot", any(old.is_single for old, _ in same)
    yield "same value", any(old.value and has_same_value(old, new) for old, new in same)
    yield (
        "other slot",
        any(old.is_known and new.is_known and (old, new) not in same for old, new in both),
    )
    yield "old of one value", any(each.is_known and each.is_single for each in pair.old.readings)
    yield "old of many", any(each.is_known and not each.is_single for each in pair.old.readings)
    yield "old tells a state", not _STATES.isdisjoint(word.canon for word in pair.old.words)
    yield "old tells an event", _tells_event(pair.old)


_STATES = frozenset(("be", "have"))


def _tells_event(said: Wording) -> bool:
    """Whether a statement tells of what happened ("Nils turned six"), not of how things are."""
    known = lexicon()
    return (
        any(
            word.text in known.past_forms
            or (word.text.endswith("ed") and word.canon in known.verbs)
            for word in said.words
        )
        and not any(word.text in _PRESENT for word in said.words)
        and "'s " not in said.plain
    )


_PRESENT = frozenset("is are am has have does do".split())  # noqa: SIM905
