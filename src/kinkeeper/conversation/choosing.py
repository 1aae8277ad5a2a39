"""Which of several things a few words mean: by place, by number, or by what it is called. Pure."""

import re
from collections.abc import Sequence

from kinkeeper.memory.finding.terms import stems

_PLACES = {
    "first": 0, "1st": 0, "one": 0, "1": 0, "former": 0, "top": 0,
    "second": 1, "2nd": 1, "two": 1, "2": 1, "latter": 1,
    "third": 2, "3rd": 2, "three": 2, "3": 2,
    "fourth": 3, "4th": 3, "four": 3, "4": 3,
    "fifth": 4, "5th": 4, "five": 4, "5": 4,
}  # fmt: skip
_LAST = frozenset({"last", "bottom"})
_ALL = frozenset({"both", "all", "everything", "each"})
# "The second one" is a place and no number one.
_A_PLACE_AND_ONE = re.compile(r"\b(the\s+\w+|that|this|which|other)\s+ones?\b")
_WORD = re.compile(r"[\w']+")


def chosen(text: str, labels: Sequence[str]) -> list[int]:
    """Return which of the labels a text means, as positions; none where that cannot be told.

    Args:
        text: What a person said.
        labels: What can be meant, as it was shown to them, in order.
    """
    folded = _A_PLACE_AND_ONE.sub(r"\1", text.casefold())
    words = _WORD.findall(folded)
    if not _ALL.isdisjoint(words) and not _denied(words):
        return list(range(len(labels)))
    by_name = _by_name(text, labels)
    if by_name:
        return by_name
    places = {_PLACES[word] for word in words if word in _PLACES}
    if not _LAST.isdisjoint(words):
        places.add(len(labels) - 1)
    return sorted(places) if len(places) == 1 and max(places) < len(labels) else []


def _by_name(text: str, labels: Sequence[str]) -> list[int]:
    """Return the one label that shares the most words with the text which not all labels have."""
    terms = [frozenset(stems(label)) for label in labels]
    common = frozenset.intersection(*terms) if len(terms) > 1 else frozenset()
    said = frozenset(stems(text))
    shared = [len((term - common) & said) for term in terms]
    best = max(shared, default=0)
    return [shared.index(best)] if best and shared.count(best) == 1 else []


def _denied(words: Sequence[str]) -> bool:
    return "not" in words or any(word.endswith("n't") for word in words)
