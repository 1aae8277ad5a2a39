"""Fit the heads that sort requests and statements, and write them into the package.

    python -m training.fit_sorter --data FOLDER

Needs scipy and the embedder's extra. FOLDER holds the public sets; evals/data/sorting/README.md tells
which are used and what the figures are.
"""

import argparse
import asyncio
import importlib
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from evals.sorting_gold import (
    OWN_REQUESTS,
    OWN_STATEMENTS,
    SINGLE_SETS,
    Request,
    Statement,
    own_requests,
    own_statements,
    public_requests,
    public_statements,
)
from kinkeeper.language.sorting import domains
from kinkeeper.language.sorting.sorter import CUES_ALONE, Kind, head_file
from kinkeeper.memory.model import Category
from kinkeeper.memory.statements import classification
from kinkeeper.models.embedding.embedder import (
    Embedder,
    HashingEmbedder,
    LinearHead,
    WithWords,
    with_words,
)
from kinkeeper.models.embedding.minilm import MiniLm, weights_path

EVALS = Path(__file__).parents[1] / "evals" / "data"
RIDGE = 0.3
# A vector's numbers are small beside a cue's 1, and would count too little under the same ridge.
VECTOR_RIDGE = RIDGE / 4
# What a family says counts for more than what people told to invent commands for a phone said.
OWN_REQUEST_WEIGHT = 10.0
# Most of one set is for skills this assistant does not have; in doubt what it can do is meant.
OTHER_WEIGHT = 0.5
UNSURE_WEIGHT = 0.3
VECTOR_SCALE = 2.0
INVERSE_RIDGE = 3.0
MOST_STEPS = 120
PUBLIC_STATEMENT_WEIGHT = 0.15

Floats = NDArray[np.float64]


