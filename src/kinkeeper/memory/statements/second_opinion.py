"""A second look at two statements: traits of the pair in numbers, and small trees fitted on them. Pure.

Small trees over traits of the pair (`pair_traits`), fitted on our own pairs (training/fit_relations.py). They
add to the rules only where they are sure, and what must never be is barred before they are asked: that another's
words outdate what is somebody's, or that what differs in number, name or denial counts as a repetition.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import as_file, files
from itertools import pairwise, product

import numpy as np

from kinkeeper.language.dictionary import word_ranks
from kinkeeper.memory.forest import Forest
from kinkeeper.memory.statements.canonical_words import canon_of, lexicon
from kinkeeper.memory.statements.comparison import (
    Wording,
    cue_patterns,
    has_same_value,
    is_about_the_same,
    is_number,
    is_of_same_subject,
    wording_of,
)

# What may tell how two statements relate, in numbers that no single word of theirs is in. Pure.

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
    """Return two statements as a pair."""
    one, other = frozenset(old.told), frozenset(new.told)
    shared = one & other
    nobody = shared - old.people - new.people - lexicon().bland
    return Pair(old, new, shared, one - other, other - one, nobody)


def traits_of(pair: Pair) -> Traits:
    """Return what may tell how two statements relate, by name."""
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


UPDATE, SAME, OPEN = "update", "same", "open"
FOREST_FILES = {UPDATE: "relation_update.npz", SAME: "relation_same.npz", OPEN: "relation_open.npz"}
"""Of `OPEN` also how alike the meanings are counts: it tells which updates to ask about."""

LIKENESS = "likeness"

SURE = {UPDATE: 0.7, SAME: 0.9}
"""From this chance on a relation is taken for found where the rules see none."""

UNLIKELY = 0.2
"""An update that the rules see is none below this chance."""

_EQUAL_FLAGS = ("is_hypothetical", "is_past", "is_retraction", "is_negative")
_EQUAL_CUES = ("over", "again", "former", "thought")
_BARRING = (
    "only beside other nouns",
    "new is_added",
    "new is_hypothetical",
    "old is_hypothetical",
    "old: thought",
    "old: former",
    "old is_past",
    "old is_retraction",
    "new: former",
)
_SOUND = (
    "same single slot",
    "new is_again",
    "new is_able",
    "new is_retraction",
    "old is_retraction",
    "succeeded",
)
_OURSELVES = frozenset(("i", "me", "my", "we", "us"))
_EXCHANGED = ("number for another", "time for another", "name for another")
_OF_ANOTHER = ("same single slot", *_EXCHANGED)


def found_by_traits(old: str, new: str) -> str | None:
    """Return how two statements relate, `UPDATE` or `SAME`, where their traits leave little doubt; else None.

    Args:
        new: What is said now, by the same person.
    """
    pair = side_by_side(wording_of(old), wording_of(new))
    if not pair.shared:
        return None
    traits = traits_of(pair)
    if may_repeat(pair, traits) and chance_of(SAME, traits) >= SURE[SAME]:
        return SAME
    if may_outdate(pair, traits) and chance_of(UPDATE, traits) >= SURE[UPDATE]:
        return UPDATE
    return None


def is_unlikely_update(old: str, new: str) -> bool:
    """Whether the traits of two statements speak against an update that the rules see.

    Args:
        new: What is said now, by the same person.
    """
    traits = traits_of(side_by_side(wording_of(old), wording_of(new)))
    return may_be_doubted(traits) and chance_of(UPDATE, traits) < UNLIKELY


def may_be_doubted(traits: Traits) -> bool:
    """Whether an update that the rules see rests on less than one slot with one value, or an end told as one, taken back or named."""
    return traits["replaced"] < 1 and not any(traits[each] for each in _SOUND)


def may_outdate(pair: Pair, traits: Traits) -> bool:
    """Whether the new one may end or change what the old one tells: it must be of more than the same person."""
    if any(traits[each] for each in _BARRING) or _is_done_by_relative(pair):
        return False
    # That another name, or another value of the slot, is no more was read by the rules already.
    if traits["new is_retraction"] and any(traits[each] for each in _OF_ANOTHER):
        return False
    known = lexicon()
    of_whom = pair.old.people.intersection(pair.old.lead)
    told = {word for word in pair.shared - of_whom if word not in known.bland}
    nouns = {word for word in told - known.verbs if word not in known.times and not is_number(word)}
    return bool(nouns) or (bool(told) and any(traits[each] for each in _EXCHANGED))


def _is_done_by_relative(pair: Pair) -> bool:
    """Whether the new one tells what somebody of theirs does ("Sunniva's nan has given up driving")."""
    who = pair.new.lead[-1] if pair.new.lead else ""
    is_somebody = who in pair.new.people and who not in pair.old.lead
    return is_somebody and not pair.new.owners.isdisjoint(pair.old.told)


def may_repeat(pair: Pair, traits: Traits) -> bool:
    """Whether two statements may tell the same: of the same people, with the same numbers, denied or not."""
    if any(
        traits[each]
        for each in ("people gone", "people come", "number come", "denied otherwise", *_EXCHANGED)
    ):
        return False
    if any(traits[each] for each in ("new is_change", "new is_added", "new: once")):
        return False
    if _is_of_one_alone(pair) or _excludes(pair) or _is_turned_round(pair):
        return False
    if any(traits[f"old {flag}"] != traits[f"new {flag}"] for flag in _EQUAL_FLAGS):
        return False
    return all((cue in pair.old.cues) == (cue in pair.new.cues) for cue in _EQUAL_CUES)


def _is_of_one_alone(pair: Pair) -> bool:
    """Whether but one of both speaks of its speaker; "our maid" is "the maid" of whoever says it."""
    ours = pair.old if pair.old.is_ours else pair.new
    is_only_ours = pair.old.is_ours != pair.new.is_ours
    return is_only_ours and not _OURSELVES.isdisjoint(word.text for word in ours.words)


def _excludes(pair: Pair) -> bool:
    """Whether one says "on" or "big" where the other says "off" or "small"."""
    old, new = ({word.canon for word in each.words} for each in (pair.old, pair.new))
    opposites = lexicon().opposites
    return any(not opposites.get(word, frozenset()).isdisjoint(new - old) for word in old - new)


def _is_turned_round(pair: Pair) -> bool:
    """Whether both have the same words but another one first ("the dog chases the cat")."""
    old, new = pair.old.told, pair.new.told
    return set(old) == set(new) and old[:1] != new[:1]


def chance_of(relation: str, traits: Traits) -> float:
    """Return how likely two statements relate so, between 0 and 1.

    Args:
        relation: `UPDATE` or `SAME`; `OPEN` for an update, with `LIKENESS` among the traits.
    """
    forest = _forests()[relation]
    row = np.array([[traits[name] for name in forest.columns]], np.float32)
    return 1.0 / (1.0 + math.exp(-float(forest.scores(row)[0])))


@cache
def _forests() -> Mapping[str, Forest]:
    found = {}
    for relation, name in FOREST_FILES.items():
        with as_file(files(__package__).joinpath("data", name)) as path:
            found[relation] = Forest.load(path)
    return found
