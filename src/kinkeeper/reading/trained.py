"""The trained reader: the mean of an encoder and of linear heads over hashed words and letters.

The encoder needs the embedder's packages. Without them the linear heads read alone: no slots but times, and no targets.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import as_file, files
from itertools import pairwise
from math import sqrt
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Final, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from kinkeeper.language.text import TokenKind, tokenise
from kinkeeper.reading.corrections import is_given_up
from kinkeeper.reading.encoder import ClauseSeen, shipped_encoder
from kinkeeper.reading.model import (
    Act,
    Clause,
    Context,
    Frame,
    Modality,
    Predicate,
    Reading,
    Slot,
    SlotName,
    Utterance,
    cut_at,
    cut_clauses,
)
from kinkeeper.reading.times import read as read_times

# What the trained reader sees of a clause and of the talk around it: hashed words, pairs and
# letters. Pure.

BUCKETS = 1 << 16
"""Number of hashed features."""

LONGEST_READ = 600
"""Characters of a clause, or of a message before it, that are read."""

_LETTERS = (3, 4)
_SHORT, _MIDDLE = 3, 8
_NAME, _NUMBER, _LINK = "<name>", "<number>", "<link>"
_AFTER = 3

Hashed = dict[int, float]
"""Values by bucket."""


def hashed_features(utterance: Utterance, clause: Clause, context: Context) -> Hashed:
    """Return the features of a clause, each group scaled to length 1.

    Args:
        context: The last message before it is read too, and of the last three, who spoke and whether they asked something.
    """
    words = _words(utterance.text[clause.start : clause.end][:LONGEST_READ], context.people)
    before = context.before[-1] if context.before else None
    found: Hashed = {}
    _add(found, {f"w {word}" for word in (*words, *_pairs(words))})
    _add(found, {f"l {each}" for each in _letters(words)})
    if before is not None:
        earlier = _words(before.text[:LONGEST_READ], context.people)
        _add(found, {f"b {word}" for word in (*earlier, *_pairs(earlier))})
    _add(found, set(_shape(utterance, clause, context, words)), is_scaled=False)
    return found


def _add(found: Hashed, cues: set[str], *, is_scaled: bool = True) -> None:
    value = 1 / sqrt(len(cues)) if is_scaled and cues else 1.0
    for cue in cues:
        bucket = crc32(cue.encode()) % BUCKETS
        found[bucket] = found.get(bucket, 0.0) + value


def _shape(
    utterance: Utterance, clause: Clause, context: Context, words: tuple[str, ...]
) -> Iterator[str]:
    """Yield what is known besides words: the surface, who speaks after whom, length, questions around it."""
    text = utterance.text[clause.start : clause.end]
    yield f"s {utterance.surface.value}"
    yield f"s {utterance.surface.value} {'asks' if '?' in text else 'tells'}"
    if clause.start:
        yield "s follows"
    if clause.end < len(utterance.text):
        yield "s goes on"
    size = "short" if len(words) <= _SHORT else "middle" if len(words) <= _MIDDLE else "long"
    yield f"s {size}"
    for distance, said in enumerate(reversed(context.before[-_AFTER:]), 1):
        yield f"s {distance} {'own' if said.speaker == utterance.speaker else 'other'}"
        if "?" in said.text:
            yield f"s {distance} asked"
            yield f"s {distance} asked {size}"
    if words:
        yield f"s first {words[0]}"
        yield f"s last {words[-1]}"


def _pairs(words: tuple[str, ...]) -> list[str]:
    return [f"{first} {second}" for first, second in pairwise(("^", *words, "$"))]


def _letters(words: tuple[str, ...]) -> Iterator[str]:
    for word in words:
        padded = f" {word} "
        for size in _LETTERS:
            yield from (padded[at : at + size] for at in range(len(padded) - size + 1))


@lru_cache(maxsize=512)
def _words(text: str, people: frozenset[str]) -> tuple[str, ...]:
    """Return the words of a text; names, numbers and links are told apart only as such."""
    found = []
    for token in tokenise(text):
        match token.kind:
            case TokenKind.NUMBER | TokenKind.TIME:
                found.append(_NUMBER)
            case TokenKind.LINK:
                found.append(_LINK)
            case _:
                is_name = token.text.removesuffix("'s") in people
                found.append(_NAME if is_name else token.text)
    return tuple(found)


Floats = NDArray[np.float32]

NO_PREDICATE: Final = "-"
"""Label of a clause about nothing that can be kept."""

_YES: Final = "yes"
_JUDGED: Final = ("act", "predicate", "modality")
_TIMES: Final = frozenset({SlotName.WHEN, SlotName.UNTIL})
_REPLACED: Final = _TIMES | {SlotName.TO, SlotName.WHO_FOR, SlotName.WHO_DOES, SlotName.WHERE}
"""What an old value may stand beside: "on the 10th, not the 3rd"."""

_DIGITS: Final = 4
"""Of chances: what another machine or process adds up in another order is the same."""

_LOADS: Final = Lock()

LONGEST_ENCODED: Final = 2_000
"""Characters of a message that the encoder reads, in a tenth of a second; what follows is read by the linear heads alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A classifier of one question: exactly one of its labels holds.

    Attributes:
        labels: In the order of the columns.
        weights: Shape (buckets, labels), in half precision.
        bias: Shape (labels,).
        temperature: Sums are divided by it, so that chances are calibrated; > 0.
    """

    labels: tuple[str, ...]
    weights: NDArray[np.float16]
    bias: Floats
    temperature: float

    def chances(self, features: Hashed) -> Mapping[str, float]:
        """Return the chance of each label; they add up to 1."""
        values = np.array([*features.values()], dtype=np.float32)
        sums = values @ self.weights[list(features)].astype(np.float32) + self.bias
        scaled = np.exp((sums - sums.max()) / self.temperature)
        return dict(zip(self.labels, map(float, scaled / scaled.sum()), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """All heads, as fitted together.

    Attributes:
        version: Tells apart what was fitted when.
        heads: By question: plan, act, predicate, modality, negated, secret.
    """

    version: str
    heads: Mapping[str, Head]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return weights as `save` wrote them."""
        with np.load(path, allow_pickle=False) as stored:
            return cls(
                version=str(stored["version"]),
                heads={
                    name: Head(
                        labels=tuple(map(str, stored[f"{name}.labels"])),
                        weights=stored[f"{name}.weights"],
                        bias=stored[f"{name}.bias"],
                        temperature=float(stored[f"{name}.temperature"]),
                    )
                    for name in map(str, stored["heads"])
                },
            )

    def save(self, path: Path) -> None:
        """Write them into a file, in half precision."""
        columns: dict[str, NDArray[np.generic]] = {
            "version": np.array(self.version),
            "heads": np.array(list(self.heads), dtype=np.str_),
        }
        for name, head in self.heads.items():
            columns[f"{name}.labels"] = np.array(head.labels, dtype=np.str_)
            columns[f"{name}.weights"] = head.weights.astype(np.float16)
            columns[f"{name}.bias"] = head.bias.astype(np.float32)
            columns[f"{name}.temperature"] = np.array(head.temperature)
        np.savez_compressed(path, allow_pickle=False, **columns)


