"""Whether a message tells its teller's own affairs, or wishes for secrecy, in words that no rule has: as fitted heads judge it.

The heads read what the message means, by the embedder of the package, beside its words. Without the embedder they read
words alone, and that is counted.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from kinkeeper.core.errors import UnavailableError
from kinkeeper.language.sorting.sorter import Kind, sorted_by
from kinkeeper.models.embedding.embedder import Vectors
from kinkeeper.models.embedding.hashing import HashingEmbedder, hashed
from kinkeeper.models.embedding.joined import WithWords, joined
from kinkeeper.models.embedding.minilm import REMEDY, shared_minilm, weights_path
from kinkeeper.observability.failures import surviving

KIND: Final = Kind(
    name="discretion", package="kinkeeper.memory.statements", cue_names=(), cues_of=lambda _: {}
)
OWN, WISH = "own", "wish"
"""Labels of the heads; their thresholds are in the weights, so that a chance of one half decides."""

STAGE: Final = "memory.discretion"
"""Name under which it is counted that messages were judged by their words alone."""

LONGEST_JUDGED: Final = 2_000
"""Characters of a message that are judged; the rules read on."""

_PIECE: Final = re.compile(r".{1,400}(?:[.!?\n]|$)|.{1,400}", re.DOTALL)
_EVEN: Final = 0.5


def is_own_affair(text: str) -> bool:
    """Return whether a message seems to tell something of its teller that is nobody else's business. Blocks.

    Args:
        text: The whole message, verbatim.
    """
    return OWN in _judged(text[:LONGEST_JUDGED])


def seems_to_wish(text: str) -> bool:
    """Return whether a message seems to ask to keep something secret. Blocks.

    Args:
        text: The whole message, verbatim.
    """
    return WISH in _judged(text[:LONGEST_JUDGED])


@lru_cache(maxsize=256)
def _judged(text: str) -> frozenset[str]:
    """Return the labels that hold for any piece of a message: it is read once, although its turn asks several times."""
    pieces = [each for each in _PIECE.findall(text) if each.strip()]
    if not pieces:
        return frozenset()
    model, vectors = vectors_of(pieces)
    return frozenset(
        label
        for piece, vector in zip(pieces, vectors, strict=True)
        for label, chance in sorted_by(KIND, model, piece, vector).chances.items()
        if chance >= _EVEN
    )


def vectors_of(texts: Sequence[str]) -> tuple[str, Vectors]:
    """Return vectors of texts and the name of what made them. Blocks.

    Args:
        texts: Any.
    """
    words = hashed(texts)
    with surviving(STAGE):
        weights = weights_path()
        if weights is None:
            raise UnavailableError(f"the embedder is not installed; {REMEDY}")
        minilm = shared_minilm(weights)
        return WithWords(minilm).model, joined(minilm.embed_now(texts), words)
    return HashingEmbedder().model, words
