"""Fit the tripwire's weights and write them into the package.

    python evals/tripwire/fit.py --data FOLDER            fit and write
    python evals/tripwire/fit.py --data FOLDER --check    cross-validate only

Needs numpy and scipy. FOLDER holds the public sets; README.md beside this file tells which are used,
how they are labelled, and what the figures are.
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from examples import (
    DOUBTFUL_WEIGHT,
    FAMILY_WEIGHT,
    HERE,
    SPELLING_SCALE,
    Example,
    Features,
    labelled_sms,
    labelled_speech,
    read_features,
    written_lines,
    written_threads,
)
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from kinkeeper.evaluation.coordination import family_messages, real_messages
from kinkeeper.language.lexicon import Lexicon
from kinkeeper.observer.tripwire import DEFAULT_THRESHOLD as THRESHOLD
from kinkeeper.observer.tripwire import OPENS_THREAD, SHORT_REPLY_BOOST, THREAD_BOOST
from kinkeeper.observer.tripwire_model import SHIPPED_WEIGHTS

RIDGE = 10.0
RAREST = 2
FOLDS = 5
# What the thread is worth near the threshold, in log-odds, so that the fit leaves room for it.
THREAD_OFFSET = 0.65
SHORT_OFFSET = 0.8

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Design:
    """Features of examples and of their context, as matrices over one vocabulary."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = list(examples)
        memo: dict[tuple[str, int], tuple[Features, bool]] = {}

        def read(text: str, lexicon: Lexicon) -> tuple[Features, bool]:
            key = (text, id(lexicon))
            if key not in memo:
                memo[key] = read_features(text, lexicon)
            return memo[key]

        own = [read(e.message.text, e.message.lexicon) for e in self.examples]
        self.features = [features for features, _ in own]
        self.is_short: Bools = np.array([short for _, short in own])
        self.context = [
            [read(text, e.message.lexicon)[0] for text in e.message.context] for e in self.examples
        ]
        self.labels: Bools = np.array([e.message.is_coordination for e in self.examples])
        self.sure: Bools = np.array([e.message.is_sure for e in self.examples])
        self.weights: Floats = np.array([e.weight for e in self.examples])
        self.reply_lines: Bools = np.array([e.is_reply_line for e in self.examples])
        self.sources = np.array([e.message.source for e in self.examples])

    def vocabulary(self, rows: NDArray[np.int_]) -> dict[tuple[str, str], int]:
        """Number the features that occur in at least two of the rows."""
        counts = Counter(name for row in rows for name in self.features[row])
        return {
            name: i for i, name in enumerate(sorted(n for n, c in counts.items() if c >= RAREST))
        }


def as_matrix(features: Iterable[Features], vocabulary: dict[tuple[str, str], int]) -> csr_matrix:
    """Return one row for each set of features, shape (n, vocabulary)."""
    data, columns, ends = [], [], [0]
    for row in features:
        for name, value in row.items():
            column = vocabulary.get(name)
            if column is not None:
                columns.append(column)
                data.append(value)
        ends.append(len(data))
    return csr_matrix((data, columns, ends), shape=(len(ends) - 1, len(vocabulary)))


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


def out_of_fold(design: Design, train: Bools) -> tuple[Floats, Floats]:
    """Cross-validate over conversations: log-odds of each row, and the highest of its context."""
    count = len(design.examples)
    folds = np.array([fold_of(e.message.conversation) for e in design.examples])
    folds[design.sources == "written lines"] = -1
    log_odds, peaks = np.zeros(count), np.where(design.reply_lines, np.inf, -np.inf)
    for _ in range(2):
        offsets = context_offsets(design, peaks)
        for fold in range(FOLDS):
            rows = np.flatnonzero(train & (folds != fold))
            vocabulary = design.vocabulary(rows)
            x = as_matrix((design.features[row] for row in rows), vocabulary)
            coefficients, bias = fit(x, design.labels[rows], design.weights[rows], offsets[rows])
            for row in np.flatnonzero(folds == fold):
                own, *context = (
                    as_matrix([design.features[row], *design.context[row]], vocabulary)
                    @ coefficients
                    + bias
                )
                log_odds[row], peaks[row] = own, max(context, default=-np.inf)
    return log_odds, peaks


