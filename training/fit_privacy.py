"""Fit the heads that hear of private affairs and of wishes for secrecy, measure them, and write them into the package.

    python -m training.fit_privacy             fit and write
    python -m training.fit_privacy --check     measure the shipped weights

Needs the embedder's extra; takes a minute or two on one core. Writers p7 and p8, and w09 to w12, are held out for good. Thresholds
come from cross-validation over the other writers, and are written into the biases: a chance of one half decides.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

import kinkeeper.memory.statements
from evals.sorting_gold import OWN_REQUESTS, own_requests
from kinkeeper.household.file import load_household
from kinkeeper.household.viewers import person_scope
from kinkeeper.language.sorting.sorter import head_file, load_head
from kinkeeper.memory.statements.discretion import KIND, OWN, WISH, vectors_of
from kinkeeper.memory.statements.secrecy import audience_of
from kinkeeper.models.embedding.embedder import MODEL, LinearHead, Vectors, hashed
from training.corpus import HELD_OUT, Talk, read_corpus

DATA: Final = Path(__file__).parent / "data"
EVALS: Final = Path(__file__).parents[1] / "evals" / "data"
HOUSEHOLD: Final = EVALS / "audience" / "household.toml"
SHIPPED: Final = Path(kinkeeper.memory.statements.__path__[0]) / "data"
HELD_OUT_HERE: Final = frozenset({"p7", "p8"})
TELLER: Final = "niamh"
ASSISTANT: Final = "Kin"
FOLDS: Final = 6
INVERSE_RIDGE: Final = 8.0
# What is said to the assistant in other talks: it asks and arranges, and should seldom be taken for what is private.
OTHER_WEIGHTS: Final = {OWN: 0.1, WISH: 0.3}
LEAST_RECALL: Final = 0.95
MOST_NARROWED: Final = 0.25
MOST_MISHEARD: Final = 0.02

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Example(NamedTuple):
    """A message with its labels; None where a label is not known."""

    writer: str
    text: str
    is_own: bool | None
    is_wish: bool


def main() -> None:
    """Fit, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="measure the shipped weights only")
    is_check = parser.parse_args().check
    examples = [*_labelled(), *_others()]
    texts = [each.text for each in examples]
    for model, vectors in (vectors_of(texts), (MODEL, hashed(texts))):
        if not is_check:
            _fit(examples, model, vectors)
        head = load_head(KIND, model)
        if head is None:
            raise SystemExit(f"no head is shipped for {model}")
        print(model, json.dumps(_on_held_out(examples, vectors, head), indent=1))
    print(json.dumps({each: _kept(examples, each) for each in sorted(HELD_OUT_HERE)}, indent=1))


