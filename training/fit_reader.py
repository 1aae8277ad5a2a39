"""Fit the heads of the trained reader on the writers' text, measure them on writers held out, and write them into the package.

    python -m training.fit_reader             fit and write
    python -m training.fit_reader --check     measure the shipped weights

Needs scikit-learn (the embedder's extra); takes some minutes on one core. Four writers are held out for good, so a figure is for hands that the reader has not seen.
"""

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score

import kinkeeper.reading
from kinkeeper.language.text import fold
from kinkeeper.reading.model import Clause, Context, Modality, Said, Surface, Utterance
from kinkeeper.reading.trained import (
    BUCKETS,
    NO_PREDICATE,
    Head,
    Weights,
    hashed_features,
    shipped_weights,
)
from training.corpus import CALIBRATED_ON, HELD_OUT, Talk, read_corpus
from training.corpus import Clause as Labelled

DATA: Final = Path(__file__).parent / "data"
SHIPPED: Final = Path(kinkeeper.reading.__path__[0]) / "data"
ASSISTANT: Final = "Kin"
RIDGE: Final = 0.25
SEED: Final = 7
QUESTIONS: Final = ("plan", "act", "predicate", "modality", "negated", "secret")
_YES: Final = "yes"
MODALITIES: Final = {
    "past": Modality.PAST,
    "cond": Modality.CONDITIONAL,
    "hyp": Modality.HYPOTHETICAL,
    "reported": Modality.REPORTED,
    "quoted": Modality.QUOTED,
    "joke": Modality.JOKE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One labelled clause with what the reader sees of it."""

    writer: str
    surface: Surface
    features: Mapping[int, float]
    labels: Mapping[str, str]


def main() -> None:
    """Fit, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="measure the shipped weights only")
    is_check = parser.parse_args().check
    rows = [*rows_of(DATA)]
    matrix = matrix_of(rows)
    weights = shipped_weights() if is_check else fitted(rows, matrix)
    print(json.dumps({"clauses": len(rows), **measured(rows, matrix, weights)}, indent=1))
    if not is_check:
        weights.save(SHIPPED / "reader.npz")


def rows_of(folder: Path) -> Iterator[Row]:
    """Yield every clause that a person said."""
    for writer, talk in read_corpus(folder):
        yield from _rows(talk, writer)


def _rows(talk: Talk, writer: str) -> Iterator[Row]:
    at = datetime.fromisoformat(talk.at).replace(tzinfo=ZoneInfo("UTC"))
    before: list[Said] = []
    for message in talk.messages:
        utterance = Utterance(
            text=message.text, speaker=message.speaker, sent_at=at, surface=Surface(talk.surface)
        )
        context = Context(before=tuple(before), people=people_of(talk))
        if message.speaker != ASSISTANT:
            for clause in message.clauses:
                yield Row(
                    writer=writer,
                    surface=utterance.surface,
                    features=hashed_features(utterance, Clause(clause.start, clause.end), context),
                    labels=labels_of(clause),
                )
        before.append(Said(message.speaker, message.text))


def people_of(talk: Talk) -> frozenset[str]:
    """Return the names of a talk's people, folded: speakers, and capitalised words of the household line."""
    named = re.findall(r"\b[A-Z][\w'’-]+", talk.people)
    speakers = [part for each in talk.messages for part in each.speaker.split()]
    return frozenset(fold(each).text for each in {*named, *speakers})


def is_plan(clause: Labelled) -> bool:
    """Return whether a clause arranges, asks or tells something that could be kept."""
    return clause.act not in {"none", "greet"} and clause.modality is None


def labels_of(clause: Labelled) -> dict[str, str]:
    """Return the label of a clause for each question."""
    modality = MODALITIES.get(clause.modality or "", Modality.PLAIN)
    return {
        "plan": _YES if is_plan(clause) else "no",
        "act": clause.act,
        "predicate": clause.predicate or NO_PREDICATE,
        "modality": modality.value,
        "negated": _YES if clause.is_negated else "no",
        "secret": _YES if clause.is_secret else "no",
    }