def context_offsets(design: Design, peaks: Floats) -> Floats:
    """Return what the thread is worth to each row, in log-odds."""
    live = logistic(peaks) >= OPENS_THREAD
    return live * (THREAD_OFFSET + SHORT_OFFSET * design.is_short)


def queued(log_odds: Floats, peaks: Floats, is_short: Bools) -> Bools:
    """Apply the gate: score, what the thread adds, threshold."""
    live = logistic(peaks) >= OPENS_THREAD
    boosts = live * (THREAD_BOOST + SHORT_REPLY_BOOST * is_short)
    return logistic(log_odds) + boosts >= THRESHOLD


def figures(said: Bools, labels: Bools) -> tuple[float, float, float]:
    """Return precision, recall and F1."""
    hits = float((said & labels).sum())
    precision, recall = hits / max(1.0, said.sum()), hits / max(1.0, labels.sum())
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def calibrate(design: Design, log_odds: Floats, peaks: Floats, rows: Bools) -> tuple[float, float]:
    """Choose the scale and shift of the log-odds with the best F1 at the threshold."""
    best = (0.0, 1.0, 0.0)
    for scale in np.arange(0.6, 2.01, 0.1):
        for shift in np.arange(-1.5, 2.01, 0.1):
            said = queued(scale * log_odds + shift, scale * peaks + shift, design.is_short)
            _, _, score = figures(said[rows], design.labels[rows])
            best = max(best, (score, float(scale), float(shift)))
    return best[1], best[2]


def report(design: Design, said: Bools) -> None:
    """Print figures for each source."""
    for source in sorted(set(design.sources)):
        rows = design.sources == source
        for name, part in (("sure", rows & design.sure), ("all", rows)):
            p, r, f = figures(said[part], design.labels[part])
            n = int(design.labels[part].sum())
            print(
                f"{source:24} {name:5} n={int(part.sum()):5} pos={n:4} P={p:.3f} R={r:.3f} F1={f:.3f} queued={said[part].mean():.3f}"
            )


def export(
    coefficients: Floats, bias: float, vocabulary: dict[tuple[str, str], int], path: Path
) -> None:
    """Write the weights as JSON, rounded; features that weigh next to nothing are left out."""
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
            name: round(float(coefficients[i]) * factor, 3)
            for (kind, name), i in vocabulary.items()
            if kind == group and abs(coefficients[i]) * factor > least
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
    parser.add_argument("--with-real", action="store_true", help="fit on the measured real set too")
    arguments = parser.parse_args()
    real = [
        Example(m, 1.0 if m.is_sure else DOUBTFUL_WEIGHT)
        for m in real_messages(arguments.data / "coordination_real_dev.jsonl")
    ]
    family = {
        split: [
            Example(replace(m, source=f"family {split}"), FAMILY_WEIGHT)
            for m in family_messages(HERE.parent, split)
        ]
        for split in ("dev", "heldout")
    }
    design = Design(
        [
            *real,
            *labelled_sms(arguments.data),
            *labelled_speech(arguments.data),
            *family["dev"],
            *family["heldout"],
            *written_lines(),
            *written_threads(),
        ]
    )
    train = design.sources != "family heldout"
    if not arguments.with_real:
        train &= ~np.isin(design.sources, sorted({e.message.source for e in real}))
    log_odds, peaks = out_of_fold(design, train)
    chosen = train & design.sure & (design.sources != "written lines")
    scale, shift = calibrate(design, log_odds, peaks, chosen)
    print(f"cross-validated; scale {scale:.1f}, shift {shift:.1f}")
    report(design, queued(scale * log_odds + shift, scale * peaks + shift, design.is_short))
    if arguments.check:
        return
    rows = np.flatnonzero(train)
    vocabulary = design.vocabulary(rows)
    offsets = context_offsets(design, peaks)
    x = as_matrix((design.features[row] for row in rows), vocabulary)
    coefficients, bias = fit(x, design.labels[rows], design.weights[rows], offsets[rows])
    export(scale * coefficients, scale * bias + shift, vocabulary, SHIPPED_WEIGHTS)


if __name__ == "__main__":
    main()
