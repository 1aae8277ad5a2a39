"""What answers a query best: a weighted sum of legs, corrected by what was learned from labelled talk. Pure."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinkeeper.memory.finding.clues import Asked
from kinkeeper.memory.finding.fusion import Scores
from kinkeeper.memory.finding.legs import (
    DATE,
    DENSE,
    DENSE_CONTEXT,
    LEXICAL,
    OWN,
    PLAIN,
    SPEAKER,
)
from kinkeeper.memory.finding.traits import Trait
from kinkeeper.memory.finding.wants import Want
from kinkeeper.memory.forest import Forest

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
