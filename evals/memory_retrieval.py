"""Whether memory finds again what was said: LoCoMo and LongMemEval, beside what others would pick."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from evals.memory_finders import Dense, Embed, PlainBm25, RankFusion, VectorStore, has_vector_store
from evals.memory_gold import ADVERSARIAL, Conversation, Turn, locomo, longmemeval
from evals.memory_probes import Making, answer_all, answer_by_session, foreign_relevance, foreseen
from evals.memory_scores import (
    DEPTHS,
    Answered,
    Recall,
    recall_of,
    refused,
    separation,
    within_tokens,
)
from evals.memory_store import RememberingEmbedder, StoredMemory
from evals.report import Floor, Report, Table
from kinkeeper.memory.context.session_facts import remembered
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.store.store import Store

ROOM, SMALL_ROOM = 720, 360
WORDS, MEANING = "memory, by words", "memory, by words and meaning"
FLOORS: Mapping[str, Mapping[str, float]] = {
    WORDS: {
        "recall@10": 0.77,
        "MRR": 0.62,
        "foreign questions refused at 10% loss": 0.6,
        "foreseen, hit@10": 0.3,
    },
    MEANING: {
        "recall@10": 0.81,
        "MRR": 0.65,
        "foreign questions refused at 10% loss": 0.75,
        f"evidence in {ROOM} tokens": 0.83,
        "foreseen, hit@5": 0.31,
        "foreseen, hit@10": 0.41,
    },
}
_CATEGORIES = ("single-hop", "multi-hop", "temporal", "open", ADVERSARIAL)
_LOSSES = (0.02, 0.1)
_WORST = 15
_SHOWN = 90

Row = tuple[str | int | float, ...]


def baselines(embed: Embed | None) -> Mapping[str, Making]:
    """Return what others would pick, by name.

    Args:
        embed: Makes vectors, if there is an embedder.
    """
    found: dict[str, Making] = {"BM25, stemmed": PlainBm25}
    if embed is not None:
        found["vectors alone"] = lambda: Dense(embed)
        found["BM25 + vectors by rank"] = lambda: RankFusion(embed)
        if has_vector_store():
            found["Qdrant"] = lambda: VectorStore(embed)
    return found


def measure(data: Path, *, embedder: Embedder | None, beside_others: bool = True) -> Report:
    """Measure memory on public conversations, without and with meaning, beside what others would pick.

    Args:
        data: Folder with the public sets.
        embedder: Tells what texts mean, if anything does; without it, words are measured alone.
        beside_others: Whether what others would pick is measured, too.

    Raises:
        InputError: A set is missing.
    """
    remembering = None if embedder is None else RememberingEmbedder(embedder)
    with (
        TemporaryDirectory(prefix="kinkeeper-eval-") as folder,
        asyncio.Runner() as runner,
        Store.open(f"sqlite:///{folder}/memory.sqlite") as store,
    ):
        numbers = count(1)

        def memories(inside: Embedder | None) -> Making:
            return lambda: StoredMemory(store, f"measured-{next(numbers)}", inside, runner=runner)

        ours = {WORDS: memories(None)}
        if remembering is not None:
            ours[MEANING] = memories(remembering)
        others = baselines(remembering.embed_now if remembering else None) if beside_others else {}
        return _measured(data, {**ours, **others}, ours=[*ours])


def _measured(data: Path, made: Mapping[str, Making], *, ours: Sequence[str]) -> Report:
    conversations = locomo(data)
    answered = {name: answer_all(make, conversations) for name, make in made.items()}
    figures: dict[str, Mapping[str, float]] = {}
    for name, make in made.items():
        figures[name] = {
            **_refusal(_main(answered[name]), foreign_relevance(make, conversations)),
            **_foresight(foreseen(make, conversations)),
            **{
                f"evidence in {room} tokens": _in_context(answered[name], conversations, room)
                for room in (ROOM, SMALL_ROOM)
            },
            "sessions of LongMemEval, recall@5": _session_recall(make, data),
        }
    reached = {
        name: {**_recall_figures(recall_of(_main(answered[name]))), **figures[name]}
        for name in ours
    }
    return Report(
        suite="memory: finding",
        tables=(_recall_table(answered), _category_table(answered), _other_table(figures)),
        floors=tuple(
            Floor(name=f"{name}: {figure}", value=reached[name][figure], minimum=minimum)
            for name in ours
            for figure, minimum in FLOORS[name].items()
        ),
        worst=_missed(answered[ours[-1]]),
    )


def _main(answered: Sequence[Answered]) -> list[Answered]:
    return [each for each in answered if each.question.category != ADVERSARIAL]


def _recall_figures(recall: Recall) -> Mapping[str, float]:
    at = {f"recall@{depth}": value for depth, value in zip(DEPTHS, recall.at, strict=True)}
    return {**at, "hit@10": recall.hit, "MRR": recall.reciprocal_rank}


def _refusal(own: Sequence[Answered], foreign: Sequence[float]) -> Mapping[str, float]:
    seeming = [each.relevance for each in own]
    return {
        "own and foreign questions told apart (AUC)": separation(seeming, foreign),
        **{
            f"foreign questions refused at {loss:.0%} loss": refused(seeming, foreign, loss)
            for loss in _LOSSES
        },
    }


def _foresight(ranks: Sequence[int | None]) -> Mapping[str, float]:
    return {
        f"foreseen, hit@{depth}": sum(rank is not None and rank <= depth for rank in ranks)
        / len(ranks)
        for depth in (5, 10)
    }


def _in_context(
    answered: Sequence[Answered], conversations: Sequence[Conversation], room: int
) -> float:
    texts = {
        question: {turn.key: _line(turn) for turn in conversation.turns}
        for conversation in conversations
        for question in conversation.questions
    }
    return within_tokens(_main(answered), lambda each, key: texts[each.question][key], room)


def _line(turn: Turn) -> str:
    """Return a turn as it stands in a context of ours."""
    return remembered(turn.text, turn.speaker, {}, said_on=turn.said_at.date())


def _session_recall(make: Making, data: Path) -> float:
    return recall_of(answer_by_session(make, longmemeval(data))).at[DEPTHS.index(5)]


def _recall_table(answered: Mapping[str, Sequence[Answered]]) -> Table:
    found = {name: recall_of(_main(each)) for name, each in answered.items()}
    return Table(
        title="LoCoMo, development half: evidence found",
        columns=("", "questions", *_recall_figures(next(iter(found.values())))),
        rows=tuple(
            (name, each.questions, *_recall_figures(each).values()) for name, each in found.items()
        ),
    )


def _category_table(answered: Mapping[str, Sequence[Answered]]) -> Table:
    def row(name: str, found: Sequence[Answered]) -> Row:
        recalls = [
            recall_of([each for each in found if each.question.category == category])
            for category in _CATEGORIES
        ]
        return name, *(recall.at[DEPTHS.index(10)] for recall in recalls)

    return Table(
        title="LoCoMo, recall@10 by kind of question",
        columns=("", *_CATEGORIES),
        rows=tuple(row(name, found) for name, found in answered.items()),
    )


def _other_table(figures: Mapping[str, Mapping[str, float]]) -> Table:
    return Table(
        title="LoCoMo, what else finding is for",
        columns=("", *figures),
        rows=tuple(
            (figure, *(own[figure] for own in figures.values()))
            for figure in next(iter(figures.values()))
        ),
    )


def _missed(answered: Sequence[Answered]) -> tuple[str, ...]:
    missed = [
        each
        for each in _main(answered)
        if not each.question.evidence & {*each.ranked[: DEPTHS[-1]]}
    ]
    return tuple(
        f"{each.question.category}: {each.question.text[:_SHOWN]!r}" for each in missed[:_WORST]
    )
