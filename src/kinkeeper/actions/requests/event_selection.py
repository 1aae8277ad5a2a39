"""Which events answer what is asked about them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.actions.expected import expected_between, people_of
from kinkeeper.actions.requests.calendar_parameters import ListEvents, Wanted
from kinkeeper.actions.requests.event_lookup import REACHES, matching
from kinkeeper.actions.requests.model import Asked
from kinkeeper.actions.requests.people import read_who
from kinkeeper.actions.requests.request_times import read_moment
from kinkeeper.calendar.model import Occurrence
from kinkeeper.core.time import Interval, midnight

_DAY = timedelta(days=1)
_MANY: Final = frozenset({Wanted.ALL, Wanted.COUNT, Wanted.UNOWNED, Wanted.CLASH})
"""What is told of every event in a span; everything else is told of one."""

_IN_A_SPAN: Final = _MANY | {Wanted.WHO, Wanted.RESPONSIBLE, Wanted.WHETHER}
"""What is told of every event where a span is named: each may have somebody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Events that answer a question.

    Attributes:
        events: In the order in which they take place; the last first where that is wanted.
        span: What was looked at.
        instead: The next of what was asked for, where none is in the span.
        beside: What else the people who were named have in the span, where nothing of what was asked for is there.
        meanwhile: What goes on for whole days beside what was found, for the same people.
    """

    events: Sequence[Occurrence]
    span: Interval
    instead: Occurrence | None = None
    beside: Sequence[Occurrence] = ()
    meanwhile: Sequence[Occurrence] = ()


def choose(conn: Connection, wanted: ListEvents, asked: Asked) -> Chosen:
    """Return the events that answer what is asked.

    Args:
        conn: Open connection.
        wanted: What, about which of them.
        asked: Who asks.

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
    beside = _matching_in(conn, span, whole, asked) if wanted.who and not later else ()
    return Chosen(events=found, span=span, instead=next(iter(later), None), beside=beside)


def _all_day_beside(
    conn: Connection, found: Sequence[Occurrence], asked: Asked
) -> Sequence[Occurrence]:
    """Return what goes on for whole days while something else takes place, with some of the same people."""
    ids = {each.event.id for each in found}
    return [
        other
        for other in expected_between(conn, asked.viewer, found[0].interval, now=asked.now)
        if other.event.all_day and other.event.id not in ids
        and {*other.event.who} & {*found[0].event.who, *found[0].responsible}
    ]  # fmt: skip


def _first_found(
    conn: Connection, wanted: ListEvents, asked: Asked
) -> tuple[Sequence[Occurrence], Interval]:
    found, span = list[Occurrence](), Interval(asked.now, asked.now)
    for span in _spans(wanted, asked):
        found = _matching_in(conn, span, wanted, asked)
        if found:
            break
    is_named = wanted.from_ is not None
    if wanted.wanted is Wanted.LAST or (wanted.wanted not in _MANY and span.end <= asked.now):
        found = found[::-1]
    return (found if wanted.wanted in (_IN_A_SPAN if is_named else _MANY) else found[:1]), span


def _matching_in(
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
