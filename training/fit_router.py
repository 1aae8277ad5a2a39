"""Fit what tells social clauses from others, and write it into the package.

    python -m training.fit_router --data FOLDER

Needs scikit-learn (the embedder's extra). FOLDER holds the public sets; evals/data/routing/README.md
tells which are used and what the figures are.
"""

import argparse
import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from evals.routing_gold import SocialText, social_texts
from evals.sorting_gold import SINGLE_SETS, public_requests
from kinkeeper.conversation import routing
from kinkeeper.conversation.routing.clause_words import (
    FAMILIAR,
    FOREIGN,
    GOES_ON,
    LENGTH,
    NEVER_SOCIAL,
    Clause,
    clauses_of,
    features,
    without_address,
)
from kinkeeper.models.embedding.embedder import LinearHead

OWN = Path(__file__).parents[1] / "evals" / "data" / "routing" / "social.txt"
_KIND_OF = {
    "greeting": "acknowledge",
    "thanks": "acknowledge",
    "ack": "acknowledge",
    "goodbye": "acknowledge",
    "cancel": "cancel",
    "negate": "cancel",
    "none": GOES_ON,
}
_A_LINE = 60
_MOST_TRIED = 20_000
_FEWEST_PAIRS = 3
_PREFIXED = 3_000
_JOINED = 2_500
_JOINED_WEIGHT = 0.5
_ASKED_SHARE = 0.15
_GREETING = "greeting"
_INVERSE_RIDGE = 1.0
_OWN_WEIGHT = 2.0


class Example(NamedTuple):
    """A clause with its label, and how much it counts."""

    clause: Clause
    label: str
    weight: float = 1.0


def main() -> None:
    """Fit and write the head."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    chance = random.Random(7)  # noqa: S311 - a sample, no secret
    own = [*_own(chance)]
    examples = [*_of_own(own, chance), *_of_public(data), *_mixed(own, _requests(data), chance)]
    examples += _lone_words(examples)
    words, cues = _vocabulary(examples)
    head = _fitted(examples, words, cues)
    path = Path(routing.__path__[0]) / "data" / "social_head.npz"
    head.save(path)
    print(
        f"{path.name}: {len(examples):,} clauses, {len(cues):,} features, {path.stat().st_size / 1024:.0f} kB"
    )


def _own(chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield label and text of the lines of our own, each spelled out in some of its ways."""
    for line in OWN.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            label, pattern = line.split(": ", 1)
            yield from ((label, text) for text in _spelled_out(pattern, chance))


def _spelled_out(pattern: str, chance: random.Random) -> list[str]:
    whole = re.sub(r"\(([^)]*)\)", lambda found: f"({found[1].replace(' ', '_')})", pattern)
    slots = []
    for slot in whole.split():
        choices = [each.replace("_", " ") for each in slot.strip("()").split("|")]
        slots.append([*choices, ""] if slot.startswith("(") else choices)
    ways = [
        " ".join(" ".join(way).split())
        for way in itertools.islice(itertools.product(*slots), _MOST_TRIED)
    ]
    most = max(_A_LINE, *map(len, slots))
    return chance.sample(ways, most) if len(ways) > most else ways


def _of_own(own: Sequence[tuple[str, str]], chance: random.Random) -> Iterator[Example]:
    """Yield the clauses of our own; greetings as questions, too, of the others some as what they are not."""
    for kind, text in own:
        clause = _longest(text)
        if not clause:
            continue
        label = _KIND_OF.get(kind, kind)
        yield Example(clause, label, _OWN_WEIGHT if label == GOES_ON else 1.0)
        if kind == _GREETING:
            yield Example((*clause, "?"), label)
        elif label in {"acknowledge", GOES_ON} and chance.random() < _ASKED_SHARE:
            yield Example((*clause, "?"), GOES_ON)


def _of_public(data: Path) -> Iterator[Example]:
    for each in social_texts(data):
        if not each.is_held_out:
            yield from _labelled(each)


