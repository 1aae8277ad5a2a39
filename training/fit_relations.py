"""Fit the trees that look a second time at pairs of statements, on our own pairs.

    python -m training.fit_relations DATA

Needs lightgbm. DATA is the folder of public sets. evals/data/memory/README.md tells how and why.
"""

import asyncio
import csv
import hashlib
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import lightgbm
import numpy as np
from numpy.typing import NDArray

import kinkeeper.memory.statements
from evals.coordination import read_lines
from kinkeeper.memory.statements.canonical_words import canon_of
from kinkeeper.memory.statements.comparison import wording_of
from kinkeeper.memory.statements.relation import WORTH_ASKING, by_rules, may_be_open
from kinkeeper.memory.statements.second_opinion import (
    FOREST_FILES,
    LIKENESS,
    OPEN,
    SAME,
    SURE,
    UNLIKELY,
    UPDATE,
    Traits,
    may_be_doubted,
    may_outdate,
    may_repeat,
    side_by_side,
    traits_of,
)
from kinkeeper.models.embedding.calibration import calibration_of
from kinkeeper.models.embedding.minilm import shared_minilm, weights_path
from training.fit_ranker import forest_of

SHIPPED = Path(kinkeeper.memory.statements.__path__[0]) / "data"
HERE = Path(__file__).parents[1] / "evals" / "data" / "memory"
MENDED = ("heldout", "heldout2", "free", *(f"free{number}" for number in range(2, 8)))
FRESH = ("free8", "free10", "taught")
"""Sittings that the rules were not mended with: they show what the rules read in what they do not know."""

