"""Vectors from a server: OpenAI-compatible or Ollama, over HTTP."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from pydantic import BaseModel

from kinkeeper.core.errors import UnavailableError
from kinkeeper.models.connection import ServerConnection
from kinkeeper.models.embedding.embedder import Vectors, normalised
from kinkeeper.models.endpoints import Dialect
from kinkeeper.models.limits import pause_or_raise
from kinkeeper.models.model import ModelError, Outcome

_BATCH = 64


class _Row(BaseModel):
    index: int
    embedding: list[float]


class _OpenAIAnswer(BaseModel):
    data: list[_Row]


class _OllamaAnswer(BaseModel):
    embeddings: list[list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteModel:
    """A model on a server.

    Attributes:
        dialect: What the server speaks; OPENAI or OLLAMA.
        timeout: Longest wait for one batch, tries included.
    """

    name: str
    dialect: Dialect
    timeout: timedelta


class RemoteEmbedder:
    """Asks a server. Use it on one event loop.

    What is embedded is what people said, to each other too: whether it may leave for the server's
    host is for the connection to judge.
    """

    def __init__(self, connection: ServerConnection, model: RemoteModel) -> None:
        self._connection = connection
        self._model = model
        self._dimension: int | None = None

    @property
    def model(self) -> str:
        """The server's name of the model."""
        return self._model.name

    @property
    def dimension(self) -> int:
        """Numbers a vector.

        Raises:
            UnavailableError: Nothing was embedded yet, and only the server knows.
        """
        if self._dimension is None:
            raise UnavailableError(f"the length of vectors from {self.model!r} is not known yet")
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of length 1 for each text.

        Args:
            texts: Any; sent some at a time.

        Raises:
            ModelError: The server cannot be reached, may not be told, or answers with nonsense.
        """
        if not texts:
            return np.zeros((0, self._dimension or 0), dtype=np.float32)
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        return np.concatenate([await self._batch(batch) for batch in batches])

    async def close(self) -> None:
        """Close the connection; harmless to repeat."""
        await self._connection.close()

    async def _batch(self, texts: Sequence[str]) -> Vectors:
        ends = asyncio.get_running_loop().time() + self._model.timeout.total_seconds()
        tried = 0
        while True:
            tried += 1
            try:
                async with asyncio.timeout_at(ends):
                    return self._checked(await self._asked(texts), len(texts))
            except TimeoutError as error:
                raise ModelError(
                    "the embedding server did not answer in time", outcome=Outcome.TIMEOUT
                ) from error
            except ModelError as error:
                await pause_or_raise(error, tried=tried, deadline=ends)

    async def _asked(self, texts: Sequence[str]) -> bytes:
        base = await self._connection.base_path()
        body: Mapping[str, Any] = {"model": self._model.name, "input": [*texts]}
        return await self._connection.post(
            _path(base, self._model.dialect),
            body,
            is_ambient=True,
            seconds=self._model.timeout.total_seconds(),
        )

    def _checked(self, answer: bytes, count: int) -> Vectors:
        try:
            vectors = np.array([*_read(answer, self._model.dialect)], dtype=np.float64)
        except (ValueError, OverflowError) as error:
            raise _nonsense("not a list of vectors") from error
        if vectors.ndim != 2 or len(vectors) != count or not vectors.size:  # noqa: PLR2004 - a row a text
            raise _nonsense(f"a number of vectors other than the {count} that were requested")
        if not np.isfinite(vectors).all():
            raise _nonsense("no numbers")
        if self._dimension not in {None, vectors.shape[1]}:
            raise _nonsense("vectors of a different length than before")
        self._dimension = vectors.shape[1]
        return normalised(vectors)


def _path(base: str, dialect: Dialect) -> str:
    if dialect is Dialect.OLLAMA:
        return f"{base.removesuffix('/v1')}/api/embed"
    return f"{base or '/v1'}/embeddings"


def _read(answer: bytes, dialect: Dialect) -> Iterator[list[float]]:
    if dialect is Dialect.OLLAMA:
        yield from _OllamaAnswer.model_validate_json(answer).embeddings
        return
    rows = _OpenAIAnswer.model_validate_json(answer).data
    if [row.index for row in sorted(rows, key=lambda row: row.index)] != [*range(len(rows))]:
        raise ValueError("the indexes of the texts are not consecutive")
    yield from (row.embedding for row in sorted(rows, key=lambda row: row.index))


def _nonsense(what: str) -> ModelError:
    return ModelError(
        f"the embedding server answered with {what}; make sure that EMBEDDER_MODEL names an embedding model",
        outcome=Outcome.INVALID_OUTPUT,
    )