def _labelled(text: SocialText) -> Iterator[Example]:
    """Yield all clauses of what is social, and the longest of what is not: others in it may be."""
    label = _KIND_OF[text.label]
    whole = map(without_address, clauses_of(text.text))
    clauses = [_longest(text.text)] if label == GOES_ON else [*whole]
    for clause in clauses:
        if clause:
            yield Example(clause, label)
        if clause and text.label == _GREETING and clause[-1] != "?":
            yield Example((*clause, "?"), label)


def _requests(data: Path) -> list[Clause]:
    found = {
        each.text: None
        for name in SINGLE_SETS
        for each in public_requests(data, name)
        if not each.is_held_out and not each.is_talk and (each.is_sure or each.domains)
    }
    return [clause for text in found if (clause := _longest(text))]


def _mixed(
    own: Sequence[tuple[str, str]], requests: list[Clause], chance: random.Random
) -> Iterator[Example]:
    """Yield requests, requests that begin like a social clause, and two social clauses in one."""
    yield from (Example(clause, GOES_ON) for clause in requests)
    social = {
        label: [
            clause
            for kind, text in own
            if _KIND_OF.get(kind, kind) == label and (clause := _longest(text))
        ]
        for label in ("acknowledge", "cancel", "ignore")
    }
    chance.shuffle(requests)
    every = [clause for clauses in social.values() for clause in clauses]
    asking = [clause for kind, text in own if kind == GOES_ON and (clause := _longest(text))]
    for request in (*requests[:_PREFIXED], *asking):
        joint = chance.choice([(), ("and",), ("but",), ("so",), ("now",)])
        yield Example(
            (*chance.choice(every), *joint, *request[: chance.choice([3, 5, 9, 20])]), GOES_ON
        )
    for _ in range(_JOINED):
        label = chance.choice(["acknowledge", "acknowledge", "cancel", "ignore"])
        pair = [chance.choice(social["acknowledge"]), chance.choice(social[label])]
        chance.shuffle(pair)
        joint = chance.choice([(), (), ("and",)])
        yield Example((*pair[0], *joint, *pair[1]), label, _JOINED_WEIGHT)


def _lone_words(examples: Sequence[Example]) -> list[Example]:
    """Return the words that are in social clauses and are none by themselves."""
    social = {each.clause for each in examples if each.label != GOES_ON}
    words = {word for clause in social for word in clause}
    return [Example((word,), GOES_ON) for word in sorted(words) if (word,) not in social]


def _longest(text: str) -> Clause:
    return max(map(without_address, clauses_of(text)), key=len, default=())


def _vocabulary(examples: Sequence[Example]) -> tuple[frozenset[str], list[str]]:
    """Return the words of social clauses, and all features."""
    words: set[str] = set()
    pairs: Counter[str] = Counter()
    for each in examples:
        if each.label != GOES_ON:
            words |= set(each.clause)
            pairs.update(name for name, _ in features(each.clause, ()) if " " in name)
    words -= NEVER_SOCIAL
    often = sorted(pair for pair, number in pairs.items() if number >= _FEWEST_PAIRS)
    return frozenset(words), [*sorted(words), *often, FOREIGN, LENGTH, FAMILIAR]


def _fitted(examples: Sequence[Example], words: frozenset[str], cues: list[str]) -> LinearHead:
    places = {cue: place for place, cue in enumerate(cues)}
    rows, columns, values = [], [], []
    for row, each in enumerate(examples):
        for name, value in features(each.clause, words):
            if name in places:
                rows.append(row)
                columns.append(places[name])
                values.append(value)
    table = csr_matrix((values, (rows, columns)), shape=(len(examples), len(cues)))
    model = LogisticRegression(C=_INVERSE_RIDGE, max_iter=1000)
    model.fit(table, [each.label for each in examples], [each.weight for each in examples])
    return LinearHead(
        model="words",
        labels=tuple(map(str, model.classes_)),
        cues=tuple(cues),
        weights=np.asarray(model.coef_.T, dtype=np.float32),
        bias=np.asarray(model.intercept_, dtype=np.float32),
        is_exclusive=True,
    )


if __name__ == "__main__":
    main()
