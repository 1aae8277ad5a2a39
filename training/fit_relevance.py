"""Fit what words and meaning together count as, on our own conversations.

    python -m training.fit_relevance

Prints how much each of the two weighs where it is fitted, and the quantiles that stand in `memory/finding/gate.py`. Needs
the embedder's extra. evals/data/memory/README.md tells why.
"""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import cycle
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from evals.memory_gold import ADVERSARIAL, Conversation, own
from evals.memory_probes import renamed
from evals.memory_scores import refused, separation
from evals.memory_store import RememberingEmbedder, StoredMemory
from kinkeeper.memory.finding import candidates
from kinkeeper.memory.finding.candidates import PLAIN_OF_MOST
from kinkeeper.memory.finding.ranker import Pool, by_words
from kinkeeper.models.embedding.calibration import Calibration, calibration_of
from kinkeeper.models.embedding.minilm import MiniLm, weights_path
from kinkeeper.store.store import Store
from training.fit_ranker import APART, EVALS, OTHERS, mixed

FIRST = 5
EVERY = 6
"""Of foreign questions one in so many counts: as many as own ones."""
QUANTILES = (0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99)
LOSS = 0.1
ROUNDS, STEP = 3_000, 0.05

Rows = NDArray[np.float64]
"""Log odds of a question's first hits by words and by meaning: shape (questions, FIRST, 2); NaN where there are fewer."""


def main() -> None:
    """Gather, weigh, and print."""
    weights = weights_path()
    if weights is None:
        raise SystemExit("the embedder's extra is not installed")
    embedder = RememberingEmbedder(MiniLm(weights))
    calibration = asyncio.run(calibration_of(embedder))
    conversations = own(EVALS)
    with (
        TemporaryDirectory() as folder,
        asyncio.Runner() as runner,
        Store.open(f"sqlite:///{folder}/memory.sqlite") as store,
    ):
        ours, foreign = [], []
        for place, conversation in enumerate(mixed(conversations)):
            memory = StoredMemory(store, conversation.name, embedder, runner=runner)
            memory.add(conversation.turns)
            ours += [
                first_hits(memory.pool(each.text), calibration)
                for each in conversation.questions
                if each.category != ADVERSARIAL
            ]
            foreign += [
                first_hits(memory.pool(text), calibration)
                for text in of_others(conversations, place, conversation.speakers)
            ]
    told(np.stack(ours), np.stack(foreign))


def of_others(
    conversations: Sequence[Conversation], place: int, speakers: Sequence[str]
) -> Iterator[str]:
    """Yield the questions about what was not said where a conversation stands among others.

    Args:
        conversations: All.
        place: Of the one.
        speakers: Whose names the questions are to name.
    """
    mixed_in = {(place + APART * step) % len(conversations) for step in range(OTHERS + 1)}
    for number, other in enumerate(conversations):
        if number not in mixed_in:
            names = dict(zip(other.speakers, cycle(speakers), strict=False))
            yield from (
                renamed(question.text, names)
                for question in other.questions
                if question.category != ADVERSARIAL
            )


def first_hits(pool: Pool, calibration: Calibration) -> NDArray[np.float64]:
    """Return the log odds of a question's first hits, a row of `Rows`.

    Args:
        pool: What may answer it.
        calibration: What cosines mean.
    """
    found = np.full((FIRST, 2), np.nan)
    best = np.argsort(-pool.by_relevance(), kind="stable")[:FIRST]
    cosines = np.maximum(pool.legs[candidates.DENSE], pool.legs[candidates.DENSE_CONTEXT])
    found[: len(best), 0] = by_words(pool.clues[PLAIN_OF_MOST][best])
    found[: len(best), 1] = calibration.log_odds(cosines[best])
    return found


def weighed(ours: Rows, foreign: Rows) -> NDArray[np.float64]:
    """Return the weights of words and meaning, and a constant, that best tell own from foreign questions.

    A question is judged by the best of its hits, own and foreign ones weigh the same (logistic regression by
    gradient descent).

    Args:
        ours: Of questions with an answer.
        foreign: Of questions without.
    """
    rows = np.concatenate([ours, foreign])
    is_own = np.arange(len(rows)) < len(ours)
    weight = np.where(is_own, 0.5 / len(ours), 0.5 / len(foreign))
    found = np.array([1.0, 1.0, 0.0])
    for _ in range(ROUNDS):
        best = np.nanargmax(rows @ found[:2], axis=1)
        hit = np.column_stack([rows[np.arange(len(rows)), best], np.ones(len(rows))])
        found -= STEP * (weight * (1 / (1 + np.exp(-hit @ found)) - is_own)) @ hit
    return found


def told(ours: Rows, foreign: Rows) -> None:
    """Print weights, what each way of joining the two is worth, and the quantiles.

    Args:
        ours: Of questions with an answer.
        foreign: Of questions without.
    """
    print("weights of words and meaning, constant:", np.round(weighed(ours, foreign), 2))
    for name, join in (("the higher", np.max), ("the sum", np.sum)):
        own_best, foreign_best = (np.nanmax(join(rows, axis=2), axis=1) for rows in (ours, foreign))
        print(
            f"{name}: AUC {separation(own_best, foreign_best):.3f},"
            f" refused at {LOSS:.0%} loss {refused(own_best, foreign_best, LOSS):.3f}"
        )
    hits = np.concatenate([ours, foreign[::EVERY]]).reshape(-1, 2)
    hits = hits[~np.isnan(hits[:, 0])]
    print("sums:", np.round(np.quantile(hits.sum(axis=1), QUANTILES), 1).tolist())
    print("count as:", np.round(np.quantile(hits.max(axis=1), QUANTILES), 1).tolist())


if __name__ == "__main__":
    main()
