"""What finds turns again: the protocol all are measured by, and the plain methods others would pick."""

import math
import re
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from Stemmer import Stemmer

from evals.memory_gold import Turn
from kinkeeper.models.embedding.embedder import Vectors

Scores = NDArray[np.float64]
Embed = Callable[[Sequence[str]], Vectors]
"""Returns vectors of texts; blocks."""

VECTOR_STORE = "qdrant_client"
_WORD = re.compile(r"[a-z0-9]+")
_STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "before",
        "being",
        "but",
        "by",
        "can",
        "could",
        "d",
        "did",
        "do",
        "does",
        "doing",
        "don",
        "for",
        "from",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "hers",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "just",
        "ll",
        "m",
        "may",
        "me",
        "might",
        "more",
        "most",
        "my",
        "no",
        "nor",
        "not",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "ours",
        "out",
        "over",
        "own",
        "re",
        "s",
        "same",
        "she",
        "should",
        "so",
        "some",
        "such",
        "t",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "us",
        "ve",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "yours",
    ]
)
_SATURATION, _LENGTH_SHARE = 1.5, 0.75
_RANK_OFFSET = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One turn found.

    Attributes:
        key: Of the turn.
        relevance: How much it bears on what was asked; comparable between questions of one finder.
    """

    key: str
    relevance: float


class TurnFinder(Protocol):
    """Keeps the turns of one conversation and finds them again."""

    def add(self, turns: Sequence[Turn]) -> None:
        """Take in turns that follow those it has.

        Args:
            turns: Of one or more whole sessions, in order.
        """
        ...

    def find(self, question: str, limit: int) -> Sequence[Hit]:
        """Return turns that answer a question, best first.

        Args:
            question: Any text.
            limit: Most turns, >= 1.
        """
        ...

    def foresee(self, recent: Sequence[Turn], limit: int) -> Sequence[Hit]:
        """Return turns of earlier sessions that what is said next may be about, best first.

        Args:
            recent: What was said last; not yet taken in.
            limit: Most turns, >= 1.
        """
        ...


def spoken(turn: Turn) -> str:
    """Return a turn as one reads it."""
    return f"{turn.speaker}: {turn.text}"


class Scored(ABC):
    """A finder that gives every turn a score."""

    def __init__(self) -> None:
        self._turns: list[Turn] = []

    def add(self, turns: Sequence[Turn]) -> None:
        """Take in turns that follow those it has."""
        self._turns += turns
        self._learn([spoken(turn) for turn in turns])

    def find(self, question: str, limit: int) -> Sequence[Hit]:
        """Return the turns of the highest scores."""
        if not self._turns:
            return ()
        scores = self.scores(question)
        order = np.argsort(-scores, kind="stable")[:limit].tolist()
        return [Hit(key=self._turns[index].key, relevance=float(scores[index])) for index in order]

    def foresee(self, recent: Sequence[Turn], limit: int) -> Sequence[Hit]:
        """Return the turns that are found with the last ones' words."""
        return self.find("\n".join(spoken(turn) for turn in recent), limit)

    @abstractmethod
    def scores(self, question: str) -> Scores:
        """Return a score for each turn it has, in their order.

        Args:
            question: Any text.
        """

    @abstractmethod
    def _learn(self, texts: Sequence[str]) -> None:
        """Take in texts that follow those it has."""