def _labelled() -> Iterator[Example]:
    for path in sorted((DATA / "privacy").glob("*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            label, wish, text = line.split("\t")
            yield Example(path.stem, text, label == OWN, wish == WISH)


def _others() -> Iterator[Example]:
    """Yield what is said to the assistant in our own requests and the writers' talks; what only asks for something tells nothing private."""
    for each in own_requests(EVALS, OWN_REQUESTS):
        yield Example("requests", each.text, is_own=False, is_wish=False)
    for writer, talk in read_corpus(DATA):
        if writer not in HELD_OUT:
            yield from _of_talk(writer, talk)


def _of_talk(writer: str, talk: Talk) -> Iterator[Example]:
    for message in talk.messages:
        is_secret = any(each.is_secret for each in message.clauses)
        if message.speaker == ASSISTANT or (talk.surface == "group" and not is_secret):
            continue
        tells = (
            talk.surface != "assistant"
            or is_secret
            or any(
                each.act in {"state", "correct"} or each.predicate in {"fact", "preference"}
                for each in message.clauses
            )
        )
        yield Example(writer, message.text, None if tells else False, is_secret)


@dataclass(frozen=True, kw_only=True)
class Question:
    """Everything known of one label: a row of each array is one example.

    Attributes:
        label: Own affairs or a wish.
        writers: Of the examples.
        vectors: Shape (examples, dimension).
        truth: Whether the label holds.
        known: Whether that is known, and may be fitted.
        asked: Whether the example was written to be judged, and not taken from talks.
    """

    label: str
    writers: NDArray[np.str_]
    vectors: Vectors
    truth: Flags
    known: Flags
    asked: Flags

    def fitted(self, chosen: Flags) -> LogisticRegression:
        """Return a regression over some of the examples."""
        weights = np.where(self.asked, 1.0, OTHER_WEIGHTS[self.label])
        model = LogisticRegression(C=INVERSE_RIDGE, max_iter=2000)
        return model.fit(self.vectors[chosen], self.truth[chosen], weights[chosen])

    def cross_validated(self) -> Floats:
        """Return sums by heads that have not seen the writer of an example."""
        fold = np.unique(self.writers, return_inverse=True)[1] % FOLDS
        scores = np.full(len(fold), -np.inf)
        for number in range(FOLDS):
            model = self.fitted(self.known & (fold != number))
            scores[fold == number] = model.decision_function(self.vectors[fold == number])
        return scores

    def threshold(self, scores: Floats) -> float:
        """Return from which sum on the label counts.

        Own affairs are found as often as wanted, unless that would narrow too much of what is the household's; a wish is
        heard as often as few enough are misheard, in texts of either source.
        """
        asked = self.known & self.asked
        if self.label == OWN:
            wanted = np.quantile(scores[asked & self.truth], 1 - LEAST_RECALL)
            return float(max(wanted, np.quantile(scores[asked & ~self.truth], 1 - MOST_NARROWED)))
        apart = [each & ~self.truth for each in (asked, self.known & ~asked)]
        return float(max(np.quantile(scores[each], 1 - MOST_MISHEARD) for each in apart))

    def figures(self, chosen: Flags, margins: Floats) -> dict[str, float]:
        """Return how well margins, from 0 on, tell where the label holds."""
        truth, found, asked = self.truth, margins >= 0, chosen & self.asked
        others = chosen & ~self.asked & ~truth
        shares = {
            "average precision": average_precision_score(truth[asked], margins[asked]),
            "recall": found[asked & truth].mean(),
            "precision": truth[asked & found].mean(),
            "false": found[asked & ~truth].mean(),
            **({"false in talks": found[others].mean()} if others.any() else {}),
        }
        return {name: round(float(share), 3) for name, share in shares.items()}


def _question(examples: Sequence[Example], vectors: Vectors, label: str) -> Question:
    writers = np.array([each.writer for each in examples])
    found = [each.is_own if label == OWN else each.is_wish for each in examples]
    is_known = np.array([each is not None for each in found])
    return Question(
        label=label,
        writers=writers,
        vectors=vectors,
        truth=np.array([*map(bool, found)]),
        known=is_known & ~np.isin(writers, [*HELD_OUT_HERE]),
        asked=np.char.startswith(writers, "p"),
    )


def _fit(examples: Sequence[Example], model: str, vectors: Vectors) -> None:
    """Fit and write the two heads that read one kind of vectors."""
    columns, biases = [], []
    for label in (OWN, WISH):
        question = _question(examples, vectors, label)
        scores = question.cross_validated()
        threshold = question.threshold(scores)
        print(model, label, json.dumps(question.figures(question.known, scores - threshold)))
        fitted = question.fitted(question.known)
        columns.append(fitted.coef_[0])
        biases.append(float(fitted.intercept_[0]) - threshold)
    path = SHIPPED / head_file(KIND, model)
    LinearHead(
        model=model,
        labels=(OWN, WISH),
        cues=(),
        is_exclusive=False,
        weights=np.stack(columns, axis=1).astype(np.float32),
        bias=np.array(biases, dtype=np.float32),
    ).save(path)
    load_head.cache_clear()
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")


def _on_held_out(
    examples: Sequence[Example], vectors: Vectors, head: LinearHead
) -> dict[str, dict[str, dict[str, float]]]:
    """Return figures of weights on writers that nothing is fitted on."""
    chances = [head.predict({}, vector) for vector in vectors]
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for label in (OWN, WISH):
        question = _question(examples, vectors, label)
        margins = np.array([each[label] - 0.5 for each in chances])
        figures[label] = {
            writer: question.figures(question.writers == writer, margins)
            for writer in sorted(HELD_OUT_HERE)
        }
    return figures


def _kept(examples: Sequence[Example], writer: str) -> dict[str, Any]:
    """Return of what a held-out writer tells how much is kept for the teller alone, rules and heads together."""
    household, counts = load_household(HOUSEHOLD), dict[str, list[bool]]()
    for each in examples:
        if each.writer == writer:
            is_kept = audience_of(each.text, household, TELLER) == person_scope(TELLER)
            kind = "wish" if each.is_wish else "own" if each.is_own else "house"
            counts.setdefault(kind, []).append(is_kept)
    return {kind: f"{sum(kept)} of {len(kept)}" for kind, kept in counts.items()}


if __name__ == "__main__":
    main()
