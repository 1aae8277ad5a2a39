"""Which parts of the assistant a request is for: none, one or several of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from kinkeeper.language.sorting.sorter import Kind, Sorted, Sorter, load_cues
from kinkeeper.language.text import split_sentences
from kinkeeper.models.embedding.embedder import Embedder, with_words

ANY_CHANCE = 0.35
"""Chance of all domains together from which the likeliest is meant."""

EACH_CHANCE = 0.4
"""Chance from which a domain is meant whatever the others are."""

_CUES = load_cues("domain_cues")
KIND = Kind(
    name="domain",
    package="kinkeeper.language.sorting",
    cue_names=_CUES.names,
    cues_of=_CUES.seen_in,
)
_PART_THRESHOLD, _SURE_PART = 0.5, 0.8
_JOINT = re.compile(
    r"(?:[.;!?]\s+|,\s*)(?:(?:and|then|also|plus)\s+)*|(?<!\s)\s+(?:and|then|also|plus)\s+(?:(?:and|then|also)\s+)*",
    re.IGNORECASE,
)
_FEWEST_WORDS = 2
MARK = ":"
"""Between the domain of a label and the finer kind of request within it."""


Name = TypeVar("Name", bound=str)


class Domain(StrEnum):
    """A part of the assistant that can act."""

    TASK = "task"
    CALENDAR = "calendar"
    EMAIL = "email"
    MEMORY = "memory"
    NOTES = "notes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where a request goes.

    Attributes:
        domains: Those that are meant, likeliest first; none for talk and for what no part can do.
        chances: Of each domain, in [0, 1].
        stage: What gave them (see `Sorted`).
    """

    domains: tuple[Domain, ...]
    chances: Mapping[Domain, float]
    stage: str


class DomainRouter:
    """Finds the domains of requests.

    Args:
        embedder: None routes by cues alone.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._sorter = Sorter(KIND, with_words(embedder))

    async def route(self, texts: Sequence[str]) -> list[Route]:
        """Return where each request goes.

        Args:
            texts: What people said, each message as a whole.
        """
        parts = [parts_of(text) for text in texts]
        asked = [*texts, *(part for own in parts for part in own)]
        found = iter(await self._sorter.sort(asked))
        wholes = [next(found) for _ in texts]
        return [
            _route(whole, [next(found) for _ in own])
            for whole, own in zip(wholes, parts, strict=True)
        ]


def parts_of(text: str) -> tuple[str, ...]:
    """Return the parts of a text that may each ask for something; none where it has only one."""
    parts = tuple(
        part.strip() for part in split_sentences(text, _JOINT) if len(part.split()) >= _FEWEST_WORDS
    )
    return parts if len(parts) > 1 else ()


def meant_by(chances: Mapping[Name, float]) -> tuple[Name, ...]:
    """Return the domains that are meant, likeliest first.

    Whether anything of the assistant's is wanted is told by all chances together: a wish that may be for one of two
    domains is a wish.

    Args:
        chances: Of each domain, in [0, 1].
    """
    likeliest = sorted(chances, key=lambda domain: -chances[domain])
    meant = tuple(domain for domain in likeliest if chances[domain] >= EACH_CHANCE)
    if not meant and sum(chances.values()) >= ANY_CHANCE:
        return tuple(likeliest[:1])
    return meant


def _route(whole: Sorted, parts: Sequence[Sorted]) -> Route:
    chances = _by_domain(whole)
    for domain, chance in _meant_apart(parts):
        chances[domain] = max(chances[domain], chance)
    return Route(domains=meant_by(chances), chances=chances, stage=whole.stage)


def _meant_apart(parts: Sequence[Sorted]) -> Iterator[tuple[Domain, float]]:
    """Yield what single parts ask for, where they ask for different things or one of them is very sure."""
    sure: dict[Domain, float] = {}
    for part in parts:
        chances = _by_domain(part)
        best = max(Domain, key=lambda domain: chances[domain])
        if chances[best] >= _PART_THRESHOLD:
            sure[best] = max(chances[best], sure.get(best, 0.0))
    if len(sure) > 1 or any(chance >= _SURE_PART for chance in sure.values()):
        yield from sure.items()


def _by_domain(found: Sorted) -> dict[Domain, float]:
    """Return the chance of each domain: of all kinds of request within it together."""
    chances = dict.fromkeys(Domain, 0.0)
    for label, chance in found.chances.items():
        domain = label.partition(MARK)[0]
        if domain:
            chances[Domain(domain)] += chance
    return chances
