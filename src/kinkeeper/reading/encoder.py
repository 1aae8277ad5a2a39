"""The encoder: a message as a row of word pieces, and a small transformer with heads that reads it.

It shares the word vectors of the embedder's file and has layers of its own, fitted by training/fit_encoder.py.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kinkeeper.models.embedding.minilm import (
    Session,
    WordPiece,
    load_session,
    shipped_vocabulary,
    weights_path,
    word_vectors,
)
from kinkeeper.reading.model import Clause, Context, Slot, SlotName, Target, Utterance, cut_at

# A message and what is known around it as one row of word pieces for the encoder. Pure.

MOST_EARLIER: Final = 5
"""Earlier messages that are read."""

MOST_ITEMS: Final = 10
"""Open items that are read."""

MOST_PIECES: Final = 72
"""Word pieces of the message itself that are read at once."""

_PIECES_BY_DISTANCE: Final = (20, 12)
_PIECES_OF_OLDER: Final = 8
_PIECES_OF_ITEM: Final = 12
_PIECES_OF_SPEAKER: Final = 3
_WORD: Final = re.compile(r"[^\W_]+|[^\w\s]|_+")
_LONGEST_WORD: Final = 100
_ANY: Final = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderInput:
    """One row for the encoder.

    Attributes:
        pieces: Numbers of the vocabulary, at most 512.
        own: Index of the first piece that belongs to the message itself; pieces before it are context.
        words: Offsets (start, end) of the message's words in its text, in order.
        places: For each word, the index of its first piece in `pieces`.
        earlier: For each earlier message that is read, oldest first: its first piece, and the one past its last.
        items: The same for each open item.
        first_earlier: Index in `Context.before` of the first of `earlier`.
    """

    pieces: tuple[int, ...]
    own: int
    words: tuple[tuple[int, int], ...]
    places: tuple[int, ...]
    earlier: tuple[tuple[int, int], ...]
    items: tuple[tuple[int, int], ...]
    first_earlier: int


def encoder_input(
    utterance: Utterance, context: Context, vocabulary: WordPiece, *, start: int = 0
) -> EncoderInput:
    """Return the row of a message.

    Args:
        context: Its last `MOST_EARLIER` messages and first `MOST_ITEMS` open items are read.
        start: Offset from which the message is read; a long one takes several rows.
    """
    first, *_, last = vocabulary.numbers("", 3)
    pieces = [first, *_pieces(vocabulary, utterance.surface.value, 1), last]
    items = [
        _extend(pieces, _pieces(vocabulary, item, _PIECES_OF_ITEM), last)
        for item in context.items[:MOST_ITEMS]
    ]
    earlier = []
    before = context.before[-MOST_EARLIER:]
    for distance, said in zip(range(len(before), 0, -1), before, strict=True):
        room = (
            _PIECES_BY_DISTANCE[distance - 1]
            if distance <= len(_PIECES_BY_DISTANCE)
            else _PIECES_OF_OLDER
        )
        own = [*_speaker(vocabulary, said.speaker), *_pieces(vocabulary, said.text, room)]
        earlier.append(_extend(pieces, own, last))
    own_start = len(pieces)
    pieces += _speaker(vocabulary, utterance.speaker)
    words, places = _words(pieces, utterance.text, vocabulary, start)
    pieces.append(last)
    return EncoderInput(
        pieces=tuple(pieces),
        own=own_start,
        words=words,
        places=places,
        earlier=tuple(earlier),
        items=tuple(items),
        first_earlier=len(context.before) - len(before),
    )


def _words(
    pieces: list[int], text: str, vocabulary: WordPiece, start: int
) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """Append the message's pieces; returns its words and where each begins."""
    words, places = [], []
    most = len(pieces) + MOST_PIECES
    for found in _WORD.finditer(text, start):
        own = _pieces(vocabulary, found[0][:_LONGEST_WORD], _ANY)
        if len(pieces) + len(own) > most:
            break
        if own:
            words.append(found.span())
            places.append(len(pieces))
            pieces += own
    return tuple(words), tuple(places)


def _pieces(vocabulary: WordPiece, text: str, most: int) -> list[int]:
    return vocabulary.numbers(text, most + 2)[1:-1]


