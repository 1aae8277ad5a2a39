"""Candidates of all kinds side by side: what answers best, what bears on the query at all, each only once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinkeeper.memory.finding.candidates import (
    CONFIDENCE,
    DATE,
    DENSE,
    DENSE_CONTEXT,
    LEXICAL,
    OWN,
    PLAIN,
    RECENCY,
    SPEAKER,
    Asked,
    Candidates,
    Scores,
    context_order,
)
from kinkeeper.memory.finding.shelf import Trait
from kinkeeper.memory.finding.signals import Want
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.finding.visible_results import Hit, HitKind, Key
from kinkeeper.memory.forest import Forest
from kinkeeper.memory.statement_match import own_voice
from kinkeeper.models.embedding.calibration import Calibration
from kinkeeper.models.embedding.embedder import Vectors
from kinkeeper.reading.second_thoughts import is_negated

# Whether what was found bears on the query at all. Pure.

FORESEEN = 0.02
"""Relevance from which a hit of what whole turns call for is one: of all they say, what was said before shares little."""

_STEEPNESS, _HALF = 12.0, 0.35
# What words and meaning have in sum seldom goes as high as one of them may. Quantiles of first hits: the sum, and
# what it counts as, so that a threshold lets through as much whether or not meaning is compared
# (training/fit_relevance.py). The first and last are the least and most there can be.
_SUMS = (-16.0, -4.7, -3.8, -2.4, -1.6, -0.6, 0.5, 2.4, 4.5, 14.2)
_COUNTS_AS = (-4.2, -1.2, -0.4, 0.8, 1.5, 2.0, 2.6, 3.3, 3.9, 7.8)


def relevance(
    words: Scores, most: float, cosines: Scores | None, calibration: Calibration | None
) -> Scores:
    """Return the chance that texts bear on a query, in [0, 1].

    Words and meaning are two witnesses: their log odds add up, so what has only one of them counts less
    than what has both.

    Args:
        words: Score of each text by the query's words, names left out.
        most: The highest score such a query can have.
        cosines: Of each text to the query, 0 where its meaning is not known; None where nothing tells.
        calibration: What cosines mean; None where nothing tells.
    """
    share = words / most if most else np.zeros_like(words)
    log_odds = by_words(share)
    if cosines is not None and calibration is not None:
        both = np.interp(log_odds + calibration.log_odds(cosines), _SUMS, _COUNTS_AS)
        log_odds = np.where(cosines == 0, log_odds, both)
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def by_words(share: Scores) -> Scores:
    """Return log odds that texts bear on a query, by its words alone.

    Args:
        share: Of the highest score, in [0, 1].
    """
    return _STEEPNESS * (share - _HALF)


# Of texts that say the same, one. Pure.

ALIKE = 0.8
"""Likeness from which two texts say the same."""


def without_repeats(likeness: NDArray[np.floating], confidences: NDArray[np.floating]) -> list[int]:
    """Return which texts to keep, in their order: of each cluster the most confident one.

    A cluster forms around its best text: whatever is like it belongs to it, unless it already belongs
    to a better one. The text kept takes the place of the cluster's best.

    Args:
        likeness: Calibrated, in [0, 1], symmetric, of texts in the order of their worth, best first.
        confidences: In [0, 1], as many.
    """
    kept: list[int] = []
    is_left = np.ones(len(confidences), np.bool_)
    for first in range(len(confidences)):
        if not is_left[first]:
            continue
        is_alike = is_left & (likeness[first] >= ALIKE)
        is_alike[first] = True
        cluster = np.flatnonzero(is_alike)
        kept.append(int(cluster[np.argmax(confidences[cluster])]))
        is_left &= ~is_alike
    return kept


BY_WORDS, BY_MEANING = "by_words", "by_meaning"

_WEIGHTS = {LEXICAL: 0.5, PLAIN: 1.5, DENSE: 1.0, DENSE_CONTEXT: 1.0, SPEAKER: 0.5, DATE: 0.6}
_SHARED = (LEXICAL, PLAIN, OWN, DENSE, DENSE_CONTEXT)
_ASKS, _FITS = -0.3, 0.1
"""A text that asks is seldom the answer; one that has what is asked for may be."""
_SCALE = 4.0
_WANTED = {
    Trait.TIMES: (Want.WHEN, Want.HOW_LONG),
    Trait.NUMBERS: (Want.HOW_MANY, Want.HOW_LONG),
    Trait.NAMES: (Want.WHO, Want.NAME),
    Trait.PLACES: (Want.WHERE,),
    Trait.REASONS: (Want.WHY,),
}
_FITTING = (Trait.TIMES, Trait.NUMBERS, Trait.NAMES, Trait.PLACES)


def ranked(legs: Mapping[str, Scores], clues: Mapping[str, Scores], asked: Asked) -> Scores:
    """Return scores by which what answers a query best comes first.

    Args:
        legs: Scores by leg, each of shape (candidates,).
        clues: By name, of the same shape.
        asked: What the query is like.
    """
    kind = BY_MEANING if DENSE in legs else BY_WORDS
    forest = shipped_forests()[kind]
    columns = features(legs, clues, asked)
    # A leg that none of the searched kinds has (facts have no neighbours) says nothing.
    nothing = np.zeros(len(legs[LEXICAL]))
    rows = np.stack([columns.get(name, nothing) for name in forest.columns], axis=1)
    return presumed(legs, clues, asked) + forest.scores(rows.astype(np.float32))


def presumed(legs: Mapping[str, Scores], clues: Mapping[str, Scores], asked: Asked) -> Scores:
    """Return the weighted sum of legs, before anything learned; arguments as for `ranked`."""
    total = np.sum(
        [
            weight * (shares(legs[name]) if name in _SHARED else legs[name])
            for name, weight in _WEIGHTS.items()
            if name in legs
        ],
        axis=0,
    )
    fits = [_fit(trait, clues, asked) for trait in _FITTING]
    found: Scores = _SCALE * (
        total + _ASKS * clues[Trait.ENDS_ASKING.name] + _FITS * np.sum(fits, axis=0)
    )
    return found


def features(
    legs: Mapping[str, Scores], clues: Mapping[str, Scores], asked: Asked
) -> dict[str, Scores]:
    """Return all that is learned from, by name; arguments as for `ranked`."""
    found = {f"{name}_share": shares(legs[name]) for name in _SHARED if name in legs}
    found |= {name: legs[name] for name in (SPEAKER, DATE, DENSE, DENSE_CONTEXT) if name in legs}
    found |= clues
    found |= {f"fit_{trait.name}": _fit(trait, clues, asked) for trait in _WANTED}
    size = len(legs[LEXICAL])
    of_query = {f"want_{want.name}": float(asked.wants[want]) for want in Want}
    of_query |= {"terms": asked.terms, "rarity": asked.rarity, "names": asked.names}
    return found | {name: np.full(size, value) for name, value in of_query.items()}


def shares(scores: Scores) -> Scores:
    """Return scores as shares of the highest; none is below 0.

    Args:
        scores: Of any scale on which 0 says nothing.
    """
    kept = np.maximum(scores, 0.0)
    return kept / (kept.max(initial=0.0) or 1.0)


@cache
def shipped_forests() -> Mapping[str, Forest]:
    """Return what was learned, without and with meaning; read once."""
    folder = Path(str(files("kinkeeper.memory.finding") / "data"))
    return {kind: Forest.load(folder / f"ranker_{kind}.npz") for kind in (BY_WORDS, BY_MEANING)}


def _fit(trait: Trait, clues: Mapping[str, Scores], asked: Asked) -> NDArray[np.float64]:
    is_wanted = any(asked.wants[want] for want in _WANTED[trait])
    return clues[trait.name] * float(is_wanted)


# Candidates of all kinds side by side, scored on the same scales. Pure.

_DIGITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What may answer a query, of all kinds.

    Attributes:
        legs: Scores by leg, each of shape (candidates,).
        clues: What else tells, by name, of the same shape.
        asked: What the query is like.
        relevances: Chance that each bears on the query: shape (candidates,).
        meanings: What each means: shape (dimension,), 0 where that is not known; None where it was not compared.
    """

    keys: Sequence[Key]
    legs: Mapping[str, Scores]
    clues: Mapping[str, Scores]
    asked: Asked
    relevances: Scores
    meanings: Sequence[Vectors | None]

    def by_relevance(self) -> Scores:
        """Return scores by which what answers the query best comes first."""
        return ranked(self.legs, self.clues, self.asked)

    def for_context(self) -> Scores:
        """Return scores by which what serves a context best comes first."""
        return context_order(self.relevances, self.legs[CONFIDENCE], self.legs[RECENCY])

    def meanings_of(self, places: Iterable[int]) -> dict[Key, Vectors]:
        """Return what candidates mean, where that is known."""
        found = {self.keys[place]: self.meanings[place] for place in places}
        return {
            key: meaning for key, meaning in found.items() if meaning is not None and meaning.any()
        }


