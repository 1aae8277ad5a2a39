"""What a query may mean, gathered from both legs: each candidate with its scores and clues."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from kinkeeper.memory.finding.arrays import Slots
from kinkeeper.memory.finding.lexical_index import TermMatches
from kinkeeper.memory.finding.shelf import Admission, Shelf, Trait
from kinkeeper.memory.finding.signals import Period, is_within, recency, wants_of
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.finding.vectors import VectorKind, vectors_in_order
from kinkeeper.models.embedding.embedder import Vectors

# Names of what a candidate is scored by.

LEXICAL, PLAIN, OWN = "lexical", "lexical_plain", "lexical_own"
"""By the query's words with those around a text; without names; by the text's own words alone."""

DENSE, DENSE_CONTEXT = "dense", "dense_context"
"""By meaning of a text; of it with what was said before."""

SPEAKER, DATE, RECENCY, CONFIDENCE = "speaker", "date", "recency", "confidence"


# In which order memories stand in a context. Pure.

Scores = NDArray[np.float64]
"""One number a text."""

_SIMILARITY, _CONFIDENCE, _RECENCY = 0.6, 0.3, 0.1


def context_order(similarity: Scores, confidence: Scores, recency: Scores) -> Scores:
    """Return what memories in a context are ordered by.

    Args:
        similarity: Calibrated, in [0, 1].
        confidence: In [0, 1].
        recency: In [0, 1].
    """
    return _SIMILARITY * similarity + _CONFIDENCE * confidence + _RECENCY * recency


# What tells beside the legs which candidates answer: shares of the query held, and what the texts
# are like.

OWN_SHARE, MATCHED, RAREST, WINDOW_SHARE = "own_share", "matched", "rarest", "window_share"
PLAIN_OF_MOST, OWN_OF_MOST, AFTER_QUESTION = "plain_of_most", "own_of_most", "after_question"
_SHARES = (OWN_SHARE, "before_share", "second_before_share", "after_share")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a query is like.

    Attributes:
        wants: Which kinds of answers it wants: shape (kinds,).
        terms: How many stems it has that are known and name nobody.
        names: How many words of it name somebody who speaks.
    """

    wants: NDArray[np.bool_]
    terms: int
    rarity: float
    names: int


def asked(text: str, matches: TermMatches, is_name: NDArray[np.bool_]) -> Asked:
    """Return what a query is like.

    Args:
        matches: How its terms occur.
        is_name: Whether each names somebody who speaks: shape (terms,).
    """
    rarities = matches.rarity[~is_name]
    return Asked(
        wants=wants_of(text),
        terms=len(rarities),
        names=int(is_name.sum()),
        rarity=float(rarities.mean()) if len(rarities) else 0.0,
    )


def clues(
    shelf: Shelf, slots: Slots, matches: TermMatches, *, is_name: NDArray[np.bool_], most: float
) -> dict[str, Scores]:
    """Return clues by name, each of shape (candidates,).

    Args:
        matches: How the query's terms occur in them.
        is_name: Whether each term names somebody who speaks: shape (terms,).
        most: The highest score such a query can have.
    """
    held = matches.counts[:, :, ~is_name] > 0
    rarity = matches.rarity[~is_name].astype(np.float64)
    total = float(rarity.sum()) or 1.0
    shares = held @ rarity / total
    own = matches.own_scores[:, ~is_name].sum(axis=1, dtype=np.float64)
    plain = matches.scores[:, ~is_name].sum(axis=1, dtype=np.float64)
    found: dict[str, Scores] = dict(zip(_SHARES, shares, strict=True))
    found[WINDOW_SHARE] = held.any(axis=0) @ rarity / total
    found[MATCHED] = held[0].sum(axis=1).astype(np.float64)
    found[RAREST] = (held[0] * rarity).max(axis=1, initial=0.0) / (rarity.max(initial=0.0) or 1.0)
    found[OWN_OF_MOST], found[PLAIN_OF_MOST] = own / (most or 1.0), plain / (most or 1.0)
    traits = shelf.traits(slots)
    found |= {trait.name: traits[:, trait].astype(np.float64) for trait in Trait}
    before = shelf.traits(shelf.words.before(slots))
    found[AFTER_QUESTION] = before[:, Trait.ENDS_ASKING].astype(np.float64)
    return found


def of_neighbours(scores: Mapping[str, Scores], shelf: Shelf, slots: Slots) -> dict[str, Scores]:
    """Return what the texts before and after have on each leg; 0 of those that are no candidates.

    Args:
        scores: By leg, each of shape (candidates,).
        slots: Their places, in rising order.
    """
    found: dict[str, Scores] = {}
    for side, beside in (
        ("before", shelf.words.before(slots)),
        ("after", shelf.words.after(slots)),
    ):
        places = np.minimum(np.searchsorted(slots, beside), max(len(slots) - 1, 0))
        is_here = slots[places] == beside
        found |= {
            f"{name}_{side}": np.where(is_here, values[places], 0.0)
            for name, values in scores.items()
        }
    return found


