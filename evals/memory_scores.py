"""Figures of ranked turns against those that answer: recall, rank, room, refusal. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evals.memory_gold import Question
from kinkeeper.models.embedding.minilm import shipped_vocabulary

DEPTHS = (1, 5, 10, 20)
_WINDOW = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What was found for one question.

    Attributes:
        question: Which.
        ranked: Keys of turns (or sessions), best first, each once.
        relevance: Of the most relevant of the first few of them; 0 where nothing was found.
    """

    question: Question
    ranked: tuple[str, ...]
    relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """How much evidence was found, means over questions.

    Attributes:
        questions: How many.
        at: Share of a question's evidence among the first 1, 5, 10 and 20.
        hit: Share of questions with any evidence among the first ten.
        reciprocal_rank: One over the rank of the first evidence, 0 where there is none.
    """

    questions: int
    at: tuple[float, ...]
    hit: float
    reciprocal_rank: float


def recall_of(answered: Sequence[Answered]) -> Recall:
    """Return how much evidence was found.

    Args:
        answered: One or more.
    """
    ranks = [_ranks(each) for each in answered]
    sizes = [len(each.question.evidence) for each in answered]
    return Recall(
        questions=len(answered),
        at=tuple(
            _mean(
                [
                    sum(rank <= depth for rank in found) / size
                    for found, size in zip(ranks, sizes, strict=True)
                ]
            )
            for depth in DEPTHS
        ),
        hit=_mean([any(rank <= 10 for rank in found) for found in ranks]),  # noqa: PLR2004 - hit@10
        reciprocal_rank=_mean([1 / min(found) if found else 0.0 for found in ranks]),
    )


def within_tokens(
    answered: Sequence[Answered], text_of: Callable[[Answered, str], str], room: int
) -> float:
    """Return the mean share of a question's evidence that fits into a context, best turns first.

    Args:
        answered: One or more.
        text_of: Words of a turn found for a question.
        room: Tokens, counted by an uncased WordPiece vocabulary; a turn that does not fit is left out.
    """
    vocabulary = shipped_vocabulary()
    shares = []
    for each in answered:
        left, fitting = room, set()
        for key in each.ranked:
            size = len(vocabulary.numbers(text_of(each, key), _WINDOW)) - 2
            if size <= left:
                left -= size
                fitting.add(key)
        shares.append(len(fitting & each.question.evidence) / len(each.question.evidence))
    return _mean(shares)


def refused(own: Sequence[float], foreign: Sequence[float], loss: float) -> float:
    """Return the share of foreign questions below the relevance that loses a share of own ones.

    Args:
        own: Relevance of what was found for questions with an answer.
        foreign: The same for questions that have none here.
        loss: Share of own questions refused, in (0, 1).
    """
    return float((np.array(foreign) < np.quantile(np.array(own), loss)).mean())


def separation(own: Sequence[float], foreign: Sequence[float]) -> float:
    """Return the chance that an own question's relevance is above a foreign one's (AUC)."""
    first, second = np.array(own)[:, None], np.array(foreign)[None, :]
    return float((first > second).mean() + (first == second).mean() / 2)


def _ranks(answered: Answered) -> list[int]:
    wanted = answered.question.evidence
    return [rank for rank, key in enumerate(answered.ranked, start=1) if key in wanted]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0