class TrainedReader:
    """Reads messages with the weights of the package.

    Args:
        with_encoder: Whether the encoder is used where it can be.
    """

    def __init__(self, *, with_encoder: bool = True) -> None:
        """Load the weights, once a process."""
        self._weights = shipped_weights()
        self._encoder = shipped_encoder() if with_encoder else None
        parts = [self._weights.version, *([self._encoder.version] if self._encoder else [])]
        self.engine = f"trained:{'+'.join(parts)}"

    @property
    def has_encoder(self) -> bool:
        """Whether the encoder reads along."""
        return self._encoder is not None

    def read(self, utterance: Utterance, context: Context) -> Reading:
        """Return what a message says. Pure.

        Args:
            context: What is known around it.
        """
        start = replace(utterance, text=utterance.text[:LONGEST_ENCODED])
        seen = self._encoder.read(start, context) if self._encoder else ()
        by_start = {each.clause.start: each for each in reversed(seen)}
        frames = [
            self._frame(utterance, each, context, by_start.get(each.start))
            for each in _clauses(utterance.text, seen)
        ]
        return Reading(frames=tuple(frames), engine=self.engine)

    def _frame(
        self, utterance: Utterance, clause: Clause, context: Context, seen: ClauseSeen | None
    ) -> Frame:
        features = hashed_features(utterance, clause, context)
        chances = {name: head.chances(features) for name, head in self._weights.heads.items()}
        if seen is not None:
            chances = {name: _mean(each, seen.chances[name]) for name, each in chances.items()}
        best = {name: max(each.items(), key=itemgetter(1)) for name, each in chances.items()}
        predicate, _ = best["predicate"]
        times = _times(utterance, clause, context)
        return Frame(
            clause=clause,
            act=Act(best["act"][0]),
            predicate=None if predicate == NO_PREDICATE else Predicate(predicate),
            modality=Modality(best["modality"][0]),
            is_negated=best["negated"][0] == _YES,
            is_secret=best["secret"][0] == _YES,
            slots=_with_old(_with_times(seen.slots, times) if seen else times, utterance.text),
            target=seen.target if seen else None,
            plan=round(chances["plan"][_YES], _DIGITS),
            p=round(min(best[name][1] for name in _JUDGED), _DIGITS),
        )


