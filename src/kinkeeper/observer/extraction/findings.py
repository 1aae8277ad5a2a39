"""What the rules found in a message, and how much that is worth. Pure."""

from datetime import datetime

from kinkeeper.observer.extraction_json import hhmm
from kinkeeper.observer.model import Entity
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.observer.wording.wanted import named_tasks
from kinkeeper.reading.times.model import SpanKind, TimeSpan

_CERTAIN = 0.95


def entities(reading: Reading) -> tuple[Entity, ...]:
    """Return the things, times and named handovers found in a message, in text order."""
    found = [
        Entity(type=m.kind, surface=m.surface, start=m.start, end=m.end, value=m.id)
        for m in reading.mentions
    ]
    found += [
        Entity(
            type=span.kind if span.has_date or span.kind is SpanKind.DURATION else "time",
            surface=span.surface, start=span.start_char, end=span.end_char,
            value=_span_value(span),
        )
        for span in reading.spans
    ]  # fmt: skip
    found += [
        Entity(type="task", surface=reading.text[start:end], start=start, end=end, value=task)
        for start, end, task in named_tasks(reading)
    ]
    return tuple(sorted(found, key=lambda entity: (entity.start, entity.end, entity.type)))


def _span_value(span: TimeSpan) -> str:
    if span.has_time and not span.has_date:
        return hhmm(span.begin.time())
    begin: datetime = span.begin
    return begin.isoformat() if span.has_time else begin.date().isoformat()


def confidence(
    *,
    has_task: bool,
    has_activity: bool,
    has_stub: bool,
    has_when: bool,
    has_day: bool,
    has_time: bool,
    has_person: bool,
    has_owner: bool,
    is_asked: bool,
    is_uncertain: bool,
    is_told: bool,
) -> float:
    """Return how sure the rules are: what is arranged, when and who add; doubt and past tense take away.

    Args:
        has_task: Whether it is said what is to be done.
        has_activity: Whether an activity is named.
        has_stub: Whether a child with a time, or somebody asked about one, stands for either.
        has_when: Whether a day or time is named.
        has_day: Whether a day is known.
        has_time: Whether a time of day is known.
        has_person: Whether anybody is named.
        has_owner: Whether somebody has it.
        is_asked: Whether somebody is asked.
        is_uncertain: Whether it is a mere possibility.
        is_told: Whether it only tells of what has been.

    Returns:
        A figure in [0, 0.95].
    """
    score = 0.15 + 0.30 * has_task + 0.30 * has_activity
    score += 0.25 * (has_stub and not (has_task or has_activity))
    score += 0.15 * has_when + 0.10 * (has_day and has_time)
    score += 0.15 * has_person + 0.15 * (has_owner or is_asked)
    score -= 0.10 * (not (has_when or has_person or has_owner or is_asked))
    score -= 0.15 * is_uncertain + 0.35 * is_told
    return round(min(max(score, 0.0), _CERTAIN), 2)
