"""Candidates of all kinds side by side, scored on the same scales. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from kinkeeper.memory.finding.candidates import Candidates
from kinkeeper.memory.finding.clues import Asked
from kinkeeper.memory.finding.diversity import ALIKE, without_repeats
from kinkeeper.memory.finding.fusion import Scores, context_order
from kinkeeper.memory.finding.gate import relevance
from kinkeeper.memory.finding.legs import CONFIDENCE, DENSE, DENSE_CONTEXT, PLAIN, RECENCY
from kinkeeper.memory.finding.ranker import ranked
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.finding.visible_results import Hit, HitKind, Key
from kinkeeper.memory.statement_match import own_voice
from kinkeeper.models.embedding.calibration import Calibration
from kinkeeper.models.embedding.embedder import Vectors

_DIGITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What may answer a query, of all kinds.

    Attributes:
        keys: Which rows.
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
        """Return what candidates mean, where that is known.

        Args:
            places: Of candidates.
        """
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
    )  # fmt: skip


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
    # "I love jazz" is something else from another's mouth.
    voices = np.array([own_voice(hit.text, hit.speaker) for hit in hits])
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
