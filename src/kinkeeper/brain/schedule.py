"""What the calendar knows about a question: events by their words, each with the time it takes place next."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from kinkeeper.brain.event_words import EventWords
from kinkeeper.brain.question import Question
from kinkeeper.calendar.model import Event, EventState, Occurrence, Override
from kinkeeper.calendar.recurrence import expand
from kinkeeper.calendar.repository import list_events
from kinkeeper.calendar.rows import read_overrides
from kinkeeper.calendar.search import occurrences_between
from kinkeeper.core.time import Interval
from kinkeeper.household.viewing import Viewer

_AHEAD = timedelta(days=400)
_BACK = timedelta(days=30)
_MOST_EVENTS = 5
_TIMES = 2
_BY_TIME_ALONE = 0.9
_ALL_COVERED, _SHARPNESS, _OF_SOMEBODY_ELSE = 0.98, 1.5, 0.4
_ON_ANOTHER_DAY = 0.6
_LEAST = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """An event that bears on a question.

    Attributes:
        event: The event.
        times: When it takes place next, or in the time asked for; the last time where it is over. At least one.
        relevance: In [0, 1].
    """

    event: Event
    times: Sequence[Occurrence]
    relevance: float


def scheduled(
    conn: Connection, viewer: Viewer, words: EventWords, question: Question, *, now: datetime
) -> list[Scheduled]:
    """Return the events that bear on a question, best first, then by time.

    Args:
        conn: Open connection.
        viewer: On whose behalf.
        words: By which its people ask for events.
        question: As read.
        now: Aware.
    """
    if not question.weights:
        return _at_that_time(conn, viewer, question.period) if question.period else []
    overrides = read_overrides(conn, viewer.household)
    events = list_events(conn, viewer)
    likely = [(_relevance(question, event, words), event) for event in events]
    found: list[Scheduled] = []
    for relevance, event in sorted(likely, key=lambda each: (-each[0], each[1].id)):
        if relevance < _LEAST or len(found) == _MOST_EVENTS:
            break
        times, is_asked_for = _times(event, overrides.get(event.id, ()), question, now=now)
        if times:
            sure = relevance if is_asked_for else min(relevance, _ON_ANOTHER_DAY)
            found.append(Scheduled(event=event, times=times, relevance=sure))
    return sorted(found, key=lambda each: (-each.relevance, each.times[0].interval.start))


def _at_that_time(conn: Connection, viewer: Viewer, period: Interval) -> list[Scheduled]:
    found: dict[str, list[Occurrence]] = {}
    for occurrence in occurrences_between(conn, viewer, period):
        found.setdefault(occurrence.event.id, []).append(occurrence)
    return [
        Scheduled(event=times[0].event, times=times[:_TIMES], relevance=_BY_TIME_ALONE)
        for times in found.values()
    ][:_MOST_EVENTS]


def _relevance(question: Question, event: Event, words: EventWords) -> float:
    if event.state is not EventState.CONFIRMED:
        return 0.0
    known = words.of(event)
    relevance = float(_ALL_COVERED * question.coverage(known) ** _SHARPNESS)
    is_of_somebody_else = bool(question.names) and not question.names & known
    return relevance * _OF_SOMEBODY_ELSE if is_of_somebody_else else relevance


def _times(
    event: Event, overrides: Sequence[Override], question: Question, *, now: datetime
) -> tuple[list[Occurrence], bool]:
    """Return when an event takes place, and whether that is the time asked for: else next, else last."""
    ahead = Interval(now, now + _AHEAD)
    for period in (question.period, None) if question.period else (None,):
        times = _confirmed(expand(event, overrides, period or ahead))
        if times:
            return times[:_TIMES], period is question.period
    past = _confirmed(expand(event, overrides, Interval(now - _BACK, now)))
    return past[-1:], question.period is None


def _confirmed(occurrences: Iterable[Occurrence]) -> list[Occurrence]:
    return [each for each in occurrences if each.state is EventState.CONFIRMED]