def main() -> None:
    """Fit and write all heads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", choices=("domain", "category"), help="fit one kind alone")
    arguments = parser.parse_args()
    data = arguments.data
    requests = _requests(data)
    statements = [*own_statements(EVALS, OWN_STATEMENTS), *public_statements(data)]
    statements = [each for each in statements if not each.is_held_out]
    weights = weights_path()
    if weights is None:
        raise SystemExit("the embedder's extra is not installed")
    for embedder in (None, HashingEmbedder(), MiniLm(weights)):
        if arguments.only != "category":
            _fit_domains(requests, with_words(embedder))
        if arguments.only != "domain":
            _fit_categories(statements, embedder)


def _requests(data: Path) -> list[Request]:
    found = {each.text: each for each in own_requests(EVALS, OWN_REQUESTS)}
    for name in SINGLE_SETS:
        for each in public_requests(data, name):
            if not each.is_held_out and (each.is_sure or each.domains):
                found.setdefault(each.text, each)
    return [*found.values()]


def _fit_domains(requests: Sequence[Request], embedder: Embedder | None) -> None:
    """Fit kinds of requests, of which each domain has many: so what the assistant cannot do is told apart, too."""
    rows = [(each, domain) for each in requests for domain in sorted(each.domains) or [None]]
    texts = [each.text for each, _ in rows]
    weights = [_request_weight(each) / max(1, len(each.domains)) for each, _ in rows]
    labels = [f"{domain or ''}{domains.MARK}{each.kind}" for each, domain in rows]
    features = _features(domains.KIND, texts, embedder)
    # In sight of the same ridge a vector's numbers are made as large as a cue's 1.
    cues = len(domains.KIND.cue_names)
    scale = VECTOR_SCALE * (sqrt(2) if isinstance(embedder, WithWords) else 1)
    features[:, cues:] *= scale
    model = LogisticRegression(C=INVERSE_RIDGE, max_iter=MOST_STEPS, tol=1e-3)
    model.fit(csr_matrix(features), labels, sample_weight=weights)
    found = model.coef_.T.copy()
    found[cues:] *= scale
    _save(
        domains.KIND,
        embedder,
        len(texts),
        LinearHead(
            model=_name(embedder),
            labels=tuple(map(str, model.classes_)),
            is_exclusive=True,
            cues=domains.KIND.cue_names,
            weights=found.astype(np.float32),
            bias=model.intercept_.astype(np.float32),
        ),
    )


def _request_weight(request: Request) -> float:
    if request.source == "own":
        return OWN_REQUEST_WEIGHT
    if not request.is_sure:
        return UNSURE_WEIGHT
    return 1.0 if request.domains or request.source != "clinc_router" else OTHER_WEIGHT


def _fit_categories(statements: Sequence[Statement], embedder: Embedder | None) -> None:
    labels = tuple(Category)
    truth = np.array([[label == each.category for label in labels] for each in statements])
    weights = np.array(
        [1.0 if each.source == "own" else PUBLIC_STATEMENT_WEIGHT for each in statements]
    )
    texts = [each.text for each in statements]
    _fit(classification.KIND, texts, truth, weights, labels, embedder, is_exclusive=True)


def _fit(  # noqa: PLR0917 - one table and how to read it
    kind: Kind,
    texts: Sequence[str],
    truth: NDArray[np.bool_],
    weights: Floats,
    labels: Sequence[str],
    embedder: Embedder | None,
    *,
    is_exclusive: bool,
) -> None:
    features = _features(kind, texts, embedder)
    ridge = np.full((features.shape[1], 1), VECTOR_RIDGE)
    ridge[: len(kind.cue_names)] = RIDGE
    solution = _solved(
        features, truth.astype(np.float64), weights, ridge, is_exclusive=is_exclusive
    )
    head = LinearHead(
        model=_name(embedder),
        labels=tuple(labels),
        cues=kind.cue_names,
        is_exclusive=is_exclusive,
        weights=solution[:-1].astype(np.float32),
        bias=solution[-1].astype(np.float32),
    )
    _save(kind, embedder, len(texts), head)


def _features(kind: Kind, texts: Sequence[str], embedder: Embedder | None) -> Floats:
    seen = [kind.cues_of(text) for text in texts]
    features = np.array([[own.get(name, 0.0) for name in kind.cue_names] for own in seen])
    if embedder is not None:
        features = np.hstack([features, asyncio.run(embedder.embed(texts))])
    return features


def _name(embedder: Embedder | None) -> str:
    return embedder.model if embedder else CUES_ALONE


def _save(kind: Kind, embedder: Embedder | None, texts: int, head: LinearHead) -> None:
    package = importlib.import_module(kind.package)
    path = Path(package.__path__[0]) / "data" / head_file(kind, _name(embedder))
    head.save(path)
    print(f"{path.name}: {texts:,} texts, {path.stat().st_size / 1024:.0f} kB")


def _solved(
    features: Floats, truth: Floats, weights: Floats, ridge: Floats, *, is_exclusive: bool
) -> Floats:
    """Return weights and, in the last row, the bias, of least loss."""
    table = csr_matrix(features)
    shape = features.shape[1] + 1, truth.shape[1]
    each = weights[:, None]

    def loss(flat: Floats) -> tuple[float, Floats]:
        solution = flat.reshape(shape)
        sums = table @ solution[:-1] + solution[-1]
        if is_exclusive:
            logs = sums - np.logaddexp.reduce(sums, axis=1, keepdims=True)
            chances, total = np.exp(logs), -(each * truth * logs).sum()
        else:
            chances = 1 / (1 + np.exp(-sums))
            total = (each * (np.logaddexp(0, sums) - truth * sums)).sum()
        gap = (chances - truth) * each
        slope = np.vstack([table.T @ gap + ridge * solution[:-1], gap.sum(axis=0)])
        return total + float((ridge * solution[:-1] ** 2).sum()) / 2, slope.ravel()

    start = np.zeros(shape[0] * shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 400})
    return np.asarray(found.x).reshape(shape)


if __name__ == "__main__":
    main()