def pooled(found: Sequence[tuple[HitKind, Candidates]], calibration: Calibration | None) -> Pool:
    """Put candidates side by side.

    Args:
        found: With their kinds, at least one.
        calibration: What cosines mean; None where meaning was not compared.
    """
    keys = [Key(kind, row_id) for kind, some in found for row_id in some.ids]
    names = {name for _, some in found for name in some.legs}
    return Pool(
        keys=keys,
        legs={name: np.concatenate([_leg(some, name) for _, some in found]) for name in names},
        clues={
            name: np.concatenate([_clue(some, name) for _, some in found])
            for name in {name for _, some in found for name in some.clues}
        },
        asked=found[0][1].asked,
        relevances=np.concatenate([_relevances(some, calibration) for _, some in found]),
        meanings=[
            meaning
            for _, some in found
            for meaning in (repeat(None, len(some.ids)) if some.meanings is None else some.meanings)
        ],
    )


def distinct(
    hits: Sequence[Hit], vectors: Mapping[Key, Vectors], calibration: Calibration | None
) -> list[Hit]:
    """Return hits without those that say what another one says; order is kept.

    Of those that say the same of the same in the same words the most confident one is kept. Sentences about one
    thing or person are alike in meaning, and each may hold what is asked for. An episode that says what
    a fact resting on it says makes room for the fact.

    Args:
        hits: Best first.
        vectors: What they mean, where known; otherwise their words tell whether they say the same.
        calibration: What cosines mean; None where meaning was not compared.
    """
    likeness = _likeness(hits, vectors, calibration)
    if np.count_nonzero(likeness >= ALIKE) <= len(hits):
        return [*hits]
    # "I love jazz" is something else from another's mouth, and "I do not love jazz" from anybody's.
    voices = np.array(
        [f"{own_voice(hit.text, hit.speaker)} {is_negated(hit.text)}" for hit in hits]
    )
    alike = np.where(np.equal.outer(voices, voices), np.minimum(likeness, _overlaps(hits)), 0.0)
    kept: set[int] = set()
    for kind in HitKind:
        places = [place for place, hit in enumerate(hits) if hit.kind is kind]
        # What minutes of silence take makes nothing less sure.
        confidences = np.round([hits[place].confidence for place in places], _DIGITS)
        own = alike[np.ix_(places, places)]
        kept |= {places[place] for place in without_repeats(own, confidences)}
    told = {
        (episode, place)
        for place in kept
        if hits[place].kind is HitKind.FACT
        for episode in hits[place].provenance
    }
    retold = {
        place
        for place in kept
        if hits[place].kind is HitKind.EPISODE
        and any(
            episode == hits[place].id and likeness[place, fact] >= ALIKE for episode, fact in told
        )
    }
    return [hits[place] for place in sorted(kept - retold)]


