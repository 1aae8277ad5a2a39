"""Which of several things a few words mean: by place, by number, or by what it is called. Pure."""

import re
from collections.abc import Iterator, Sequence

from kinkeeper.conversation.routing.confirmation import Said, spoken
from kinkeeper.language.text import split_sentences
from kinkeeper.memory.finding.terms import stems

_PLACES = {
    "first": 0, "1st": 0, "one": 0, "1": 0, "former": 0, "top": 0,
    "second": 1, "2nd": 1, "two": 1, "2": 1, "latter": 1,
    "third": 2, "3rd": 2, "three": 2, "3": 2,
    "fourth": 3, "4th": 3, "four": 3, "4": 3,
    "fifth": 4, "5th": 4, "five": 4, "5": 4,
}  # fmt: skip
_LAST = frozenset({"last", "bottom"})
# "The second one" is a place and no number one.
_A_PLACE_AND_ONE = re.compile(r"\b(the(?:\s+\w+)?|that|this|which|other)\s+ones?\b")
# "All good" and "that's all" speak of no list.
_ALL = re.compile(
    r"(?:^|\b(?:yes|yeah|yep|yup|ok|okay|sure|please|do|to|with|send|delete|confirm|cancel|drop|approve)\W+)"
    r"(?:both|all|each)(?:\s+(?:of\s+)?(?:them|those|these|it|two|three|four|five|[2-5]))*(?:\W+(?:please|thanks|thx))?\W*$"
)
_BOTH, _PAIR = re.compile(r"\bboth\b"), 2
_JOINING = frozenset(
    {"the", "a", "an", "that", "this", "it", "its", "my", "our", "to", "for", "with", "about", "of", "on", "at", "in",
     "number", "option", "nr", "no", "one", "ones", "them", "those", "these", "and"}
)  # fmt: skip
_DECIDING = frozenset({Said.YES, Said.WEAK, Said.NO, Said.FILLER})
_CLAUSE_ENDS = re.compile(r"[.,;:!\n]+")
_WORD = re.compile(r"[\w']+")


def chosen(text: str, labels: Sequence[str]) -> list[int]:
    """Return which of the labels a text means, as positions; none where that cannot be told.

    Args:
        labels: What can be meant, as it was shown to them, in order.
    """
    folded = _A_PLACE_AND_ONE.sub(r"\1", text.casefold())
    if means_all(text):
        is_both_of_more = _BOTH.search(folded) is not None and len(labels) != _PAIR
        return [] if is_both_of_more else list(range(len(labels)))
    by_name = _by_name(text, labels)
    if by_name:
        return by_name
    words = _WORD.findall(folded)
    places = {_PLACES[word] for word in words if word in _PLACES}
    if not _LAST.isdisjoint(words):
        places.add(len(labels) - 1)
    return sorted(places) if len(places) == 1 and max(places) < len(labels) else []


def means_all(text: str) -> bool:
    """Whether a text means all that can be meant, or both of two."""
    return _ALL.search(_A_PLACE_AND_ONE.sub(r"\1", text.casefold())) is not None


def only_chooses(text: str, labels: Sequence[str]) -> bool:
    """Whether a text does nothing but choose: it asks nothing, denies nothing, and speaks of nothing else.

    Args:
        labels: What can be meant, as it was shown to them, in order.
    """
    if "?" in text:
        return False
    shown = " ".join(labels).casefold()
    known = _PLACES.keys() | _LAST | _JOINING | {"both", "all", "each"} | {*_WORD.findall(shown)}
    named = {*stems(shown)}
    return all(
        not _denies(word) and (word in known or not named.isdisjoint(stems(word)))
        for word in _undecided(text)
    )


def _undecided(text: str) -> Iterator[str]:
    """Yield the words of a text that are part of no yes or no."""
    for clause in split_sentences(text, _CLAUSE_ENDS):
        for phrase, said in spoken(tuple(_WORD.findall(clause.casefold()))):
            if said not in _DECIDING:
                yield from phrase


def _denies(word: str) -> bool:
    return word in {"not", "never", "neither", "cannot"} or word.endswith("n't")


def _by_name(text: str, labels: Sequence[str]) -> list[int]:
    """Return the one label that has all the words of the text which some labels have and others lack."""
    terms = [frozenset(stems(label)) for label in labels]
    common = frozenset.intersection(*terms) if len(terms) > 1 else frozenset()
    said = frozenset(stems(text)) & (frozenset().union(*terms) - common)
    having = [at for at, term in enumerate(terms) if said <= term]
    return having if said and len(having) == 1 else []