class PlainBm25(Scored):
    """Okapi BM25 over stems, stop words left out: what a full-text search does."""

    def __init__(self) -> None:
        super().__init__()
        self._stemmer = Stemmer("english")
        self._lengths: list[int] = []
        self._holders: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def _learn(self, texts: Sequence[str]) -> None:
        for number, text in enumerate(texts, start=len(self._lengths)):
            counts = Counter(self._stems(text))
            self._lengths.append(counts.total())
            for stem, count in counts.items():
                self._holders[stem].append((number, count))

    def scores(self, question: str) -> Scores:
        """Return scores as shares of the highest possible one, so that questions can be compared."""
        lengths = np.array(self._lengths, dtype=np.float64)
        damping = 1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths / max(float(lengths.mean()), 1.0)
        total = np.zeros(len(lengths))
        most = 0.0
        for stem in set(self._stems(question)):
            held = np.array(self._holders.get(stem, ()), dtype=np.int64).reshape(-1, 2)
            rarity = math.log(1 + (len(lengths) - len(held) + 0.5) / (len(held) + 0.5))
            counts = held[:, 1]
            gain = counts * (_SATURATION + 1) / (counts + _SATURATION * damping[held[:, 0]])
            total[held[:, 0]] += rarity * gain
            most += rarity
        return total / (most or 1.0)

    def _stems(self, text: str) -> list[str]:
        words = [word for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS]
        return list(self._stemmer.stemWords(words))


class Dense(Scored):
    """The cosine of a turn's vector and the question's.

    Args:
        embed: Makes the vectors.
    """

    def __init__(self, embed: Embed) -> None:
        super().__init__()
        self._embed = embed
        self._vectors: list[Vectors] = []

    def _learn(self, texts: Sequence[str]) -> None:
        self._vectors.append(self._embed(texts))

    def scores(self, question: str) -> Scores:
        """Return the cosines."""
        (wanted,) = self._embed([question])
        return np.asarray(np.concatenate(self._vectors) @ wanted, dtype=np.float64)


class RankFusion(Scored):
    """Reciprocal ranks of BM25 and vectors added up: what most stores call hybrid.

    Args:
        embed: Makes the vectors.
    """

    def __init__(self, embed: Embed) -> None:
        super().__init__()
        self._legs: tuple[Scored, ...] = (PlainBm25(), Dense(embed))

    def _learn(self, texts: Sequence[str]) -> None:
        for leg in self._legs:
            leg.add(self._turns[-len(texts) :])

    def scores(self, question: str) -> Scores:
        """Return sums of reciprocal ranks."""
        total = np.zeros(len(self._turns))
        for leg in self._legs:
            ranks = np.argsort(np.argsort(-leg.scores(question), kind="stable"), kind="stable")
            total += 1 / (_RANK_OFFSET + 1 + ranks)
        return total


class VectorStore:
    """A popular vector store, as its quick start tells: Qdrant inside this process.

    Args:
        embed: Makes the vectors.
    """

    def __init__(self, embed: Embed) -> None:
        from qdrant_client import QdrantClient  # noqa: PLC0415 - of the developers' dependencies
        from qdrant_client.models import Distance, VectorParams  # noqa: PLC0415

        self._embed = embed
        self._client = QdrantClient(":memory:")
        self._keys: list[str] = []
        size = embed(["size"]).shape[1]
        self._client.create_collection(
            "turns", vectors_config=VectorParams(size=size, distance=Distance.COSINE)
        )

    def add(self, turns: Sequence[Turn]) -> None:
        """Store vectors of turns."""
        from qdrant_client.models import PointStruct  # noqa: PLC0415

        vectors = self._embed([spoken(turn) for turn in turns])
        start = len(self._keys)
        self._keys += [turn.key for turn in turns]
        self._client.upsert(
            "turns",
            [
                PointStruct(id=number, vector=vector.tolist())
                for number, vector in enumerate(vectors, start=start)
            ],
        )

    def find(self, question: str, limit: int) -> Sequence[Hit]:
        """Return the nearest turns."""
        (wanted,) = self._embed([question])
        found = self._client.query_points("turns", query=wanted.tolist(), limit=limit).points
        return [Hit(key=self._keys[int(each.id)], relevance=each.score) for each in found]

    def foresee(self, recent: Sequence[Turn], limit: int) -> Sequence[Hit]:
        """Return the turns nearest to the last ones."""
        return self.find("\n".join(spoken(turn) for turn in recent), limit)


def has_vector_store() -> bool:
    """Whether the vector store that is compared with is installed."""
    return find_spec(VECTOR_STORE) is not None