FOLDS = 6
CROSSED = 1.2
WEIGHTS = {
    "fresh": 4.0,
    "mended": 1.5,
    "crossed": 0.4,
    "renamed": 0.5,
    "thought": 0.3,
    "public": 0.2,
}
STRANGERS = (
    "Bertil",
    "Oona",
    "Raf",
    "Ximena",
    "Tor",
    "Uncle Bo",
    "Priscilla",
    "my sister",
    "our neighbour",
)
THOUGHT = ("maybe ", "I hope ", "I wish ", "if ", "we might say ")
TREES = {
    "objective": "binary",
    "n_estimators": 400,
    "learning_rate": 0.05,
    "num_leaves": 8,
    "min_child_samples": 8,
    "subsample": 0.8,
    "subsample_freq": 1,
    "colsample_bytree": 0.3,
    "reg_lambda": 2,
    "verbose": -1,
    "n_jobs": 1,
    "random_state": 1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """One pair to learn from.

    Attributes:
        old: What was said.
        new: What is said now.
        relation: "update", "same", "contradiction" or "other".
        kind: Key of `WEIGHTS`.
        fold: Pairs of one fold are judged by trees that have seen none of it.
    """

    old: str
    new: str
    relation: str
    kind: str
    fold: str

    @property
    def is_real(self) -> bool:
        """Whether somebody wrote the pair as a pair."""
        return self.kind in {"fresh", "mended"}


def main() -> None:
    """Tell what the trees are worth, pair by pair judged by those that have not seen it, and write them."""
    pairs = [*taught(Path(sys.argv[1]))]
    traits = [traits_of(side_by_side(wording_of(each.old), wording_of(each.new))) for each in pairs]
    names = [*traits[0]]
    rows = np.array([[each[name] for name in names] for each in traits], np.float32)
    ruled = [by_rules(each.old, each.new).relation.value if each.is_real else "" for each in pairs]
    decided = np.array([rule not in {"", "other"} for rule in ruled])
    for relation in (UPDATE, SAME):
        chances = crossed(pairs, rows, relation)
        given = [
            ruled_on(relation, each, rule, traits=seen, chance=chance)
            for each, rule, seen, chance in zip(pairs, ruled, traits, chances, strict=True)
        ]
        tell(relation, pairs, [rule == relation for rule in ruled], given)
        decided |= np.array(given)
        forest_of(fit(pairs, rows, relation), names).save(SHIPPED / FOREST_FILES[relation])
    rows = np.hstack([rows, likenesses(pairs)])
    chances = crossed(pairs, rows, UPDATE)
    chances[decided | ~np.array([*map(_may_be_asked, pairs)])] = 0.0
    tell_asked(pairs, decided, chances)
    forest_of(fit(pairs, rows, UPDATE), [*names, LIKENESS]).save(SHIPPED / FOREST_FILES[OPEN])


def likenesses(pairs: Sequence[Taught]) -> NDArray[np.float32]:
    """Return how alike the meanings of each pair are: shape (pairs, 1).

    Args:
        pairs: All.
    """
    weights = weights_path()
    if weights is None:
        raise SystemExit("the embedder is missing; install kinkeeper[embedder]")
    model = shared_minilm(weights)
    old, new = (
        model.embed_now(texts)
        for texts in ([each.old for each in pairs], [each.new for each in pairs])
    )
    calibration = asyncio.run(calibration_of(model))
    return calibration.likeness((old * new).sum(1))[:, np.newaxis].astype(np.float32)


def _may_be_asked(pair: Taught) -> bool:
    both = side_by_side(wording_of(pair.old), wording_of(pair.new))
    return may_be_open(both, traits_of(both))


def tell_asked(
    pairs: Sequence[Taught], decided: NDArray[np.bool_], chances: NDArray[np.float64]
) -> None:
    """Print what is asked about of what was left undecided, by kind of pair.

    Args:
        pairs: All.
        decided: Whether rules or trees decide each: shape (pairs,).
        chances: Of a change, by trees that have not seen the pair; 0 where it is not asked about: shape (pairs,).
    """
    for kind in WEIGHTS:
        left = np.array([each.kind == kind for each in pairs]) & ~decided
        is_update = np.array([each.relation == UPDATE for each in pairs])
        asked = chances >= WORTH_ASKING
        print(
            f"asked, {kind}: {(asked & left & is_update).sum()} of {(left & is_update).sum()} missed updates, "
            f"{(asked & left & ~is_update).sum()} of {(left & ~is_update).sum()} others"
        )


def ruled_on(relation: str, pair: Taught, rule: str, *, traits: Traits, chance: float) -> bool:
    """Return whether rules and trees together give a pair a relation, by trees that have not seen it.

    Args:
        relation: Which.
        pair: The two.
        rule: What the rules say.
        traits: Of the pair.
        chance: What the trees say.
    """
    if rule == relation:
        return not (relation == UPDATE and may_be_doubted(traits) and chance < UNLIKELY)
    may_be = {UPDATE: may_outdate, SAME: may_repeat}[relation]
    both = side_by_side(wording_of(pair.old), wording_of(pair.new))
    return rule in {"", "other"} and chance >= SURE[relation] and may_be(both, traits)


def taught(data: Path) -> Iterator[Taught]:
    """Yield all pairs to learn from, those made from others too.

    Args:
        data: Folder with the public sets.
    """
    choice = random.Random(3)  # noqa: S311
    for name in (*MENDED, *FRESH):
        rows = [
            row
            for row in read_lines(HERE / f"relations_{name}.jsonl")
            if row["new_at"] >= row["old_at"]
        ]
        kind = "fresh" if name in FRESH else "mended"
        for row in rows:
            fold = name if kind == "mended" else _fold_of(row["old"])
            yield Taught(
                old=row["old"], new=row["new"], relation=row["relation"], kind=kind, fold=fold
            )
            yield from _made_of(row, fold, choice)
        yield from _crossed_pairs(rows, name, kind, choice)
    for row in read_lines(data / "memupdate_dev.jsonl"):
        relation = {"SUPERSEDE": "update", "MERGE": "same"}.get(row["label"], "other")
        if row["new_ts"] > row["old_ts"]:
            yield Taught(
                old=row["old"], new=row["new"], relation=relation, kind="public", fold="public"
            )
    with (data / "sick_train.txt").open(encoding="utf-8", newline="") as stream:
        apart = [
            row
            for row in csv.DictReader(stream, delimiter="\t")
            if row["entailment_judgment"] != "ENTAILMENT"
        ]
    for row in choice.sample(apart, 500):
        yield Taught(
            old=row["sentence_A"],
            new=row["sentence_B"],
            relation="other",
            kind="public",
            fold="public",
        )


def _fold_of(text: str) -> str:
    return f"fresh {int(hashlib.blake2b(text.encode(), digest_size=4).hexdigest(), 16) % FOLDS}"


def _made_of(row: dict[str, str], fold: str, choice: random.Random) -> Iterator[Taught]:
    """Yield what a pair is no more with somebody else in it, or only thought of."""
    if row["relation"] not in {"update", "same"}:
        return
    first = re.match(r"[A-Z][a-z]+\b", row["old"])
    if first and wording_of(row["new"]).told[:1] == [canon_of(first[0].lower())]:
        new = re.sub(rf"\b{first[0]}\b", choice.choice(STRANGERS), row["new"])
        if first[0] in row["new"]:
            yield Taught(old=row["old"], new=new, relation="other", kind="renamed", fold=fold)
    if row["relation"] == "update" and choice.random() < WEIGHTS["thought"]:
        new = choice.choice(THOUGHT) + row["new"]
        yield Taught(old=row["old"], new=new, relation="other", kind="thought", fold=fold)


def _crossed_pairs(
    rows: Sequence[dict[str, str]], name: str, kind: str, choice: random.Random
) -> Iterator[Taught]:
    """Yield old statements beside new ones of other pairs that share a word with them."""
    olds = {row["old"] for row in rows}
    found = sorted(
        (one["old"], other["new"])
        for one in rows
        for other in rows
        if one["old"] != other["old"]
        and other["new"] not in olds
        and not set(wording_of(one["old"]).told).isdisjoint(wording_of(other["new"]).told)
    )
    choice.shuffle(found)
    kept = [each for each in found[: 3 * len(rows)] if by_rules(*each).relation.value == "other"]
    for old, new in kept[: int(CROSSED * len(rows))]:
        fold = name if kind == "mended" else _fold_of(old)
        yield Taught(old=old, new=new, relation="other", kind="crossed", fold=fold)


def fit(pairs: Sequence[Taught], rows: NDArray[np.float32], relation: str) -> lightgbm.Booster:
    """Return trees that tell pairs of a relation from others.

    Args:
        pairs: What to learn from.
        rows: Their traits: shape (pairs, traits).
        relation: Which.
    """
    labels = np.array([each.relation == relation for each in pairs], np.int64)
    weights = np.array([WEIGHTS[each.kind] for each in pairs])
    return lightgbm.LGBMClassifier(**TREES).fit(rows, labels, sample_weight=weights).booster_


def crossed(
    pairs: Sequence[Taught], rows: NDArray[np.float32], relation: str
) -> NDArray[np.float64]:
    """Return chances by trees that have not seen a pair's sitting, or its old statement.

    Args:
        pairs: All.
        rows: Their traits: shape (pairs, traits).
        relation: Of which the chances are.
    """
    folds = np.array([each.fold for each in pairs])
    chances = np.zeros(len(pairs))
    for fold in np.unique(folds[folds != "public"]):
        known = np.flatnonzero(folds != fold)
        booster = fit([pairs[place] for place in known], rows[known], relation)
        chances[folds == fold] = booster.predict(rows[folds == fold])
    return chances


def tell(
    relation: str, pairs: Sequence[Taught], ruled: Sequence[bool], given: Sequence[bool]
) -> None:
    """Print precision and recall of the rules, and of both together, by kind of pair.

    Args:
        relation: Which is looked for.
        pairs: All.
        ruled: Whether the rules give it.
        given: Whether both together do.
    """
    for kind in WEIGHTS:
        right = np.array([each.relation == relation for each in pairs if each.kind == kind])
        cells = []
        for found in (ruled, given):
            of_kind = np.array(
                [each for each, pair in zip(found, pairs, strict=True) if pair.kind == kind]
            )
            hits = (right & of_kind).sum()
            cells.append(
                f"{hits / max(1, of_kind.sum()):.3f}/{hits / max(1, right.sum()):.3f} of {of_kind.sum()}"
            )
        print(f"{relation}, {kind} ({len(right)}): rules {cells[0]}; with trees {cells[1]}")


if __name__ == "__main__":
    main()
