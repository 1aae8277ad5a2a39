"""Which occurrence a few words mean: the next that matches, unless several events do."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.actions.expected import with_proposals
from kinkeeper.actions.requests.calendar_parameters import FindEvent, Scope
from kinkeeper.actions.requests.model import Asked
from kinkeeper.actions.requests.request_times import Moment, read_moment, said
from kinkeeper.calendar.model import Event, EventState, Occurrence
from kinkeeper.calendar.repository import list_overrides, load_event
from kinkeeper.calendar.search import occurrences_between, times_of
from kinkeeper.core.errors import NotFoundError, UnclearError
from kinkeeper.core.time import Interval, local_days
from kinkeeper.household.viewers import Viewer
from kinkeeper.language.name_match import meant_by

REACHES: Final = (timedelta(days=14), timedelta(days=62), timedelta(days=400))
"""Nearer events are looked at before those far off: "the dentist" is the next one."""

_BACK = timedelta(days=1)
_FAR = timedelta(days=400)
_MOST_OPTIONS = 5


def find_occurrence(conn: Connection, wanted: FindEvent, asked: Asked) -> Occurrence:
    """Return the occurrence that is meant.

    Args:
        conn: Open connection.
        wanted: By id or by words, and the day where it was said.
        asked: Who asks.

    Raises:
        NotFoundError: None is meant.
        UnclearError: Several events can be meant; the question names them.
        InputError: The day cannot be read.
    """
    on = None if wanted.on is None else read_moment(wanted.on, asked)
    if wanted.event_id:
        is_onwards = wanted.scope is Scope.FOLLOWING
        return _of_event(conn, wanted.event_id, on, asked, is_onwards=is_onwards)
    return _named(conn, wanted.find_by or "", on, asked)


def find_around(conn: Connection, words: str, span: Interval, asked: Asked) -> Occurrence:
    """Return the first occurrence that words can mean: in a span, else the next.

    Args:
        conn: Open connection.
        words: As a person says them.
        span: Where it is looked for first.
        asked: Who asks.

    Raises:
        NotFoundError: None is meant.
    """
    for each in (span, *(Interval(asked.now, asked.now + reach) for reach in REACHES)):
        found = _matching_in(conn, words, each, asked)
        if found:
            return found[0]
    raise NotFoundError(f"I can't find anything like {words!r} in the calendar")


def occurrences_of(
    conn: Connection, event: Event, span: Interval, viewer: Viewer
) -> list[Occurrence]:
    """Return the occurrences of one event that begin within a span and take place, by their start.

    Args:
        conn: Open connection.
        event: Whose.
        span: Where they begin.
        viewer: On whose behalf.
    """
    found = times_of(event, list_overrides(conn, event.household, event.id), span, viewer)
    return [
        each
        for each in found
        if _takes_place(each) and span.start <= each.interval.start < span.end
    ]


def matching(words: str, found: Sequence[Occurrence], asked: Asked) -> list[Occurrence]:
    """Return the occurrences that words can mean, by what they are, who takes part and where.

    Args:
        words: As a person says them.
        found: In the order in which they are wanted.
        asked: Whose names count.
    """
    told = {each.event.id: each for each in reversed(found)}
    ids = list(told)
    summaries = [told[each].event.summary for each in ids]
    places = meant_by(words, summaries, [_further_words(told[each], asked) for each in ids])
    meant = {ids[place] for place in places}
    return [each for each in found if each.event.id in meant]


def _further_words(occurrence: Occurrence, asked: Asked) -> str:
    event, household = occurrence.event, asked.household
    people = [_names(each, asked) for each in (*event.who, *occurrence.responsible)]
    place = next((each.name for each in household.places if each.id == occurrence.place), None)
    activity = next((each for each in household.activities if each.id == event.activity), None)
    spelt = (activity.name, *activity.aliases) if activity is not None else ()
    called = (word for each in occurrence.waiting for word in each.said)
    parts = (*spelt, event.activity, event.task, place, occurrence.place, *people, *called)
    return " ".join(part for part in parts if part)


def _names(person: str, asked: Asked) -> str:
    """Return all that a member is called."""
    member = asked.household.member(person)
    return person if member is None else " ".join((member.name, *member.aliases))


def _of_event(
    conn: Connection, event_id: str, on: Moment | None, asked: Asked, *, is_onwards: bool
) -> Occurrence:
    """Return the occurrence on a day, or the first from that day on."""
    household = asked.household
    event = load_event(conn, asked.viewer, event_id)
    overrides = list_overrides(conn, household.id, event_id)
    span = Interval(asked.now - _FAR, asked.now + _FAR)
    times = times_of(event, overrides, _reaching(span, on), asked.viewer)
    found = [each for each in times if _takes_place(each)]
    that = [each for each in found if on is None or _is_on(each, on, household.zone)]
    if not that and on is not None and is_onwards:
        that = [each for each in found if each.interval.start >= on.at]
    if on is None:
        ahead = [each for each in found if each.interval.end > asked.now]
        that = ahead or found[-1:]
    if not that:
        raise NotFoundError(f"{event.summary!r} isn't on then")
    return that[0]


def _named(conn: Connection, words: str, on: Moment | None, asked: Asked) -> Occurrence:
    zone = asked.household.zone
    if on is not None:
        day = on.at.date()
        found = _matching_in(conn, words, local_days(day, day, zone), asked)
        exact = [each for each in found if _is_on(each, on, zone)]
        if found:
            return _the_one(exact or found, words, asked)
    for reach in REACHES:
        found = _matching_in(conn, words, Interval(asked.now, asked.now + reach), asked)
        if found and on is None:
            return _the_one(found, words, asked)
        if found:
            when = _when(found[0], asked)
            raise NotFoundError(f"there is no {words!r} then; the next is {when}")
    today = asked.now.astimezone(zone).date()
    found = _matching_in(conn, words, local_days(today - _BACK, today, zone), asked)
    if found and on is None:
        return _the_one(found[-1:], words, asked)
    _refuse_proposed(conn, words, asked)
    raise NotFoundError(f"I can't find anything like {words!r} in the calendar")


def _refuse_proposed(conn: Connection, words: str, asked: Asked) -> None:
    """Say of what only waits for a yes that it must be confirmed before it can be changed."""
    ahead = Interval(asked.now - _BACK, asked.now + REACHES[-1])
    waiting = with_proposals(conn, asked.viewer, (), ahead, now=asked.now)
    for each in matching(words, waiting, asked)[:1]:
        what = f"{each.event.summary}, {_when(each, asked)}"
        raise NotFoundError(f"{what}, is not confirmed yet: approve or edit it in the inbox first")


def _matching_in(conn: Connection, words: str, span: Interval, asked: Asked) -> list[Occurrence]:
    found = occurrences_between(conn, asked.viewer, span)
    return matching(words, found, asked)


def _the_one(found: Sequence[Occurrence], words: str, asked: Asked) -> Occurrence:
    """Return the first of what is found, unless it is of several events."""
    first = {each.event.id: each for each in reversed(found)}
    if len(first) == 1:
        return found[0]
    ordered = sorted(first.values(), key=lambda each: each.interval.start)[:_MOST_OPTIONS]
    options = [f"{each.event.summary}, {_when(each, asked)}" for each in ordered]
    raise UnclearError(f"Which {words} do you mean: {'; '.join(options)}?", options=options)


def _reaching(span: Interval, on: Moment | None) -> Interval:
    if on is None:
        return span
    return Interval(min(span.start, on.at - _BACK), max(span.end, on.at + 2 * _BACK))


def _is_on(occurrence: Occurrence, on: Moment, zone: ZoneInfo) -> bool:
    starts: tuple[datetime, ...] = (occurrence.interval.start, occurrence.original_start)
    if on.is_day:
        return on.at.date() in {each.astimezone(zone).date() for each in starts}
    return on.at in starts


def _takes_place(occurrence: Occurrence) -> bool:
    return occurrence.state is EventState.CONFIRMED


def _when(occurrence: Occurrence, asked: Asked) -> str:
    start = occurrence.interval.start.astimezone(asked.household.zone)
    return said(Moment(at=start, is_day=occurrence.event.all_day), asked)
