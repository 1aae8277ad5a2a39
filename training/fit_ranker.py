"""Fit what corrects the sum of legs in the order of what memory finds, on our own conversations.

    python -m training.fit_ranker

Needs the embedder's extra and lightgbm. evals/data/memory/README.md tells how and why.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import lightgbm
import numpy as np
from numpy.typing import NDArray

import kinkeeper.memory.finding
from evals.memory_gold import Conversation, Question, own
from evals.memory_probes import renamed
from evals.memory_scores import Answered, recall_of
from evals.memory_store import RememberingEmbedder, StoredMemory
from kinkeeper.memory.finding.ranker import BY_MEANING, BY_WORDS, features, presumed
from kinkeeper.memory.forest import Forest
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.models.embedding.minilm import MiniLm, weights_path
from kinkeeper.store.store import Store

SHIPPED = Path(kinkeeper.memory.finding.__path__[0]) / "data"
EVALS = Path(__file__).parents[1] / "evals" / "data"
OTHERS, APART = 3, 3
FOLDS = 5
TREES = {
    "objective": "lambdarank", "n_estimators": 60, "learning_rate": 0.05, "num_leaves": 6,
    "min_child_samples": 30, "subsample": 0.8, "subsample_freq": 1, "colsample_bytree": 0.3,
    "reg_lambda": 5, "lambdarank_truncation_level": 20, "label_gain": [0, 1], "verbose": -1,
    "n_jobs": 1, "random_state": 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question with all that may answer it.

    Attributes:
        group: Of which conversation.
        question: The question.
        keys: The candidates.
        names: Of the columns.
        rows: What is known of each candidate: shape (candidates, columns).
        presumed: The sum of legs: shape (candidates,).
    """

    group: int
    question: Question
    keys: Sequence[str]
    names: Sequence[str]
    rows: NDArray[np.float32]
    presumed: NDArray[np.float64]

    @property
    def answers(self) -> NDArray[np.int64]:
        """1 for each candidate that is evidence, else 0."""
        return np.array([key in self.question.evidence for key in self.keys], np.int64)


def main() -> None:
    """Fit with and without meaning, tell what it is worth, and write."""
    weights = weights_path()
    if weights is None:
        raise SystemExit("the embedder's extra is not installed")
    fit_all(RememberingEmbedder(MiniLm(weights)))


def fit_all(embedder: Embedder) -> None:
    """Fit and write the trees of both kinds.

    Args:
        embedder: Tells what texts mean.
    """
    conversations = [*mixed(own(EVALS))]
    for kind, inside in ((BY_WORDS, None), (BY_MEANING, embedder)):
        asked = gathered(conversations, inside)
        print(f"{kind}: {len(asked)} questions")
        told("sum of legs", asked, [each.presumed for each in asked])
        told("corrected, other conversations", asked, crossed(asked))
        fitted = fit(asked)
        forest_of(fitted, asked[0].names).save(SHIPPED / f"ranker_{kind}.npz")


def mixed(conversations: Sequence[Conversation]) -> Iterator[Conversation]:
    """Yield each conversation among the sessions of three others, as if the same people had said all.

    A family's memory is larger than one conversation, and what is looked for has to be told from much
    that the same people said of other things.

    Args:
        conversations: More than those a conversation is mixed with.
    """
    for place, conversation in enumerate(conversations):
        turns = [*conversation.turns]
        for step in range(1, OTHERS + 1):
            other = conversations[(place + APART * step) % len(conversations)]
            names = dict(zip(other.speakers, cycle(conversation.speakers), strict=False))
            turns += [
                replace(
                    turn,
                    key=f"{other.name}:{turn.key}",
                    session=f"{other.name}:{turn.session}",
                    speaker=names[turn.speaker],
                    text=renamed(turn.text, names),
                )
                for turn in other.turns
            ]
        # Stable: turns of one session stay in their order.
        turns.sort(key=lambda turn: (turn.said_at, turn.session))
        yield replace(conversation, turns=tuple(turns))


