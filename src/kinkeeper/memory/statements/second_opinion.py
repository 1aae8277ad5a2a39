"""A second look at two statements: where the rules see nothing between them, or an update in unlikely company. Pure.

Small trees over traits of the pair (`pair_traits`), fitted on our own pairs (training/fit_relations.py). They
add to the rules only where they are sure, and what must never be is barred before they are asked: that another's
words outdate what is somebody's, or that what differs in number, name or denial counts as a repetition.
"""

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import as_file, files

import numpy as np

from kinkeeper.memory.forest import Forest
from kinkeeper.memory.statements.canonical_words import lexicon
from kinkeeper.memory.statements.freely import is_number
from kinkeeper.memory.statements.pair_traits import Pair, Traits, side_by_side, traits_of
from kinkeeper.memory.statements.surface_cues import wording_of

UPDATE, SAME, OPEN = "update", "same", "open"
FOREST_FILES = {
    UPDATE: "relation_update.npz", SAME: "relation_same.npz", OPEN: "relation_open.npz",
}  # fmt: skip
"""Of `OPEN` also how alike the meanings are counts: it tells which updates to ask about."""

LIKENESS = "likeness"

SURE = {UPDATE: 0.7, SAME: 0.9}
"""From this chance on a relation is taken for found where the rules see none."""

UNLIKELY = 0.2
"""An update that the rules see is none below this chance."""

_EQUAL_FLAGS = ("is_hypothetical", "is_past", "is_retraction", "is_negative")
_EQUAL_CUES = ("over", "again", "former", "thought")
_BARRING = (
    "only beside other nouns", "new is_added", "new is_hypothetical", "old is_hypothetical", "old: thought", "old: former",
    "old is_past", "old is_retraction", "new: former",
)  # fmt: skip
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
        old: What was said.
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
        old: What was said.
        new: What is said now, by the same person.
    """
    traits = traits_of(side_by_side(wording_of(old), wording_of(new)))
    return may_be_doubted(traits) and chance_of(UPDATE, traits) < UNLIKELY


def may_be_doubted(traits: Traits) -> bool:
    """Whether an update that the rules see rests on less than one slot with one value, or an end told as one, taken back or named.

    Args:
        traits: Of the pair.
    """
    return traits["replaced"] < 1 and not any(traits[each] for each in _SOUND)


def may_outdate(pair: Pair, traits: Traits) -> bool:
    """Whether the new one may end or change what the old one tells: it must be of more than the same person.

    Args:
        pair: The two.
        traits: Theirs.
    """
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
    """Whether two statements may tell the same: of the same people, with the same numbers, denied or not.

    Args:
        pair: The two.
        traits: Theirs.
    """
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
        traits: Of the pair.
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
