"""Fit the tripwire's weights and write them into the package.

    python -m training.fit_tripwire --data FOLDER            fit and write
    python -m training.fit_tripwire --data FOLDER --check    cross-validate only

Needs numpy and scipy. FOLDER holds the public sets; evals/data/tripwire/README.md tells which are used,
how they are labelled, and what the figures are.
"""

import argparse
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from evals.coordination import family_messages
from kinkeeper.observer.tripwire.gate import DEFAULT_THRESHOLD as THRESHOLD
from kinkeeper.observer.tripwire.gate import OPENS_THREAD, SHORT_REPLY_BOOST, THREAD_BOOST
from kinkeeper.observer.tripwire.model import SHIPPED_WEIGHTS
from training.tripwire_examples import (
    FAMILY_WEIGHT,
    HERE,
    PATTERNS,
    SPELLING_SCALE,
    USAGE_SCALE,
    Example,
    Features,
    labelled_help,
    labelled_sms,
    labelled_speech,
    read_features,
    read_words,
    written_lines,
    written_threads,
)
from training.tripwire_usage import DIMENSIONS, unlabelled, word_vectors

RIDGE = 6.0
RAREST = 2
FOLDS = 5
# What the thread is worth near the threshold, in log-odds, so that the fit leaves room for it.
THREAD_OFFSET = 0.65
SHORT_OFFSET = 0.8

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int_]

KINDS = (
    ["nus_sms (fitting)"],
    ["cabnc (fitting)"],
    ["family dev", "written threads", "written chats"],
)


class Design:
    """Examples as numbers: one row of features for each different text, and who has which context."""

    def __init__(self, examples: Sequence[Example], data: Path) -> None:
        self.examples = list(examples)
        self._rows: dict[tuple[str, int], int] = {}
        self._read: list[tuple[list[str], bool]] = []
        self.own = np.array([self._row(e, e.message.text) for e in self.examples])
        context = [
            (at, self._row(e, text))
            for at, e in enumerate(self.examples)
            for text in e.message.context
        ]
        self.heard_by, self.heard = np.array(context).T
        self.vectors = word_vectors([*unlabelled(data, PATTERNS), *(w for w, _ in self._read)])
        self.names, self.matrix = as_matrix(read_features(w, self.vectors) for w, _ in self._read)
        self.is_short: Bools = np.array([self._read[row][1] for row in self.own])
        self.labels: Bools = np.array([e.message.is_coordination for e in self.examples])
        self.sure: Bools = np.array([e.message.is_sure for e in self.examples])
        self.answers: Bools = np.array([e.message.answers_open_question for e in self.examples])
        self.weights: Floats = np.array([e.weight for e in self.examples])
        self.reply_lines: Bools = np.array([e.is_reply_line for e in self.examples])
        self.sources = np.array([e.message.source for e in self.examples])

    def _row(self, example: Example, text: str) -> int:
        key = (text, id(example.message.lexicon))
        if key not in self._rows:
            self._rows[key] = len(self._read)
            self._read.append(read_words(text, example.message.lexicon))
        return self._rows[key]

    def frequent(self, rows: Ints) -> Ints:
        """Return the columns of features that occur in at least two of the rows."""
        counts = np.asarray((self.matrix[self.own[rows]] != 0).sum(axis=0)).ravel()
        return np.flatnonzero(counts >= RAREST)

    def judge(self, weights: Floats, bias: float, tested: Bools) -> tuple[Floats, Floats]:
        """Return the log-odds of examples, and the highest in the context of each."""
        scores = self.matrix @ weights + bias
        peaks = np.full(len(self.own), -np.inf)
        np.maximum.at(peaks, self.heard_by, scores[self.heard])
        return scores[self.own][tested], peaks[tested]


def as_matrix(messages: Iterable[Features]) -> tuple[list[tuple[str, str]], csr_matrix]:
    """Return the names of all features, and one row for each message."""
    columns: dict[tuple[str, str], int] = {}
    data, places, ends = [], [], [0]
    for features in messages:
        for name, value in features.items():
            places.append(columns.setdefault(name, len(columns)))
            data.append(value)
        ends.append(len(data))
    return list(columns), csr_matrix((data, places, ends), shape=(len(ends) - 1, len(columns)))


def logistic(z: Floats) -> Floats:
    """Return 1 / (1 + exp(-z))."""
    return 1 / (1 + np.exp(-np.clip(z, -30, 30)))


def fit(x: csr_matrix, labels: Bools, weights: Floats, offsets: Floats) -> tuple[Floats, float]:
    """Fit a ridge logistic regression with fixed offsets; return coefficients and bias."""
    size = x.shape[1]
    signs = np.where(labels, 1.0, -1.0)
    transposed = x.T.tocsr()

    def loss(p: Floats) -> tuple[float, Floats]:
        margin = -signs * (x @ p[:size] + p[size] + offsets)
        slope = -signs * weights * logistic(margin)
        value = (weights * np.logaddexp(0, margin)).sum() + RIDGE / 2 * (p[:size] ** 2).sum()
        return float(value), np.append(transposed @ slope + RIDGE * p[:size], slope.sum())

    found = minimize(
        loss, np.zeros(size + 1), jac=True, method="L-BFGS-B", options={"maxiter": 400}
    )
    return found.x[:size], float(found.x[size])


def fold_of(conversation: str) -> int:
    """Return the fold in which a conversation is tested."""
    digest = hashlib.sha1(conversation.encode(), usedforsecurity=False).hexdigest()
    return int(digest[:8], 16) % FOLDS