_BY_WORDS, _BY_MEANING = 100, 50
_MOST_TERMS = 40
_TOLD_BESIDE = (PLAIN, DENSE)
_LEG_OF = {VectorKind.EPISODE: DENSE, VectorKind.FACT: DENSE, VectorKind.CONTEXT: DENSE_CONTEXT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query, ready to be looked up on a shelf.

    Attributes:
        vector: What it means: shape (dimension,); None where nothing tells.
        model: Whose vector; "" where there is none.
        periods: The times it names.
        admission: What may be found.
    """

    text: str
    vector: Vectors | None
    model: str
    periods: Sequence[Period]
    admission: Admission


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What may answer a query.

    Attributes:
        asked: What the query is like.
        most: The score of a text that holds each of the query's stems but names, known here or not.
        legs: Scores by leg, each of shape (candidates,).
        clues: What else tells, by name, of the same shape.
        meanings: What each means by itself: shape (candidates, dimension), 0 where that is not known; None
            where meaning was not compared.
    """

    ids: Sequence[str]
    asked: Asked
    most: float
    legs: Mapping[str, Scores]
    clues: Mapping[str, Scores]
    meanings: Vectors | None


def gather(
    conn: Connection, household: str, shelf: Shelf, question: Question, *, names: frozenset[str]
) -> Candidates:
    """Return what may answer a query: the best of each leg, all with the scores of all legs.

    Args:
        names: Words of the query that name somebody who speaks.
    """
    query = _Query(shelf, question, names)
    is_allowed = shelf.admitted(question.admission)
    slots, _ = shelf.words.search(query.numbers, limit=_BY_WORDS, is_allowed=is_allowed)
    found = [slots]
    if question.vector is not None:
        found += [
            index.search(question.vector, limit=_BY_MEANING, is_allowed=is_allowed)
            for index in shelf.vectors.values()
        ]
    slots = np.unique(np.concatenate(found))
    ids, matches = shelf.ids(slots), shelf.words.matches(query.numbers, slots)
    legs = _word_legs(matches, query.is_name)
    meanings: Vectors | None = None
    if question.vector is not None:
        for kind, index in shelf.vectors.items():
            vectors = index.kept(slots)
            if vectors is None:
                vectors = vectors_in_order(
                    conn,
                    household,
                    question.model,
                    kind=kind,
                    ids=ids,
                    dimension=len(question.vector),
                )
            legs[_LEG_OF[kind]] = (vectors @ question.vector).astype(np.float64)
            if meanings is None or not meanings.any():
                meanings = vectors
    told = clues(shelf, slots, matches, is_name=query.is_name, most=query.most)
    beside = of_neighbours(
        {name: legs[name] for name in _TOLD_BESIDE if name in legs}, shelf, slots
    )
    return Candidates(
        ids=ids,
        asked=asked(question.text, matches, query.is_name),
        most=query.most,
        legs=legs | _signals(shelf, slots, question, names),
        clues=told | beside,
        meanings=meanings,
    )


class _Query:
    """A query's stems as a shelf knows them, the rarest where there are many."""

    def __init__(self, shelf: Shelf, question: Question, names: frozenset[str]) -> None:
        name_stems = {stem for name in names for stem in stems(name)}
        wanted = [*dict.fromkeys(stems(question.text))]
        number_of = shelf.words.vocabulary.known(question.text)
        rarities = shelf.words.rarities([*number_of.values()])
        kept = sorted(range(len(number_of)), key=lambda place: -rarities[place])[:_MOST_TERMS]
        terms = [[*number_of][place] for place in kept]
        self.numbers = [number_of[term] for term in terms]
        self.is_name = np.array([term in name_stems for term in terms], np.bool_)
        unknown = [stem for stem in wanted if stem not in number_of and stem not in name_stems]
        self.most = shelf.words.highest(rarities[kept][~self.is_name], unknown=len(unknown))


def _word_legs(matches: TermMatches, is_name: NDArray[np.bool_]) -> dict[str, Scores]:
    return {
        LEXICAL: matches.scores.sum(axis=1, dtype=np.float64),
        PLAIN: matches.scores[:, ~is_name].sum(axis=1, dtype=np.float64),
        OWN: matches.own_scores[:, ~is_name].sum(axis=1, dtype=np.float64),
    }


def _signals(
    shelf: Shelf, slots: Slots, question: Question, names: frozenset[str]
) -> dict[str, Scores]:
    said_at = shelf.said_at(slots)
    now = question.admission.now
    return {
        SPEAKER: shelf.is_said_by(slots, names).astype(np.float64),
        DATE: is_within(said_at, question.periods).astype(np.float64),
        RECENCY: recency(said_at, now),
        CONFIDENCE: shelf.confidences(slots, now),
    }
