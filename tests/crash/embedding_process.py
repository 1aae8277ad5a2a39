"""A process to be killed: makes the vectors of what waits, and prints a dot for each batch. Not a test itself."""

import asyncio
import sys
from collections.abc import Sequence

from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.models.embedding.embedder import HashingEmbedder, Vectors
from kinkeeper.store.store import Store

HOUSE = "reyes"


class Given:
    """Makes vectors by hashing under another name, slowly enough to be killed in between."""

    model = "given-1"

    def __init__(self, seconds: float = 0.0) -> None:
        self._hashing = HashingEmbedder()
        self._seconds = seconds
        self.dimension = self._hashing.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        await asyncio.sleep(self._seconds)
        return await self._hashing.embed(texts)


async def main(path: str) -> None:
    with Store.open(path) as store:
        work = EmbeddingWork(store, HOUSE, Given(0.005))
        print("ready", flush=True)
        while await work.run_once():
            print(".", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