def _speaker(vocabulary: WordPiece, name: str) -> list[int]:
    return [*_pieces(vocabulary, name, _PIECES_OF_SPEAKER), *_pieces(vocabulary, ":", 1)]


def _extend(pieces: list[int], own: Sequence[int], last: int) -> tuple[int, int]:
    """Append a part and the mark that ends it; returns where the part stands."""
    start = len(pieces)
    pieces += own
    pieces.append(last)
    return start, len(pieces)


Floats = NDArray[np.float32]

QUESTIONS: Final = ("act", "predicate", "modality", "negated", "secret", "plan")
"""What is asked of each clause, in the order of the columns of the clause head."""

FURTHEST: Final = 16
"""Distances of earlier messages, and numbers of open items, that the link head tells apart."""

_EPSILON: Final = 1e-12
_LINK_SCALE: Final = 8.0
_NO_SLOT: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseSeen:
    """What the heads make of one clause.

    Attributes:
        clause: Which one. One that is too long for a row is seen several times, part by part.
        chances: By question, the chance of each label; they add up to 1.
        slots: Spans, in the order of the text.
        target: What it most likely speaks of; None where it rather speaks of nothing earlier.
    """

    clause: Clause
    chances: Mapping[str, Mapping[str, float]]
    slots: tuple[Slot, ...]
    target: Target | None


