"""Speed of memory's search as memory grows, beside SQLite's own full-text index over the same texts.

CPU time of the process, the query's vector given: what the embedder costs is measured elsewhere. Texts
are made of words as frequent as in any language, in sessions of several speakers; a query is made of
words of one text.
"""

import gc
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Self
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from bench.cost import cpu_microseconds, resident_megabytes
from bench.report import Figure, Ratio
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.finding.search import Finder, HitKind, Search
from kinkeeper.memory.finding.vectors import VectorKey, VectorKind, put_vectors
from kinkeeper.memory.ingest import ImportedFact, import_facts
from kinkeeper.memory.model import Category, Episode, Origin
from kinkeeper.models.embedding.embedder import Vectors, normalised
from kinkeeper.store.store import Store

_HOUSEHOLD = "bench"
_BEGUN = datetime(2020, 1, 1, tzinfo=UTC)
_VOCABULARY, _WORDS_OF_GRAMMAR, _WORDS_A_TEXT, _WORDS_A_QUERY = 30_000, 20, 12, 6
_TEXTS_A_SESSION, _SPEAKERS = 20, 6
_DIMENSION, _SUBJECTS = 384, 400
_QUERIES, _NEW_ROWS, _PAGE = 100, 20, 2_000
_FACTS, _FACTS_AT_ONCE, _PEOPLE = 4_000, 500, 40
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru")
_ENDLESS = 1e9
_LIMIT = 10
_P95_MS = {10_000: 12.0, 100_000: 20.0, 1_000_000: 60.0}
_LARGEST_GROWTH = 1.3
_PEER = "SQLite FTS5, any of the words"


def measure(largest: int = 100_000) -> tuple[Ratio | Figure, ...]:
    """Return figures for each size, ten times the one before.

    Args:
        largest: Number of episodes, >= 1,000.
    """
    found: list[Ratio | Figure] = []
    size = min(largest, 10_000)
    while size <= largest:
        with TemporaryDirectory() as folder:
            found += _measured(Path(folder), size)
        size *= 10
    return (*found, *_import_growth())


@dataclass(frozen=True, slots=True)
class _Corpus:
    """Made-up memories: always the same ones."""

    random: np.random.Generator
    words: Sequence[str]
    share: NDArray[np.float64]
    subjects: Vectors

    @classmethod
    def begin(cls) -> Self:
        random = np.random.default_rng(7)
        share = 1 / np.arange(1, _VOCABULARY + 1)
        letters = np.array([*"aeioulnrstdkm"])
        words = [
            "".join(random.choice(letters, 3 + place % 6)) + str(place)
            for place in range(_VOCABULARY)
        ]
        subjects = normalised(random.normal(size=(_SUBJECTS, _DIMENSION)))
        return cls(random, words, share / share.sum(), subjects)

    def episodes(self, first: int, count: int) -> list[Episode]:
        drawn = self.random.choice(_VOCABULARY, (count, _WORDS_A_TEXT), p=self.share)
        return [
            Episode(
                household=_HOUSEHOLD,
                id=f"e{number}",
                session=f"s{number // _TEXTS_A_SESSION}",
                speaker=f"Speaker {number % _SPEAKERS}",
                origin=Origin.IMPORTED,
                text=" ".join(self.words[word] for word in row),
                said_at=_BEGUN + timedelta(minutes=number),
            )
            for number, row in enumerate(drawn.tolist(), start=first)
        ]

    def vectors(self, count: int) -> Vectors:
        near = self.subjects[self.random.integers(_SUBJECTS, size=count)]
        return normalised(near + self.random.normal(scale=0.05, size=near.shape))

    def query(self, texts: Sequence[str]) -> str:
        said = texts[int(self.random.integers(len(texts)))].split()
        rare = [word for word in said if word not in self.words[:_WORDS_OF_GRAMMAR]]
        return " ".join(rare[:_WORDS_A_QUERY])


def _measured(folder: Path, size: int) -> Iterator[Ratio | Figure]:
    corpus = _Corpus.begin()
    peer = sqlite3.connect(folder / "peer.db")
    peer.execute("create virtual table texts using fts5(text, tokenize='porter')")
    with closing(peer), Store.open(str(folder / "memory.db")) as store:
        some = _fill(store, peer, corpus, size)
        gc.collect()
        before, start = resident_megabytes(), process_time()
        finder = Finder(store, _HOUSEHOLD, zone=ZoneInfo("UTC"), embedder=_NoEmbedder())
        _search(store, finder, "", patience=_ENDLESS)
        built = process_time() - start
        taken = resident_megabytes() - before
        own, theirs = [], []
        for _ in range(_QUERIES):
            query, vector = corpus.query(some), corpus.vectors(1)[0]
            own.append(cpu_microseconds(partial(_search, store, finder, query, vector=vector)))
            theirs.append(cpu_microseconds(partial(_ask_peer, peer, query)))
        yield Ratio(
            name=f"a search among {size:,} episodes",
            microseconds=median(own),
            p99_microseconds=_percentile(own, 99),
            peer=_PEER,
            peer_microseconds=median(theirs),
            target=None,
        )
        yield Figure(
            name=f"the slowest 5 of 100 searches among {size:,}, at least",
            value=_percentile(own, 95) / 1_000,
            unit="ms of CPU",
            target=_P95_MS.get(size),
        )
        yield Figure(name=f"index of {size:,} built", value=built, unit="s of CPU")
        yield Figure(name=f"index of {size:,} in memory", value=taken, unit="MB")
        yield Figure(
            name=f"a new episode among {size:,}: stored, taken in and found",
            unit="ms of CPU",
            value=_novelty(store, finder, corpus, size),
        )


