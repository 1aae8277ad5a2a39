"""What the calendar knows about a question: events by their words, each with the time it takes place next."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache

from sqlalchemy import Connection

from kinkeeper.actions.expected import expected_between, told_once, with_proposals
from kinkeeper.brain.question import Question
from kinkeeper.calendar.event_rows import read_overrides
from kinkeeper.calendar.model import Event, EventState, Occurrence, Override
from kinkeeper.calendar.repository import list_events
from kinkeeper.calendar.search import times_of
from kinkeeper.core.time import Interval
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.finding.terms import stems

# The words by which a household's people may ask for an event. Pure.


class EventWords:
    """The words of one household's people, places and activities.

    Args:
        household: As its file describes it.
    """

    def __init__(self, household: Household) -> None:
        self._of_things = {
            each.id: _stems_of((each.id, each.name, *each.aliases))
            for each in (*household.activities, *household.places)
        }
        self._of_people = {
            member.id: _stems_of(
                (
                    member.id,
                    member.name,
                    *member.aliases,
                    *(
                        word
                        for group in household.groups
                        if member.id in group.members
                        for word in (group.id, *group.aliases)
                    ),
                )
            )
            for member in household.members
        }

    def of(self, event: Event, also: Iterable[str] = ()) -> frozenset[str]:
        """Return the stems of all words by which somebody may ask for an event.

        Args:
            also: What else people called it.
        """
        found = _stems(event.summary) | _stems_of(also)
        for thing in (event.activity, event.place, event.task):
            if thing:
                found |= self._of_things.get(thing) or _stems(thing)
        for person in (*event.who, *event.responsible):
            found |= self._of_people.get(person) or _stems(person)
        return found


def _stems_of(words: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(_stems, words))


@lru_cache(maxsize=8192)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text.replace("-", " ")))


_AHEAD = timedelta(days=400)
_BACK = timedelta(days=30)
_MOST_EVENTS = 5
_TIMES, _MOST_TIMES = 2, 3
_BY_TIME_ALONE = 0.9
_ALL_COVERED, _SHARPNESS, _OF_SOMEBODY_ELSE = 0.98, 1.5, 0.4
_ON_ANOTHER_DAY = 0.6
_LEAST = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """An event that bears on a question.

    Attributes:
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
        words: By which its people ask for events.
    """
    if not question.weights:
        return _at_that_time(conn, viewer, question.period, now=now) if question.period else []
    overrides = read_overrides(conn, viewer.household)
    proposed = _proposed(conn, viewer, question.period or Interval(now, now + _AHEAD), now=now)
    stored = {each.id: each for each in list_events(conn, viewer)}
    events = {key: times[0].event for key, times in proposed.items()} | stored
    known = {key: words.of(event, _called(proposed.get(key, ()))) for key, event in events.items()}
    likely = [(_relevance(question, event, known[key]), event) for key, event in events.items()]
    found: list[Scheduled] = []
    for relevance, event in sorted(likely, key=lambda each: (-each[0], each[1].id)):
        if relevance < _LEAST or len(found) == _MOST_EVENTS:
            break
        times, is_asked_for = list[Occurrence](), True
        if event.id in stored:
            changed = overrides.get(event.id, ())
            times, is_asked_for = _times(event, changed, question, viewer, now=now)
        times = sorted([*times, *proposed.get(event.id, ())], key=_by_start)[:_MOST_TIMES]
        if times:
            sure = relevance if is_asked_for else min(relevance, _ON_ANOTHER_DAY)
            found.append(Scheduled(event=event, times=times, relevance=sure))
    marked = _marked(conn, viewer, found, now=now)
    return sorted(marked, key=lambda each: (-each.relevance, each.times[0].interval.start))


def _proposed(
    conn: Connection, viewer: Viewer, period: Interval, *, now: datetime
) -> Mapping[str, Sequence[Occurrence]]:
    """Return what only open proposals would put into the calendar, by event id."""
    found: defaultdict[str, list[Occurrence]] = defaultdict(list)
    for each in with_proposals(conn, viewer, (), period, now=now):
        found[each.event.id].append(each)
    return found


def _marked(
    conn: Connection, viewer: Viewer, found: Sequence[Scheduled], *, now: datetime
) -> list[Scheduled]:
    """Return events with the open proposals about each of their times."""
    times = [time for each in found for time in each.times if time.is_confirmed]
    nothing = Interval(now, now)
    marked = {
        (each.event.id, each.original_start): each
        for each in with_proposals(conn, viewer, times, nothing, now=now)
        if each.is_confirmed
    }
    return [
        replace(
            each,
            times=told_once(
                [
                    marked.get((time.event.id, time.original_start), time)
                    if time.is_confirmed
                    else time
                    for time in each.times
                ]
            ),
        )
        for each in found
    ]


def _at_that_time(
    conn: Connection, viewer: Viewer, period: Interval, *, now: datetime
) -> list[Scheduled]:
    found: dict[str, list[Occurrence]] = {}
    for occurrence in told_once(expected_between(conn, viewer, period, now=now)):
        found.setdefault(occurrence.event.id, []).append(occurrence)
    return [
        Scheduled(event=times[0].event, times=times[:_TIMES], relevance=_BY_TIME_ALONE)
        for times in found.values()
    ][:_MOST_EVENTS]


def _called(times: Iterable[Occurrence]) -> Iterator[str]:
    return (word for time in times for each in time.waiting for word in each.said)


def _relevance(question: Question, event: Event, known: frozenset[str]) -> float:
    if event.state is not EventState.CONFIRMED:
        return 0.0
    relevance = float(_ALL_COVERED * question.coverage(known) ** _SHARPNESS)
    is_of_somebody_else = bool(question.names) and not question.names & known
    return relevance * _OF_SOMEBODY_ELSE if is_of_somebody_else else relevance


def _times(
    event: Event,
    overrides: Sequence[Override],
    question: Question,
    viewer: Viewer,
    *,
    now: datetime,
) -> tuple[list[Occurrence], bool]:
    """Return when an event takes place, and whether that is the time asked for: else next, else last."""
    ahead = Interval(now, now + _AHEAD)
    for period in (question.period, None) if question.period else (None,):
        times = _confirmed(times_of(event, overrides, period or ahead, viewer))
        if times:
            return times[:_TIMES], period is question.period
    past = _confirmed(times_of(event, overrides, Interval(now - _BACK, now), viewer))
    return past[-1:], question.period is None


def _confirmed(occurrences: Iterable[Occurrence]) -> list[Occurrence]:
    return [each for each in occurrences if each.state is EventState.CONFIRMED]


def _by_start(occurrence: Occurrence) -> datetime:
    return occurrence.interval.start
