"""What a query may mean, gathered from both legs: each candidate with every leg's exact score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from kinkeeper.memory.finding.clues import Asked, asked, clues, of_neighbours
from kinkeeper.memory.finding.fusion import Scores
from kinkeeper.memory.finding.legs import (
    CONFIDENCE,
    DATE,
    DENSE,
    DENSE_CONTEXT,
    LEXICAL,
    OWN,
    PLAIN,
    RECENCY,
    SPEAKER,
)
from kinkeeper.memory.finding.lexical_index import TermMatches
from kinkeeper.memory.finding.postings import Slots
from kinkeeper.memory.finding.shelf import Admission, Shelf
from kinkeeper.memory.finding.signals import Period, is_within, recency
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.finding.vectors import VectorKind, vectors_in_order
from kinkeeper.models.embedding.embedder import Vectors

_BY_WORDS, _BY_MEANING = 100, 50
_MOST_TERMS = 40
_TOLD_BESIDE = (PLAIN, DENSE)
_LEG_OF = {
    VectorKind.EPISODE: DENSE, VectorKind.FACT: DENSE, VectorKind.CONTEXT: DENSE_CONTEXT,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query, ready to be looked up on a shelf.

    Attributes:
        text: As asked.
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
        ids: Of their rows.
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
        conn: Open connection.
        household: Tenant key.
        shelf: Where to look.
        question: What to look for.
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
                    conn, household, question.model, kind=kind, ids=ids,
                    dimension=len(question.vector),
                )  # fmt: skip
            legs[_LEG_OF[kind]] = (vectors @ question.vector).astype(np.float64)
            if meanings is None or not meanings.any():
                meanings = vectors
    told = clues(shelf, slots, matches, is_name=query.is_name, most=query.most)
    beside = of_neighbours(
        {name: legs[name] for name in _TOLD_BESIDE if name in legs}, shelf, slots
    )
    return Candidates(
        ids=ids, asked=asked(question.text, matches, query.is_name), most=query.most,
        legs=legs | _signals(shelf, slots, question, names), clues=told | beside,
        meanings=meanings,
    )  # fmt: skip


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
