"""Pairs of texts that speak of the same thing, and pairs that do not, out of public sets."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.coordination import read_lines

_HELD_OUT_PERCENT = 40
_PAIRS_AN_INTENT = 12
_ALIKE_LABELS = frozenset({"MERGE", "SUPERSEDE"})
# What lies in between (said of another time, only supposed) is neither.
_UNLIKE_KINDS = frozenset(
    {"unrelated", "other_subject", "other_aspect", "other_subject_same_value"}
)
_SETS = ("clinc_router", "hwu_router")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two texts.

    Attributes:
        first: One.
        second: The other.
        is_alike: Whether they speak of the same thing.
        is_held_out: Whether nothing was fitted on what they speak of.
        source: Name of their set.
    """

    first: str
    second: str
    is_alike: bool
    is_held_out: bool
    source: str


def pairs(data: Path) -> list[Pair]:
    """Return all pairs.

    Args:
        data: Folder with the public sets.

    Raises:
        InputError: A set is missing.
    """
    return [*_updates(data), *(pair for name in _SETS for pair in _commands(data, name))]


def _updates(data: Path) -> Iterator[Pair]:
    """Yield statements and what was said later: again, anew, or of something else."""
    for row in read_lines(data / "memupdate_dev.jsonl"):
        is_alike = row["label"] in _ALIKE_LABELS
        if is_alike or row["kind"] in _UNLIKE_KINDS:
            yield Pair(
                first=row["old"],
                second=row["new"],
                is_alike=is_alike,
                source="memory updates",
                is_held_out=_is_held_out(row["attr"]),
            )


def _commands(data: Path, name: str) -> Iterator[Pair]:
    """Yield pairs of commands: of one intent, of neighbouring intents, of any two."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in read_lines(data / f"{name}_dev.jsonl"):
        if row["intent"] != "oos":
            found[row["intent"]].append(row["text"])
    for is_held_out in (False, True):
        intents = {
            intent: sorted(texts, key=_order)
            for intent, texts in sorted(found.items())
            if _is_held_out(intent) is is_held_out
        }
        for first, second, is_alike in _paired(intents):
            yield Pair(
                first=first, second=second, is_alike=is_alike, is_held_out=is_held_out, source=name
            )


def _paired(intents: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, bool]]:
    """Yield as many pairs within intents as across them; across, to the next by name and to any."""
    names = [*intents]
    for place, name in enumerate(names):
        texts = intents[name]
        for number in range(min(_PAIRS_AN_INTENT, len(texts) // 2)):
            first = texts[2 * number]
            yield first, texts[2 * number + 1], True
            step = 1 if number % 2 else 2 + number
            other = intents[names[(place + step) % len(names)]]
            yield first, other[number % len(other)], False


def _is_held_out(key: str) -> bool:
    return int(_order(f"held out|{key}")[:8], 16) % 100 < _HELD_OUT_PERCENT


def _order(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
