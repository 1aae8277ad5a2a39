"""Vectors are remembered by household, model and content, on either database."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from sqlalchemy import func, select

from kinkeeper.core.time import VirtualClock
from kinkeeper.models.embedding.cache import CachedEmbedder, embeddings, purge_vectors
from kinkeeper.models.embedding.embedder import HashingEmbedder, Vectors
from kinkeeper.store.store import Store

START = datetime(2026, 5, 4, 9, tzinfo=UTC)


class Counting:
    """Notes what it is asked for; makes vectors by hashing."""

    def __init__(self, model: str = "counting") -> None:
        self.asked: list[str] = []
        self._hashing = HashingEmbedder()
        self.model = model
        self.dimension = self._hashing.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return await self._hashing.embed(texts)


def cached(embedder: Counting, store: Store, *, household: str = "reyes") -> CachedEmbedder:
    return CachedEmbedder(embedder, store, household, VirtualClock(START))


def counted(store: Store, household: str = "reyes") -> dict[tuple[str, int], int]:
    columns = embeddings.c
    query = (
        select(columns.model, columns.dimension, func.count())
        .where(columns.household == household)
        .group_by(columns.model, columns.dimension)
    )
    rows = store.read_now(lambda conn: conn.execute(query).all())
    return {(model, dimension): count for model, dimension, count in rows}


def test_only_what_is_not_known_is_computed_and_each_text_once(store: Store) -> None:
    embedder = Counting()
    first = asyncio.run(cached(embedder, store).embed(["a b", "c d", "a b"]))
    second = asyncio.run(cached(embedder, store).embed(["c d", "e f"]))

    assert embedder.asked == ["a b", "c d", "e f"]
    assert np.array_equal(first[0], first[2])
    assert np.array_equal(first[1], second[0])
    assert counted(store) == {("counting", 2048): 3}


def test_a_remembered_vector_is_bit_for_bit_the_computed_one(store: Store) -> None:
    text = "grüße, 東京 😂"
    computed = asyncio.run(HashingEmbedder().embed([text]))
    asyncio.run(cached(Counting(), store).embed([text]))

    assert np.array_equal(asyncio.run(cached(Counting(), store).embed([text])), computed)


def test_households_do_not_see_each_other_s_texts(store: Store) -> None:
    asyncio.run(cached(Counting(), store).embed(["our secret"]))
    other = Counting()
    asyncio.run(cached(other, store, household="okafor").embed(["our secret"]))

    assert other.asked == ["our secret"]


def test_vectors_of_another_model_are_not_taken(store: Store) -> None:
    asyncio.run(cached(Counting("old"), store).embed(["hello"]))
    new = Counting("new")
    asyncio.run(cached(new, store).embed(["hello"]))

    assert new.asked == ["hello"]
    assert counted(store) == {("old", 2048): 1, ("new", 2048): 1}


def test_old_vectors_are_forgotten_like_the_texts_they_were_made_of(store: Store) -> None:
    clock = VirtualClock(START)
    embedder = Counting()
    remembering = CachedEmbedder(embedder, store, "reyes", clock)
    asyncio.run(remembering.embed(["early"]))
    clock.advance_to(START + timedelta(days=20))
    asyncio.run(remembering.embed(["late"]))
    store.write_now(lambda conn: purge_vectors(conn, "reyes", before=START + timedelta(days=10)))
    asyncio.run(remembering.embed(["early", "late"]))

    assert embedder.asked == ["early", "late", "early"]


def test_no_text_asks_nobody(store: Store) -> None:
    embedder = Counting()

    assert asyncio.run(cached(embedder, store).embed([])).shape == (0, 2048)
    assert counted(store) == {}


def test_two_at_once_do_not_get_in_each_other_s_way(store: Store) -> None:
    texts = [f"line {n}" for n in range(500)]

    async def both() -> tuple[Vectors, Vectors]:
        return await asyncio.gather(
            cached(Counting(), store).embed(texts), cached(Counting(), store).embed(texts[::-1])
        )

    first, second = asyncio.run(both())

    assert np.array_equal(first, second[::-1])
    assert counted(store) == {("counting", 2048): 500}
