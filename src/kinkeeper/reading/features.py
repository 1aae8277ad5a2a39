"""What the trained reader sees of a clause and of the talk around it: hashed words, pairs and letters. Pure."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from math import sqrt
from zlib import crc32

from kinkeeper.language.text import TokenKind, tokenise
from kinkeeper.reading.model import Clause, Context, Utterance

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
        utterance: The message.
        clause: Which part of it.
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
