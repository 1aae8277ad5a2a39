"""A message and what is known around it as one row of word pieces for the encoder. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kinkeeper.models.embedding.minilm import WordPiece
from kinkeeper.reading.model import Context, Utterance

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
        utterance: The message.
        context: Its last `MOST_EARLIER` messages and first `MOST_ITEMS` open items are read.
        vocabulary: Of the encoder.
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
        pieces=tuple(pieces), own=own_start, words=words, places=places, earlier=tuple(earlier),
        items=tuple(items), first_earlier=len(context.before) - len(before),
    )  # fmt: skip


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