def _fill(store: Store, peer: sqlite3.Connection, corpus: _Corpus, size: int) -> list[str]:
    texts: list[str] = []
    for first in range(0, size, _PAGE):
        page = corpus.episodes(first, _PAGE)
        vectors = {
            VectorKey(kind, episode.id): vector
            for kind in (VectorKind.EPISODE, VectorKind.CONTEXT)
            for episode, vector in zip(page, corpus.vectors(_PAGE), strict=True)
        }
        store.write_now(partial(insert_episodes, new=page, at=_BEGUN, is_read=True))
        store.write_now(
            partial(put_vectors, household=_HOUSEHOLD, model=_NoEmbedder.model, vectors=vectors)
        )
        peer.executemany("insert into texts values (?)", [(episode.text,) for episode in page])
        texts += [episode.text for episode in page[:20]]
    peer.commit()
    return texts


def _novelty(store: Store, finder: Finder, corpus: _Corpus, size: int) -> float:
    """Return how long it takes from a new episode to its being found, in milliseconds."""
    spent = []
    for new in corpus.episodes(size, _NEW_ROWS):
        stored = partial(insert_episodes, new=[new], at=_BEGUN, is_read=True)
        spent.append(
            cpu_microseconds(partial(store.write_now, stored))
            + cpu_microseconds(partial(_search, store, finder, new.text))
        )
    return median(spent) / 1_000


def _import_growth() -> Iterator[Ratio | Figure]:
    """Import facts, and hold the last ones against the first."""
    costs = []
    with TemporaryDirectory() as folder, Store.open(str(Path(folder) / "facts.db")) as store:
        for first in range(0, _FACTS, _FACTS_AT_ONCE):
            facts = [_fact(number) for number in range(first, first + _FACTS_AT_ONCE)]
            stored = partial(import_facts, household=_HOUSEHOLD, imported=facts, at=_BEGUN)
            costs.append(cpu_microseconds(partial(store.write_now, stored)) / _FACTS_AT_ONCE)
    yield Ratio(
        name=f"a fact imported, of the last of {_FACTS:,}",
        microseconds=median(costs[-3:]),
        p99_microseconds=max(costs[-3:]),
        peer="of the first",
        peer_microseconds=median(costs[:3]),
        target=_LARGEST_GROWTH,
    )


def _fact(number: int) -> ImportedFact:
    """Return one of many facts about some people, each about something else."""
    person, thing = _spelt(number % _PEOPLE).title(), _spelt(number // _PEOPLE)
    text = f"{person}'s favourite {thing} is {_spelt(7 * number)}."
    return ImportedFact(
        id=f"f{number}",
        text=text,
        title=text,
        category=Category.PREFERENCE,
        at=_BEGUN + timedelta(minutes=number),
    )


def _spelt(number: int) -> str:
    """Return a word of its own for each number."""
    digits = (
        number % 10,
        number // 10 % 10,
        number // 100 % 10,
        number // 1_000 % 10,
        number // 10_000,
    )
    return "".join(_SYLLABLES[digit % 10] for digit in digits)


class _NoEmbedder:
    """Stands for a model whose vectors are given."""

    model = "given"
    dimension = _DIMENSION

    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError


def _search(
    store: Store, finder: Finder, text: str, *, vector: Vectors | None = None, patience: float = 0.0
) -> object:
    search = Search(
        text=text,
        viewer=Viewer.of(_HOUSEHOLD),
        now=_BEGUN + timedelta(days=900),
        limit=_LIMIT,
        kinds=(HitKind.EPISODE,),
    )
    return store.read_now(lambda conn: finder.search_now(conn, search, vector, patience=patience))


def _ask_peer(peer: sqlite3.Connection, query: str) -> object:
    words = " OR ".join(f'"{word}"' for word in query.split())
    return peer.execute(
        "select rowid from texts where texts match ? order by bm25(texts) limit ?", (words, _LIMIT)
    ).fetchall()


def _percentile(values: Sequence[float], percent: int) -> float:
    return float(np.percentile(values, percent))