def _leg(some: Candidates, name: str) -> Scores:
    if name in some.legs:
        return some.legs[name]
    # A fact stands alone: what it means with its neighbours is what it means.
    return some.legs.get(DENSE, np.zeros(len(some.ids)))


def _clue(some: Candidates, name: str) -> Scores:
    return some.clues.get(name, np.zeros(len(some.ids)))


def _relevances(some: Candidates, calibration: Calibration | None) -> Scores:
    cosines = [some.legs[leg] for leg in (DENSE, DENSE_CONTEXT) if leg in some.legs]
    return relevance(
        some.legs[PLAIN], some.most, np.max(cosines, axis=0) if cosines else None, calibration
    )


def _likeness(
    hits: Sequence[Hit], vectors: Mapping[Key, Vectors], calibration: Calibration | None
) -> NDArray[np.float64]:
    known = [place for place, hit in enumerate(hits) if hit.key in vectors]
    likeness = np.eye(len(hits))
    if calibration is None or len(known) < len(hits):
        likeness = _overlaps(hits)
    if calibration is not None and known:
        rows = np.stack([vectors[hits[place].key] for place in known])
        likeness[np.ix_(known, known)] = calibration.likeness(rows @ rows.T)
    return likeness.reshape(len(hits), len(hits))


def _overlaps(hits: Sequence[Hit]) -> NDArray[np.float64]:
    """Return which share of their words two texts have in common; 1 of two that have none."""
    said = [{*stems(hit.text)} for hit in hits]
    column = {stem: place for place, stem in enumerate(sorted(set().union(*said)))}
    holds = np.zeros((len(hits), len(column)), np.float32)
    for row, own in enumerate(said):
        holds[row, [column[stem] for stem in own]] = 1
    common = (holds @ holds.T).astype(np.float64)
    sizes = np.array([len(own) for own in said], np.float64)
    either = sizes[:, None] + sizes[None, :] - common
    return np.where(either > 0, common / np.maximum(either, 1), 1.0)