def version_of(folder: Path) -> str:
    """Return what tells this text apart from any other: the same text gives the same weights."""
    digest = sha256()
    for path in sorted(folder.glob("*/*.txt")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def matrix_of(rows: Sequence[Row]) -> csr_matrix:
    """Return all features, shape (rows, BUCKETS)."""
    pointer = np.cumsum([0, *(len(row.features) for row in rows)])
    columns = [bucket for row in rows for bucket in row.features]
    values = [value for row in rows for value in row.features.values()]
    return csr_matrix((values, columns, pointer), shape=(len(rows), BUCKETS), dtype=np.float32)


def held_out(rows: Sequence[Row]) -> NDArray[np.bool_]:
    """Return which rows are by writers whom nothing is fitted on."""
    return np.array([row.writer in HELD_OUT for row in rows])


def fitted(rows: Sequence[Row], matrix: csr_matrix) -> Weights:
    """Return the heads, fitted on all writers but those held out; temperatures fit writers of their own."""
    heads = {}
    kept = np.array([row.writer in CALIBRATED_ON for row in rows])
    own = ~kept & ~held_out(rows)
    for question in QUESTIONS:
        wanted = np.array([row.labels[question] for row in rows])
        model = _fit(matrix[own], wanted[own])
        two = len(model.classes_) == 2  # noqa: PLR2004 - a pair of labels has one column
        weights, bias = model.coef_, model.intercept_
        head = Head(
            labels=tuple(map(str, model.classes_)),
            weights=(np.vstack([-weights / 2, weights / 2]) if two else weights).T.astype(
                np.float16
            ),
            bias=(np.hstack([-bias / 2, bias / 2]) if two else bias).astype(np.float32),
            temperature=1.0,
        )
        known = kept & np.isin(wanted, model.classes_)
        places = np.searchsorted(model.classes_, wanted[known])
        heads[question] = replace(
            head, temperature=_temperature(_sums(head, matrix[known]), places)
        )
    return Weights(version=version_of(DATA), heads=heads)


def measured(rows: Sequence[Row], matrix: csr_matrix, weights: Weights) -> dict[str, Any]:
    """Return figures of weights on writers held out."""
    held, figures = held_out(rows), {}
    own = [row for row in rows if row.writer in HELD_OUT]
    for question, head in weights.heads.items():
        wanted, labels = np.array([row.labels[question] for row in own]), np.array(head.labels)
        chances = _softmax(_sums(head, matrix[held]) / head.temperature)
        found = labels[chances.argmax(1)]
        figures[question] = {
            "right": round(float((found == wanted).mean()), 3),
            "macro F": round(float(f1_score(wanted, found, average="macro")), 3),
            "calibration error": round(_calibration(chances.max(1), found == wanted), 3),
            "F by label": {
                label: round(float(each), 2)
                for label, each in zip(
                    labels, f1_score(wanted, found, average=None, labels=labels), strict=True
                )
            },
        }
        if question == "plan":
            figures["plans in groups"] = _plans(own, wanted == _YES, chances[:, 1])
    return figures


def _plans(
    rows: Sequence[Row], wanted: NDArray[np.bool_], score: NDArray[np.float64]
) -> dict[str, float]:
    """Return how well the group's clauses that arrange something are told from talk."""
    group = np.array([row.surface is Surface.GROUP for row in rows])
    wanted, score = wanted[group], score[group]
    order = np.argsort(-score)
    precision = np.cumsum(wanted[order]) / np.arange(1, len(order) + 1)
    recall = np.cumsum(wanted[order]) / wanted.sum()
    return {
        "average precision": round(float(average_precision_score(wanted, score)), 3),
        **{
            f"recall at precision {least}": round(
                float(recall[precision >= least].max(initial=0)), 3
            )
            for least in (0.8, 0.9, 0.95)
        },
    }


def _fit(matrix: csr_matrix, wanted: NDArray[np.str_]) -> LogisticRegression:
    return LogisticRegression(C=1 / RIDGE, max_iter=150, tol=1e-3, random_state=SEED).fit(
        matrix, wanted
    )


def _sums(head: Head, matrix: csr_matrix) -> NDArray[np.float64]:
    return np.asarray(matrix @ head.weights.astype(np.float32) + head.bias, dtype=np.float64)


def _softmax(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    chances = np.exp(sums - sums.max(1, keepdims=True))
    return chances / chances.sum(1, keepdims=True)


def _temperature(sums: NDArray[np.float64], wanted: NDArray[np.intp]) -> float:
    """Return what the sums are divided by so that the chances fit best (maximum likelihood)."""

    def loss(temperature: float) -> float:
        chances = _softmax(sums / temperature)
        return float(-np.log(chances[np.arange(len(wanted)), wanted] + 1e-12).mean())

    return float(minimize_scalar(loss, bounds=(0.2, 5.0), method="bounded").x)


def _calibration(chances: NDArray[np.float64], is_right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten bins."""
    bins = np.minimum((chances * 10).astype(int), 9)
    return sum(
        float(
            abs(chances[bins == each].mean() - is_right[bins == each].mean())
            * (bins == each).mean()
        )
        for each in range(10)
        if (bins == each).any()
    )


if __name__ == "__main__":
    main()
