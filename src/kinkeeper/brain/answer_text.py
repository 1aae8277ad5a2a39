"""What is known, told in one or two sentences made of the sources themselves. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from kinkeeper.brain.model import KnownEvent, Source, SourceKind, Sureness, TemporalEntity
from kinkeeper.brain.schedule import Scheduled
from kinkeeper.calendar.event_records import occurrence_waiting
from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.search import rule_seen
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.language.text import shorten
from kinkeeper.reading.phrases import everyday_spellings
from kinkeeper.reading.second_thoughts import is_set_right
from kinkeeper.reading.times.model import SpanKind, TimeSpan
from kinkeeper.reading.times.reader import read
from kinkeeper.reading.times.time_text import clock

NOTHING_KNOWN = "Nothing is known about that."

BEARS = 0.5
"""Relevance from which a source bears on a question."""

_SURE = 0.8
_SENTENCES = 2
_LONGEST_QUOTE = 240
_OF_ONESELF = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
_ENDS = (".", "!", "?", "…")
_DAY = timedelta(days=1)
_REMEMBERED = frozenset({SourceKind.FACT, SourceKind.EPISODE})


def sureness_of(relevance: float) -> Sureness:
    """Return a relevance, in [0, 1], in a word."""
    if relevance >= _SURE:
        return Sureness.HIGH
    return Sureness.MEDIUM if relevance >= BEARS else Sureness.LOW


def answer_of(sources: Sequence[Source]) -> str:
    """Return one or two sentences that say what the best sources do.

    Args:
        sources: Those that bear on the question, best first.
    """
    return " ".join(source.sentence for source in sources[:_SENTENCES]) or NOTHING_KNOWN


def dated(sources: Sequence[Source], zone: ZoneInfo) -> list[Source]:
    """Return the best sources as an answer tells them: of memories the newer first, an older fact with its day.

    The newer one may have changed what the older one says.

    Args:
        sources: Those that bear on the question, best first.
    """
    best = [*sources[:_SENTENCES]]
    if all(source.kind in _REMEMBERED for source in best):
        best.sort(key=lambda source: source.at, reverse=True)
    for place, (newer, older) in enumerate(pairwise(best), start=1):
        if older.kind is SourceKind.FACT and newer.at - older.at >= _DAY:
            told = quote(older.text, speaker=older.speaker, said_at=older.at, zone=zone)
            best[place] = replace(older, sentence=told)
    return best


def event_sentence(found: Scheduled, household: Household) -> str:
    """Return when and where an event takes place, and who is in charge.

    Args:
        household: Whose names, places and way of writing times count.
    """
    first, *others = found.times
    told = f"{_plain(found.event.summary)}: {_moment(first, household)}"
    if first.place:
        told += f", at {_plain(household.place_name(first.place))}"
    told += _waits(first, household)
    told += "".join(
        f"; again on {_moment(each, household)}{_waits(each, household)}" for each in others
    )
    if first.responsible:
        names = [getattr(household.member(each), "name", each) for each in first.responsible]
        verb = "is" if len(names) == 1 else "are"
        told += f"; {' and '.join(names)} {verb if first.is_confirmed else 'would be'} in charge"
    return f"{told}."


def _waits(time: Occurrence, household: Household) -> str:
    """Return what nobody has confirmed yet of one time, in brackets with a space before them."""
    waits = occurrence_waiting(
        time,
        household.zone,
        name=lambda each: getattr(household.member(each), "name", each),
        moment=lambda at: f"{_day(at)} at {clock(at.time(), household.locale)}",
    )
    return f" ({waits})" if waits else ""


def quote(
    text: str, *, speaker: str | None, said_at: datetime, zone: ZoneInfo, has_clock: bool = False
) -> str:
    """Return a sentence that says what somebody said and when.

    Args:
        speaker: Who, if known.
        has_clock: Whether to tell the hour.
    """
    local = said_at.astimezone(zone)
    day = f"{_day(local)} at {local:%H:%M}" if has_clock else _day(local)
    words = shorten(_plain(text), _LONGEST_QUOTE)
    return f"On {day} {speaker or 'somebody'} said: “{words}”"


def statement(text: str, *, speaker: str | None) -> str:
    """Return a remembered sentence with an end, and with its speaker where it speaks of "I" or "we", or goes back on itself.

    Args:
        speaker: Whose they are, if known.
    """
    words = shorten(_plain(text), _LONGEST_QUOTE)
    ended = words if words.endswith(_ENDS) else f"{words}."
    said = " ".join(everyday_spellings().get(each.lower(), each) for each in ended.split())
    is_quoted = speaker is not None and (_OF_ONESELF.search(said) or is_set_right(ended))
    return f"{speaker}: “{ended}”" if is_quoted else ended


def known_events(
    scheduled: Sequence[Scheduled], household: Household, viewer: Viewer
) -> list[KnownEvent]:
    """Return what takes place next, or in the time asked for, of each event.

    Args:
        scheduled: Events of the calendar that bear on a question.
        household: Whose places and local time are told.
    """
    zone = household.zone
    return [
        KnownEvent(
            summary=found.event.summary,
            start=time.interval.start.astimezone(zone),
            end=time.interval.end.astimezone(zone),
            location=household.place_name(time.place) if time.place else None,
            recurrence=rule_seen(found.event, viewer),
            is_confirmed=time.is_confirmed,
        )
        for found in scheduled
        for time in found.times[:1]
    ]


def times_of(
    spans: Sequence[TimeSpan],
    events: Sequence[KnownEvent],
    sources: Sequence[Source],
    household: Household,
) -> list[TemporalEntity]:
    """Return the times that a question, the calendar and what was said speak of, each once.

    Args:
        spans: Times that the question names.
        sources: What the answer rests on.
        household: Whose zone and locale count.
    """
    said = (
        entity
        for source in sources
        if source.kind is not SourceKind.EVENT
        for entity in _said_times(source, household)
    )
    asked = (_entity(span, span.surface) for span in spans)
    return list(dict.fromkeys([*asked, *_event_times(events), *said]))


def _said_times(source: Source, household: Household) -> Iterator[TemporalEntity]:
    reference = source.at.astimezone(household.zone)
    for span in read(source.text, reference, locale=household.locale):
        yield _entity(span, shorten(source.text, _LONGEST_QUOTE))


def _event_times(events: Sequence[KnownEvent]) -> Iterator[TemporalEntity]:
    for event in events:
        yield TemporalEntity(type="datetime", value=event.start.isoformat(), context=event.summary)
        if event.recurrence:
            yield TemporalEntity(type="recurring", value=event.recurrence, context=event.summary)


def _entity(span: TimeSpan, context: str) -> TemporalEntity:
    begin, until = span.begin.isoformat(), span.until.isoformat()
    match span.kind:
        case SpanKind.RECURRING if span.recurrence:
            value = span.recurrence
        case SpanKind.RANGE | SpanKind.DURATION:
            value = f"{begin}/{until}"
        case SpanKind.DATE:
            value = span.begin.date().isoformat()
        case _:
            value = begin
    return TemporalEntity(type=span.kind.value, value=value, context=context)


def _moment(occurrence: Occurrence, household: Household) -> str:
    zone, event = household.zone, occurrence.event
    start, end = (
        each.astimezone(zone) for each in (occurrence.interval.start, occurrence.interval.end)
    )
    if event.all_day:
        last = end - _DAY
        is_one_day = last.date() <= start.date()
        return _day(start) if is_one_day else f"{_day(start)} to {_day(last)}"
    return f"{_day(start)} at {clock(start.time(), household.locale)}"


def _day(moment: datetime) -> str:
    return f"{moment:%A} {moment.day} {moment:%B %Y}"


def _plain(text: str) -> str:
    return " ".join(text.split())
