"""Which occurrence a few words mean, and which events answer what is asked about them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.actions.expected import expected_between, people_of, told_once, with_proposals
from kinkeeper.actions.requests.event_views import FindEvent, ListEvents, Scope, Wanted
from kinkeeper.actions.requests.model import Asked
from kinkeeper.actions.requests.parameters import Moment, read_moment, read_who, said
from kinkeeper.calendar.model import Event, EventState, Occurrence
from kinkeeper.calendar.repository import list_overrides, load_event
from kinkeeper.calendar.search import occurrences_between, times_of
from kinkeeper.core.errors import NotFoundError, UnclearError
from kinkeeper.core.time import Interval, local_days, midnight
from kinkeeper.household.viewers import Viewer
from kinkeeper.language.name_match import meant_by

# Which occurrence a few words mean: the next that matches, unless several events do.

REACHES: Final = (timedelta(days=14), timedelta(days=62), timedelta(days=400))
"""Nearer events are looked at before those far off: "the dentist" is the next one."""

_BACK = timedelta(days=1)
_FAR = timedelta(days=400)
_MOST_OPTIONS = 5


def find_occurrence(conn: Connection, wanted: FindEvent, asked: Asked) -> Occurrence:
    """Return the occurrence that is meant.

    Args:
        wanted: By id or by words, and the day where it was said.

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
        words: As a person says them.
        span: Where it is looked for first.

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
    """Return the occurrences of one event that begin within a span and take place, by their start."""
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


# Which events answer what is asked about them.

_DAY = timedelta(days=1)
_MANY: Final = frozenset({Wanted.ALL, Wanted.COUNT, Wanted.UNOWNED, Wanted.CLASH})
"""What is told of every event in a span; everything else is told of one."""

_IN_A_SPAN: Final = _MANY | {Wanted.WHETHER, Wanted.WHO, Wanted.RESPONSIBLE}
"""What is told of every event where a span is named: each may have somebody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Events that answer a question.

    Attributes:
        events: In the order in which they take place; the last first where that is wanted.
        span: What was looked at.
        instead: The next of what was asked for, where none is in the span.
        beside: What else there is in the span, of the people who were named, where nothing of what was asked for is there.
        meanwhile: What goes on for whole days beside what was found, for the same people.
    """

    events: Sequence[Occurrence]
    span: Interval
    instead: Occurrence | None = None
    beside: Sequence[Occurrence] = ()
    meanwhile: Sequence[Occurrence] = ()


def choose(conn: Connection, wanted: ListEvents, asked: Asked) -> Chosen:
    """Return the events that answer what is asked.

    Raises:
        InputError: A day cannot be read.
        UnclearError: A name is nobody's of the household, or several people's.
    """
    found, span = _first_found(conn, wanted, asked)
    if found:
        meanwhile = _all_day_beside(conn, found, asked) if wanted.wanted is Wanted.WHETHER else ()
        return Chosen(events=found, span=span, meanwhile=meanwhile)
    if wanted.from_ is None or wanted.query is None or span.end <= asked.now:
        return Chosen(events=found, span=span)
    ahead = wanted.model_copy(update={"from_": None, "wanted": Wanted.NEXT})
    later, _ = _first_found(conn, ahead, asked)
    whole = wanted.model_copy(update={"query": None, "wanted": Wanted.ALL})
    is_open = bool(wanted.who) or wanted.wanted is Wanted.WHETHER
    beside = _answering_in(conn, span, whole, asked) if is_open and not later else ()
    return Chosen(events=found, span=span, instead=next(iter(later), None), beside=beside)


def _all_day_beside(
    conn: Connection, found: Sequence[Occurrence], asked: Asked
) -> Sequence[Occurrence]:
    """Return what goes on for whole days while something else takes place, with some of the same people."""
    ids = {each.event.id for each in found}
    return [
        other
        for other in expected_between(conn, asked.viewer, found[0].interval, now=asked.now)
        if other.event.all_day
        and other.event.id not in ids
        and {*other.event.who} & {*found[0].event.who, *found[0].responsible}
    ]


def _first_found(
    conn: Connection, wanted: ListEvents, asked: Asked
) -> tuple[Sequence[Occurrence], Interval]:
    found, span = list[Occurrence](), Interval(asked.now, asked.now)
    for span in _spans(wanted, asked):
        found = _answering_in(conn, span, wanted, asked)
        if found:
            break
    is_named = wanted.from_ is not None
    if wanted.wanted is Wanted.LAST or (wanted.wanted not in _MANY and span.end <= asked.now):
        found = found[::-1]
    return (found if wanted.wanted in (_IN_A_SPAN if is_named else _MANY) else found[:1]), span