class Encoder:
    """Reads messages with the encoder of the package.

    Args:
        embedder: The embedder's ONNX file, of which the word vectors are used.
        heads: Arrays by name, as training/fit_encoder.py wrote them.
    """

    def __init__(self, embedder: Path, session: Session, heads: Mapping[str, NDArray[Any]]) -> None:
        self.version = str(heads["version"])
        self._words = word_vectors(embedder)
        self._session = session
        self._heads = heads
        self._labels = {name: [*map(str, heads[f"labels.{name}"])] for name in QUESTIONS}
        self._slots = [*map(str, heads["labels.slots"])]

    def read(self, utterance: Utterance, context: Context) -> list[ClauseSeen]:
        """Cut a message into clauses and return what the heads make of each that holds a word. Pure.

        Args:
            utterance: The message; a long one is read part by part.
            context: What is known around it.
        """
        rows = [(row, self._states(row)) for row in _rows(utterance, context)]
        tags = [self._tags(row, states) for row, states in rows]
        begins = [
            place
            for (row, _), own in zip(rows, tags, strict=True)
            for (place, _), score in zip(row.words, own[:, -1], strict=True)
            if score >= self._heads["cut"]
        ]
        clauses = cut_at(utterance.text, begins)
        return [
            each
            for (row, states), own in zip(rows, tags, strict=True)
            for each in self._row(row, states, own, clauses)
        ]

    def _tags(self, row: EncoderInput, states: Floats) -> Floats:
        """Return the sums of each word: of each slot, of a slot that begins there, and of a clause that does."""
        words = states[list(row.places)]
        return np.asarray(
            words @ self._heads["tag.weight"].T + self._heads["tag.bias"], dtype=np.float32
        )

    def _row(
        self, row: EncoderInput, states: Floats, tags: Floats, clauses: Sequence[Clause]
    ) -> Iterator[ClauseSeen]:
        words, starts = states[list(row.places)], [start for start, _ in row.words]
        keys = self._keys(row, states)
        for clause in clauses:
            first, end = bisect_left(starts, clause.start), bisect_left(starts, clause.end)
            if first < end:
                summary = np.concatenate([words[first:end].mean(axis=0), states[0]])
                yield ClauseSeen(
                    clause=clause,
                    chances=self._chances(summary),
                    slots=self._spans(row.words[first:end], tags[first:end]),
                    target=self._target(row, summary, keys),
                )

    def _states(self, row: EncoderInput) -> Floats:
        """Return the last layer's states, shape (pieces, width)."""
        heads, pieces = self._heads, np.array(row.pieces)
        places = np.arange(len(pieces))
        sums = self._words[pieces] * heads["words.scale"][pieces] + heads["places"][places]
        sums = sums + heads["parts"][(places >= row.own).astype(np.int64)]
        centred = sums - sums.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + _EPSILON)
        first = centred / spread * heads["norm.weight"] + heads["norm.bias"]
        (states,) = self._session.run(None, {"states": first[None].astype(np.float32)})
        return np.asarray(states[0], dtype=np.float32)

    def _chances(self, summary: Floats) -> dict[str, dict[str, float]]:
        sums = self._heads["clause.weight"] @ summary + self._heads["clause.bias"]
        found, column = {}, 0
        for name in QUESTIONS:
            labels = self._labels[name]
            own = sums[column : column + len(labels)] / self._heads[f"temperature.{name}"]
            column += len(labels)
            found[name] = dict(zip(labels, map(float, _softmax(own)), strict=True))
        return found

    def _spans(self, words: Sequence[tuple[int, int]], tags: Floats) -> tuple[Slot, ...]:
        """Return runs of words with one tag; a tag's chance is that of its least sure word.

        Two things that stand side by side with one space between are one: "piano tuner".
        """
        chances = _softmax(tags[:, : len(self._slots)])
        best, begins = chances.argmax(axis=1), tags[:, len(self._slots)] > 0
        for number, (before, after) in enumerate(pairwise(words), start=1):
            if after[0] - before[1] == 1 and self._slots[best[number]] == SlotName.WHAT:
                begins[number] = False
        found: list[Slot] = []
        first = 0
        for end in range(1, len(words) + 1):
            if end < len(words) and best[end] == best[first] and not begins[end]:
                continue
            if best[first] != _NO_SLOT:
                found.append(
                    Slot(
                        name=SlotName(self._slots[best[first]]),
                        start=words[first][0],
                        end=words[end - 1][1],
                        p=float(chances[first:end, best[first]].min()),
                    )
                )
            first = end
        return tuple(found)

    def _keys(self, row: EncoderInput, states: Floats) -> Floats:
        """Return what the link head compares with for each open item and each earlier message, shape (n, keys)."""
        parts = [states[start:end].mean(axis=0) for start, end in (*row.items, *row.earlier)]
        if not parts:
            return np.zeros((0, len(self._heads["key.bias"])), dtype=np.float32)
        return np.asarray(
            np.stack(parts) @ self._heads["key.weight"].T + self._heads["key.bias"],
            dtype=np.float32,
        )

    def _target(self, row: EncoderInput, summary: Floats, keys: Floats) -> Target | None:
        query = self._heads["query.weight"] @ summary + self._heads["query.bias"]
        items, count = len(row.items), len(keys)
        bias = [
            FURTHEST + min(index, FURTHEST - 1)
            if index < items
            else min(count - index - 1, FURTHEST - 1)
            for index in range(count)
        ]
        scores = keys @ query / _LINK_SCALE + self._heads["distance"][bias]
        nothing = self._heads["nothing"] @ query / _LINK_SCALE
        chances = _softmax(np.concatenate([[nothing], scores]))
        best = int(chances.argmax()) - 1
        if best < 0:
            return None
        p = float(chances[best + 1])
        if best < items:
            return Target(item=best, p=p)
        return Target(said=row.first_earlier + best - items, p=p)


def _rows(utterance: Utterance, context: Context) -> Iterator[EncoderInput]:
    start = 0
    while (row := encoder_input(utterance, context, shipped_vocabulary(), start=start)).words:
        yield row
        start = row.words[-1][1]


@cache
def shipped_encoder() -> Encoder | None:
    """Return the encoder of the package, read once; None where the embedder is not installed.

    Raises:
        UnavailableError: The embedder's weights are not the expected ones.
    """
    embedder = weights_path()
    if embedder is None:
        return None
    folder = files(__package__) / "data"
    with as_file(folder / "encoder.npz") as path, np.load(path, allow_pickle=False) as stored:
        heads = {name: stored[name] for name in stored.files}
    with as_file(folder / "encoder.onnx") as path:
        return Encoder(embedder, load_session(path), heads)


def _softmax(sums: NDArray[Any]) -> Floats:
    scaled = np.exp(sums - sums.max(axis=-1, keepdims=True))
    return np.asarray(scaled / scaled.sum(axis=-1, keepdims=True), dtype=np.float32)
