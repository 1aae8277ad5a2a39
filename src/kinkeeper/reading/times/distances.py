"""How long before or after something else a text puts what it speaks of: "two days before the trip". Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final

from kinkeeper.reading.times.model import SpanKind, TimeSpan

_EVE = re.compile(
    r"\b(?:the|a) (?P<unit>day|week|evening|night)\s+(?=before\b|after\b)", re.IGNORECASE
)
_EVE_ALONE = re.compile(
    r"(?P<lead>\bremind \w+(?: please)? (?:on )?)(?=(?:day|week|evening|night|morning) (?:before|prior|ahead|earlier)\b)",
    re.IGNORECASE,
)
_WAY = re.compile(r"\s*\b(?P<way>before|after)\b", re.IGNORECASE)
_ENDS = re.compile(r"(?:before|after)$", re.IGNORECASE)
_POINTS = re.compile(r"(?:it|that|this|then|the (?:event|appointment))\b", re.IGNORECASE)
_OF = re.compile(r"[^.,;:!?]*")
_DAY, _WEEK, _EVENING = timedelta(days=1), timedelta(weeks=1), time(18)
_EVENINGS: Final = frozenset({"evening", "night"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """A time that is told by another.

    Attributes:
        by: How long after it, negative where before it.
        at: The time of that day, where one was said.
        surface: The words, verbatim.
        of: What follows them: what names the other time.
    """

    by: timedelta
    at: time | None
    surface: str
    of: str

    @property
    def is_pointing(self) -> bool:
        """Whether the other is something that was spoken of before."""
        return not self.of or _POINTS.match(self.of) is not None

    def from_(self, start: datetime) -> datetime:
        """Return the time that is meant where the other is known."""
        found = start + self.by
        return found if self.at is None else datetime.combine(found, self.at, start.tzinfo)


def with_eve_named(text: str) -> str:
    """Return a text in which who wants to be reminded "night before" says "the night before"."""
    return _EVE_ALONE.sub(r"\g<lead>the ", text)


def distances(text: str, spans: Sequence[TimeSpan], now: datetime) -> Iterator[Distance]:
    """Yield the times of a text that are told by others, which it names.

    Args:
        spans: Times of the text, as it stands.
        now: When it was said, aware.
    """
    for span in spans:
        end = span.end_char
        length = span.until - span.begin
        if (swallowed := _ENDS.search(span.surface)) is not None:
            end -= len(swallowed[0])
            is_clock = span.has_time
            length = abs(span.begin - now) if is_clock else abs(span.begin.date() - now.date())
        elif span.kind is not SpanKind.DURATION:
            continue
        if (way := _WAY.match(text, end)) is not None:
            yield _distance(text, span.start_char, way, length, at=None)
    for eve in _EVE.finditer(text):
        if (way := _WAY.match(text, eve.end())) is not None:
            unit = eve["unit"].lower()
            at = _EVENING if unit in _EVENINGS else None
            yield _distance(text, eve.start(), way, _WEEK if unit == "week" else _DAY, at=at)


def _distance(
    text: str, start: int, way: re.Match[str], length: timedelta, *, at: time | None
) -> Distance:
    is_before = way["way"].lower() == "before"
    of = _OF.match(text, way.end())
    return Distance(
        by=-length if is_before else length,
        at=at,
        surface=text[start : way.end()],
        of=of[0].strip() if of is not None else "",
    )
