"""Time of a text's vector, beside the bare runtime on the same numbers; memory that the model takes.

CPU time of the process. Without the extra `embedder` only hashing is timed.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from statistics import median
from time import process_time_ns

import numpy as np
from numpy.typing import NDArray

from bench.cost import cpu_microseconds, p99_of, resident_megabytes
from bench.report import Figure, Ratio
from kinkeeper.models.embedding.embedder import HashingEmbedder
from kinkeeper.models.embedding.minilm import MiniLm, shipped_vocabulary, weights_path

_ROUNDS = 40
_BATCHES = (1, 32)
_LARGEST_RATIOS = {1: 1.2, 32: 1.3}
_PEER = "the bare runtime, texts read and of one length"
_LINE = "Can somebody bring Leo's {n} shin pads to the field before half past four?"


def measure(*, rounds: int = _ROUNDS) -> tuple[Ratio | Figure, ...]:
    """Embed lines of like length, and run the model alone on their numbers, in turn.

    Args:
        rounds: Of each size of batch, > 1.
    """
    found: list[Ratio | Figure] = [_hashing(rounds)]
    weights = weights_path()
    if weights is None:
        return (*found, Figure(name="MiniLM: not installed, not measured", value=0, unit=""))
    before = resident_megabytes()
    model = MiniLm(weights)
    start = process_time_ns()
    model.embed_now(_lines(1, 0))
    loaded = (process_time_ns() - start) / 1e9
    found += [_minilm(model, size, rounds) for size in _BATCHES]
    return (
        *found,
        Figure(
            name="MiniLM: loading and the first vector", value=loaded, unit="s of CPU", target=2
        ),
        Figure(
            name="MiniLM: memory beside the program's own",
            unit="MB",
            target=220,
            value=resident_megabytes() - before,
        ),
    )


def _minilm(model: MiniLm, size: int, rounds: int) -> Ratio:
    session = model.session()
    own, bare = [], []
    for number in range(rounds):
        texts = _lines(size, number)
        own.append(cpu_microseconds(partial(model.embed_now, texts)))
        bare.append(cpu_microseconds(partial(session.run, None, _numbers(texts))))
    return Ratio(
        name=f"a batch of {size} by MiniLM",
        microseconds=median(own),
        p99_microseconds=p99_of(own),
        peer=_PEER,
        peer_microseconds=median(bare),
        target=_LARGEST_RATIOS[size],
    )


def _hashing(rounds: int) -> Ratio:
    embedder = HashingEmbedder()
    own = [
        cpu_microseconds(partial(_embed, embedder, _lines(1, number))) for number in range(rounds)
    ]
    return Ratio(
        name="a text by hashing",
        microseconds=median(own),
        p99_microseconds=p99_of(own),
        peer="-",
        peer_microseconds=None,
        target=5_000,
    )


def _lines(size: int, number: int) -> list[str]:
    return [_LINE.format(n=number * size + place) for place in range(size)]


def _numbers(texts: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    numbers = [shipped_vocabulary().numbers(text, 256) for text in texts]
    longest = max(map(len, numbers))
    pieces = np.array([own + [0] * (longest - len(own)) for own in numbers], dtype=np.int64)
    mask = np.array([[1] * len(own) + [0] * (longest - len(own)) for own in numbers])
    return {"input_ids": pieces, "attention_mask": mask, "token_type_ids": np.zeros_like(pieces)}


def _embed(embedder: HashingEmbedder, texts: Sequence[str]) -> None:
    asyncio.run(embedder.embed(texts))