def _answering_in(
    conn: Connection, span: Interval, wanted: ListEvents, asked: Asked
) -> list[Occurrence]:
    members = read_who(wanted.who, asked)
    found = expected_between(
        conn, asked.viewer, span, now=asked.now, with_busy=asked.viewer.sees_busy
    )
    if members:
        found = [each for each in found if _concerns(each, members)]
    found = [each for each in found if _is_at_that_time(each, wanted, asked.household.zone)]
    if wanted.query is not None:
        found = matching(wanted.query, found, asked)
    found = told_once(found)
    if wanted.wanted is Wanted.UNOWNED:
        found = [each for each in found if _needs_somebody(each, asked)]
    is_begun = wanted.from_ is None and wanted.wanted in {Wanted.NEXT, Wanted.START}
    if is_begun:
        return [each for each in found if each.interval.start >= asked.now]
    if wanted.wanted is Wanted.NEXT:
        # What is still going on from before is not the first thing of a day, unless there is no other.
        return [each for each in found if each.interval.start >= span.start] or found
    if wanted.wanted is Wanted.AWAY:
        return [
            each
            for each in found
            if {*each.event.who} & {*members}
            and (each.event.all_day or each.interval.start <= asked.now)
        ]
    if wanted.wanted is Wanted.RESPONSIBLE:
        return _in_need_of_care(found, with_days=wanted.query is not None)
    if wanted.wanted is Wanted.CLASH:
        return [each for each in found if any(_collide(each, other) for other in found)]
    if wanted.wanted is Wanted.LAST and wanted.from_ is None:
        return [each for each in found if each.interval.start < asked.now]
    return found


def _in_need_of_care(found: Sequence[Occurrence], *, with_days: bool) -> list[Occurrence]:
    """Return of what somebody may be in charge: neither of a whole day, nor of what other care is about."""
    cared_for = {each.event.about for each in found}
    return [
        each
        for each in found
        if each.responsible
        or (each.event.id not in cared_for and (with_days or not each.event.all_day))
    ]


def _spans(wanted: ListEvents, asked: Asked) -> Iterator[Interval]:
    """Yield where to look, one after the other until something is found."""
    if wanted.from_ is not None or wanted.wanted in _MANY:
        yield _named_span(wanted, asked)
    elif wanted.wanted is Wanted.LAST:
        yield from (Interval(asked.now - reach, asked.now) for reach in REACHES)
    else:
        yield from (Interval(asked.now, asked.now + reach) for reach in REACHES)
        if wanted.query is not None:
            yield Interval(asked.now - REACHES[-1], asked.now)


def _named_span(wanted: ListEvents, asked: Asked) -> Interval:
    """Return the days that are named: whole ones, or what is left of today and more."""
    zone = asked.household.zone
    today = asked.now.astimezone(zone).date()
    if wanted.from_ is None:
        return Interval(asked.now, midnight(today + (wanted.days_ahead + 1) * _DAY, zone))
    first = read_moment(wanted.from_, asked).at.astimezone(zone).date()
    last = first + max(wanted.days_ahead, 1) * _DAY
    # Whoever asks for this week wants what is left of it; the past is told where only it is asked for.
    is_coming = last > today
    return Interval(midnight(max(first, today) if is_coming else first, zone), midnight(last, zone))


def _is_at_that_time(occurrence: Occurrence, wanted: ListEvents, zone: ZoneInfo) -> bool:
    """Whether an occurrence shares time with the hours that are named."""
    if occurrence.event.all_day:
        return True
    start, end = (
        each.astimezone(zone) for each in (occurrence.interval.start, occurrence.interval.end)
    )
    is_over = wanted.since is not None and end.date() == start.date() and end.time() <= wanted.since
    return not is_over and (wanted.until is None or start.time() < wanted.until)


def _concerns(occurrence: Occurrence, members: Sequence[str]) -> bool:
    """Whether an occurrence concerns one of these members; what names nobody concerns everybody."""
    people = people_of(occurrence)
    return not people or bool(people & set(members))


def _collide(first: Occurrence, second: Occurrence) -> bool:
    """Whether two events meet, and some of the same people are booked for them or in charge."""
    if first.event.id == second.event.id or first.event.all_day or second.event.all_day:
        return False
    if first.event.about == second.event.id or second.event.about == first.event.id:
        return False
    people = {*first.event.who, *first.responsible} & {*second.event.who, *second.responsible}
    return bool(people) and first.interval.overlaps(second.interval)


def _needs_somebody(occurrence: Occurrence, asked: Asked) -> bool:
    """Whether children take part at a time of day, and no adult does or is in charge."""
    known = asked.household.member
    people = [member for each in occurrence.event.who if (member := known(each)) is not None]
    is_with_children = any(not each.is_adult for each in people)
    is_alone = not occurrence.responsible and not any(each.is_adult for each in people)
    return is_with_children and is_alone and not occurrence.event.all_day