def gathered(conversations: Sequence[Conversation], embedder: Embedder | None) -> list[Asked]:
    """Return what the search in use has to choose from, for each question.

    Args:
        conversations: With questions.
        embedder: Tells what texts mean, if anything does.
    """
    found = []
    with (
        TemporaryDirectory() as folder,
        asyncio.Runner() as runner,
        Store.open(f"sqlite:///{folder}/memory.sqlite") as store,
    ):
        for group, conversation in enumerate(conversations):
            memory = StoredMemory(store, conversation.name, embedder, runner=runner)
            memory.add(conversation.turns)
            for question in conversation.questions:
                pool = memory.pool(question.text)
                columns = features(pool.legs, pool.clues, pool.asked)
                found.append(
                    Asked(
                        group=group,
                        question=question,
                        names=[*columns],
                        keys=[key.id for key in pool.keys],
                        rows=np.stack([*columns.values()], axis=1).astype(np.float32),
                        presumed=presumed(pool.legs, pool.clues, pool.asked),
                    )
                )
    return found


def fit(asked: Sequence[Asked]) -> lightgbm.Booster:
    """Return trees that put evidence first when added to the sum of legs.

    Args:
        asked: What to learn from; questions whose evidence is no candidate teach nothing.
    """
    taught = [each for each in asked if each.answers.any()]
    ranker = lightgbm.LGBMRanker(**TREES)
    ranker.fit(
        np.concatenate([each.rows for each in taught]),
        np.concatenate([each.answers for each in taught]),
        group=[len(each.keys) for each in taught],
        init_score=np.concatenate([each.presumed for each in taught]),
    )
    return ranker.booster_


def crossed(asked: Sequence[Asked]) -> list[NDArray[np.float64]]:
    """Return scores by trees that have not seen a question's conversation.

    Args:
        asked: Of several conversations.
    """
    scores = [each.presumed for each in asked]
    for fold in range(FOLDS):
        booster = fit([each for each in asked if each.group % FOLDS != fold])
        for place, each in enumerate(asked):
            if each.group % FOLDS == fold and len(each.keys):
                scores[place] = each.presumed + np.asarray(booster.predict(each.rows))
    return scores


def told(what: str, asked: Sequence[Asked], scores: Sequence[NDArray[np.float64]]) -> None:
    """Print how well scores order candidates.

    Args:
        what: Whose scores.
        asked: The questions.
        scores: Of each one's candidates.
    """
    answered = []
    for each, own_scores in zip(asked, scores, strict=True):
        order = np.argsort(-own_scores, kind="stable").tolist()
        ranked = tuple(each.keys[place] for place in order)
        answered.append(Answered(question=each.question, ranked=ranked, relevance=0.0))
    found = recall_of(answered)
    recalls = ", ".join(f"{share:.3f}" for share in found.at)
    print(f"  {what}: recall@1, 5, 10, 20 {recalls}; MRR {found.reciprocal_rank:.3f}")


def forest_of(booster: lightgbm.Booster, names: Sequence[str]) -> Forest:
    """Return trees as they are shipped: without the columns that none asks for.

    Args:
        booster: The trees.
        names: Of all columns.
    """
    trees = [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]
    nodes = [_nodes(tree) for tree in trees]
    used = sorted(
        {node["split_feature"] for tree in nodes for node in tree if "split_feature" in node}
    )
    place_of = {feature: place for place, feature in enumerate(used)}
    size = max(map(len, nodes))
    feature, left, right = (np.zeros((len(nodes), size), np.int32) for _ in range(3))
    threshold, value = (np.zeros((len(nodes), size), np.float32) for _ in range(2))
    for row, tree in enumerate(nodes):
        for place, node in enumerate(tree):
            if "split_feature" in node:
                feature[row, place] = place_of[node["split_feature"]]
                # Columns are of single precision: a threshold must not be rounded past one.
                threshold[row, place] = (
                    np.nextafter(np.float32(node["threshold"]), np.float32(-np.inf))
                    if np.float32(node["threshold"]) > node["threshold"]
                    else node["threshold"]
                )
                left[row, place] = tree.index(node["left_child"])
                right[row, place] = tree.index(node["right_child"])
            else:
                value[row, place] = node["leaf_value"]
                left[row, place] = right[row, place] = place
    return Forest(
        columns=tuple(names[place] for place in used),
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        value=value,
        depth=max(map(_depth, trees)),
    )


def _nodes(tree: dict) -> list[dict]:
    if "split_feature" not in tree:
        return [tree]
    return [tree, *_nodes(tree["left_child"]), *_nodes(tree["right_child"])]


def _depth(tree: dict) -> int:
    if "split_feature" not in tree:
        return 0
    return 1 + max(_depth(tree["left_child"]), _depth(tree["right_child"]))


if __name__ == "__main__":
    main()