def fit_rows(design: Design, rows: Ints, offsets: Floats) -> tuple[Floats, float]:
    """Fit on some of the examples; a feature seen once weighs nothing."""
    kept = design.frequent(rows)
    x = design.matrix[design.own[rows]][:, kept]
    coefficients, bias = fit(x, design.labels[rows], design.weights[rows], offsets[rows])
    weights = np.zeros(len(design.names))
    weights[kept] = coefficients
    return weights, bias


def out_of_fold(design: Design) -> tuple[Floats, Floats]:
    """Cross-validate over conversations: log-odds of each row, and the highest of its context."""
    count = len(design.examples)
    folds = np.array([fold_of(e.message.conversation) for e in design.examples])
    folds[design.sources == "written lines"] = -1
    log_odds, peaks = np.zeros(count), np.where(design.reply_lines, np.inf, -np.inf)
    for _ in range(2):
        offsets = context_offsets(design, peaks)
        for fold in range(FOLDS):
            weights, bias = fit_rows(design, np.flatnonzero(folds != fold), offsets)
            tested = folds == fold
            log_odds[tested], peaks[tested] = design.judge(weights, bias, tested)
    return log_odds, peaks


def context_offsets(design: Design, peaks: Floats) -> Floats:
    """Return what the thread is worth to each row, in log-odds."""
    live = logistic(peaks) >= OPENS_THREAD
    return live * (THREAD_OFFSET + SHORT_OFFSET * design.is_short)


def queued(design: Design, log_odds: Floats, peaks: Floats) -> Bools:
    """Apply the gate: score, what the thread adds, threshold, answers to open questions."""
    live = logistic(peaks) >= OPENS_THREAD
    boosts = live * (THREAD_BOOST + SHORT_REPLY_BOOST * design.is_short)
    return (logistic(log_odds) + boosts >= THRESHOLD) | design.answers


def figures(said: Bools, labels: Bools, weights: Floats) -> tuple[float, float, float]:
    """Return precision, recall and F1."""
    hits = float(weights[said & labels].sum())
    precision = hits / max(1e-9, weights[said].sum())
    recall = hits / max(1e-9, weights[labels].sum())
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def calibrate(design: Design, log_odds: Floats, peaks: Floats) -> tuple[float, float]:
    """Choose the scale and shift of the log-odds with the best F1 at the threshold.

    Text messages, household talk and family chats count the same, however many there are of each.
    """
    weights = np.zeros(len(design.labels))
    for kind in KINDS:
        rows = design.sure & np.isin(design.sources, kind)
        weights[rows] = 1 / max(1, design.labels[rows].sum())
    best = (0.0, 1.0, 0.0)
    for scale in np.arange(0.6, 2.01, 0.1):
        for shift in np.arange(-1.5, 2.01, 0.1):
            said = queued(design, scale * log_odds + shift, scale * peaks + shift)
            _, _, score = figures(said, design.labels, weights)
            best = max(best, (score, float(scale), float(shift)))
    return best[1], best[2]


def report(design: Design, said: Bools) -> None:
    """Print figures for each source; the written lines are in every fold's fit."""
    for source in sorted(set(design.sources) - {"written lines"}):
        rows = design.sources == source
        for name, part in (("sure", rows & design.sure), ("all", rows)):
            p, r, f = figures(said[part], design.labels[part], np.ones(int(part.sum())))
            n = int(design.labels[part].sum())
            print(
                f"{source:24} {name:5} n={int(part.sum()):5} pos={n:4} P={p:.3f} R={r:.3f} F1={f:.3f} queued={said[part].mean():.3f}"
            )


def export(design: Design, weights: Floats, bias: float, path: Path) -> None:
    """Write the weights as JSON, rounded; features that weigh next to nothing are left out.

    What the fit learnt from the use of words becomes a weight of each word.
    """
    fitted = dict(zip(design.names, (float(weight) for weight in weights), strict=True))
    direction = np.array([fitted.get(("usage", str(at)), 0.0) for at in range(DIMENSIONS)])
    for word, vector in design.vectors.items():
        own = fitted.get(("words", word), 0.0)
        fitted["words", word] = own + USAGE_SCALE * float(vector @ direction)
    document: dict[str, object] = {"bias": round(bias, 3)}
    for group, least in (
        ("words", 0.015),
        ("spelling", 0.004),
        ("families", 0.0),
        ("pairs", 0.004),
        ("shape", 0.0),
    ):
        factor = SPELLING_SCALE if group == "spelling" else 1.0
        document[group] = {
            name: round(weight * factor, 3)
            for (kind, name), weight in sorted(fitted.items())
            if kind == group and abs(weight) * factor > least
        }
    path.write_text(
        json.dumps(document, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )
    print(
        path,
        path.stat().st_size,
        "bytes",
        {k: len(v) for k, v in document.items() if isinstance(v, dict)},
    )


def main() -> None:
    """Read, cross-validate, choose the operating point, fit on everything and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    family = [
        Example(replace(m, source="family dev"), FAMILY_WEIGHT)
        for m in family_messages(HERE.parent, "dev")
    ]
    examples = [
        *labelled_sms(arguments.data),
        *labelled_speech(arguments.data),
        *labelled_help(arguments.data),
        *family,
        *written_lines(),
        *written_threads(),
    ]
    design = Design(examples, arguments.data)
    log_odds, peaks = out_of_fold(design)
    scale, shift = calibrate(design, log_odds, peaks)
    print(f"cross-validated; scale {scale:.1f}, shift {shift:.1f}")
    report(design, queued(design, scale * log_odds + shift, scale * peaks + shift))
    if arguments.check:
        return
    offsets = context_offsets(design, peaks)
    weights, bias = fit_rows(design, np.arange(len(examples)), offsets)
    export(design, scale * weights, scale * bias + shift, SHIPPED_WEIGHTS)


if __name__ == "__main__":
    main()
