"""A question as the words that say what it is about, and the time it asks for. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kinkeeper.core.time import Interval
from kinkeeper.household.model import Household
from kinkeeper.language.dictionary import word_ranks
from kinkeeper.memory.finding.terms import stems
from kinkeeper.reading.roots import root_of
from kinkeeper.reading.times.model import SpanKind, TimeSpan
from kinkeeper.reading.times.reader import read

ASPECTS = frozenset(
    stems(
        """
        time day date hour minute start begin finish end hold held take takes taken bring drive collect pick pickup drop
        dropoff fetch get go happen due schedule next place long often usually lesson practice class training course
        session appointment know tell remember say said still need one many much kind sort called name thing
        event events plan planned done family our mr mrs ms
        """
    )
)
"""Words that ask for a side of something, or stand beside its name, and do not tell it from anything else."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_OF_A_NAME = 0.5
"""Weight of a member's name: most of what a household knows is about its few members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a question asks for.

    Attributes:
        text: As asked.
        weights: What it is about: each stem with its weight.
        names: Those of them that are members' names.
        called: Stems of all words for the members it names, and of other names in it.
        spans: Times it names.
        period: The days it asks about, if it names any.
    """

    text: str
    weights: Mapping[str, float]
    names: frozenset[str]
    called: frozenset[str]
    spans: Sequence[TimeSpan]
    period: Interval | None

    @property
    def weight(self) -> float:
        """Weight of all it is about; 0 where it only names a time."""
        return sum(self.weights.values())

    def coverage(self, known: Iterable[str]) -> float:
        """Return the share, in [0, 1], of what it is about that words cover, a deed and its doer alike; 0 where it only names a time.

        Args:
            known: Stems.
        """
        if not (weight := self.weight):
            return 0.0
        roots = {*map(root_of, known)}
        return sum(each for stem, each in self.weights.items() if root_of(stem) in roots) / weight


def read_question(text: str, household: Household, *, now: datetime) -> Question:
    """Return what a question asks for.

    Args:
        text: Any.
        household: Whose names and zone count.
        now: Aware.
    """
    local = now.astimezone(household.zone)
    spans = read(text, local, locale=household.locale)
    members = [
        frozenset(stem for word in (each.id, each.name, *each.aliases) for stem in stems(word))
        for each in household.members
    ]
    names = frozenset[str]().union(*members)
    rest = text
    for span in reversed(spans):
        rest = f"{rest[: span.start_char]} {rest[span.end_char :]}"
    about = [stem for stem in dict.fromkeys(stems(rest)) if stem not in ASPECTS]
    return Question(
        text=text,
        weights={stem: _OF_A_NAME if stem in names else 1.0 for stem in about},
        names=names.intersection(about),
        called=_other_names(rest).union(*(each for each in members if each.intersection(about))),
        spans=spans,
        period=next((_period(span) for span in spans if span.has_date), None),
    )


def _other_names(text: str) -> frozenset[str]:
    """Return the stems of words that are written as names, or stand in no dictionary."""
    found = [*_WORD.finditer(text)]
    return frozenset(
        stem
        for place, word in enumerate(found)
        if (place and word[0][0].isupper()) or word[0].lower() not in word_ranks()
        for stem in stems(word[0])
        if stem not in ASPECTS
    )


def _period(span: TimeSpan) -> Interval:
    """Return the time a span names; of something recurring, of an instant, or of a time of day, its whole day."""
    begin = span.begin.replace(hour=0, minute=0, second=0, microsecond=0)
    if span.kind in {SpanKind.DATE, SpanKind.RANGE} and span.until > span.begin:
        return Interval(span.begin, span.until)
    return Interval(begin, begin.replace(hour=23, minute=59, second=59))