def _clauses(text: str, seen: Sequence[ClauseSeen]) -> tuple[Clause, ...]:
    """Return the clauses that the encoder saw; what it has not read is cut at the ends of sentences."""
    if not seen:
        return cut_clauses(text)
    unread = (each.start for each in cut_clauses(text) if each.start >= LONGEST_ENCODED)
    return cut_at(text, [*(each.clause.start for each in seen), *unread])


def _mean(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Return the mean chance of each label; one that only one of both knows counts as impossible for the other."""
    return {name: (one.get(name, 0.0) + other.get(name, 0.0)) / 2 for name in {**one, **other}}


def _with_times(slots: Sequence[Slot], times: Sequence[Slot]) -> tuple[Slot, ...]:
    """Return slots whose times end where the time rules say, and the times that only these see."""
    snapped = [_snapped(each, times) if each.name in _TIMES else each for each in slots]
    # Parts of one time end up as the same slot.
    found = [*{(each.name, each.start, each.end): each for each in snapped}.values()]
    seen = [each for each in times if not any(_overlap(each, slot) for slot in found)]
    return tuple(sorted([*found, *seen], key=lambda each: (each.start, each.end)))


def _with_old(slots: Sequence[Slot], text: str) -> tuple[Slot, ...]:
    """Return slots of which those that are said not to hold, beside one that does, are old values."""
    old = {each for each in slots if each.name in _REPLACED and is_given_up(text, each.start)}
    kept = {each.name for each in slots if each not in old}
    return tuple(
        replace(each, name=SlotName.FROM) if each in old and each.name in kept else each
        for each in slots
    )


def _snapped(slot: Slot, times: Sequence[Slot]) -> Slot:
    """Return a slot that reaches over all the times that it touches."""
    own = [each for each in times if _overlap(each, slot)]
    if not own:
        return slot
    return replace(slot, start=min(each.start for each in own), end=max(each.end for each in own))


def _overlap(one: Slot, other: Slot) -> bool:
    return one.start < other.end and other.start < one.end


def _times(utterance: Utterance, clause: Clause, context: Context) -> tuple[Slot, ...]:
    """Return the times that the time rules find; they are precise, so each is sure."""
    found = read_times(
        utterance.text[clause.start : clause.end], utterance.sent_at, locale=context.locale
    )
    return tuple(
        Slot(
            name=SlotName.WHEN,
            start=clause.start + each.start_char,
            end=clause.start + each.end_char,
            p=1.0,
        )
        for each in found
    )


def shipped_reader() -> TrainedReader:
    """Return the reader of the process, loaded at the first call.

    Raises:
        UnavailableError: The embedder's weights are not the expected ones.
    """
    with _LOADS:
        return _loaded()


@cache
def _loaded() -> TrainedReader:
    return TrainedReader()


@cache
def shipped_weights() -> Weights:
    """Return the weights that training/fit_reader.py wrote; read once."""
    with as_file(files(__package__) / "data" / "reader.npz") as path:
        return Weights.load(path)
