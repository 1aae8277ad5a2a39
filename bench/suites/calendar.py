"""Speed of the conflict check: one proposed hour of one person against all they are booked for.

The peer searches the same occurrences by bisection in memory: no database can do better.
"""

import statistics
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, create_engine, insert, select

from bench.report import Ratio
from kinkeeper.calendar.event_rows import event_row
from kinkeeper.calendar.model import Event, EventKind, Provenance, SourceType
from kinkeeper.calendar.occurrences import extend_horizon
from kinkeeper.calendar.search import find_conflicts
from kinkeeper.calendar.tables import events, occurrence_people
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.schema import metadata

_NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
_ZONE = ZoneInfo("America/New_York")
_HOUSEHOLD = "bench"
_EVENTS_PER_PERSON = 25
_CHECKS = 400
_ROUNDS = 3
_LARGEST_P99_US = 2000.0
_RULES = (
    "FREQ=WEEKLY;BYDAY=MO,WE",
    "FREQ=WEEKLY;BYDAY=SA",
    "FREQ=WEEKLY;INTERVAL=2",
    "FREQ=MONTHLY;BYDAY=1TU",
    "FREQ=MONTHLY",
    "FREQ=YEARLY",
)


def measure(sizes: Sequence[int] = (100, 1_000, 10_000)) -> tuple[Ratio, ...]:
    """Return the conflict check's figures, one for each number of recurring events.

    The largest size is also held against an upper limit of two milliseconds at p99.

    Args:
        sizes: Numbers of recurring events, each > 0.
    """
    ratios = [_measure(size) for size in sizes]
    largest = ratios[-1]
    limit = Ratio(
        name=f"{largest.name}, p99",
        microseconds=largest.microseconds,
        p99_microseconds=largest.p99_microseconds,
        peer="-",
        peer_microseconds=None,
        target=_LARGEST_P99_US,
    )
    return (*ratios, limit)


def _measure(size: int) -> Ratio:
    with _filled_database(size) as conn:
        in_memory = _Bisect(conn)
        asked = [_question(number, size) for number in range(_CHECKS)]
        table_us: list[list[float]] = [[] for _ in asked]
        bisect_us: list[list[float]] = [[] for _ in asked]
        for _ in range(_ROUNDS):
            for number, (person, span) in enumerate(asked):
                table_us[number].append(_timed(partial(_check, conn), person, span))
                bisect_us[number].append(_timed(in_memory.find, person, span))
    best = sorted(min(rounds) for rounds in table_us)
    return Ratio(
        name=f"conflict check, {size:,} recurring events",
        microseconds=statistics.median(best),
        p99_microseconds=best[int(len(best) * 0.99)],
        peer="bisect in memory",
        peer_microseconds=statistics.median(min(rounds) for rounds in bisect_us),
        target=None,
    )


class _Bisect:
    """Everybody's bookings in sorted lists: what the database is held against."""

    def __init__(self, conn: Connection) -> None:
        query = select(
            occurrence_people.c.person, occurrence_people.c.start_at, occurrence_people.c.end_at
        ).where(occurrence_people.c.is_booked)
        self._spans: defaultdict[str, list[tuple[datetime, datetime]]] = defaultdict(list)
        for person, start, end in conn.execute(query):
            self._spans[person].append((start, end))
        for spans in self._spans.values():
            spans.sort()
        self._longest = max(end - start for spans in self._spans.values() for start, end in spans)

    def find(self, person: str, span: Interval) -> list[tuple[datetime, datetime]]:
        """Return the person's bookings that share time with a span."""
        spans = self._spans[person]
        first = bisect_left(spans, (span.start - self._longest,))
        last = bisect_left(spans, (span.end,))
        return [each for each in spans[first:last] if each[1] > span.start]


def _timed(find: Callable[[str, Interval], object], person: str, span: Interval) -> float:
    """Return the CPU time of one search, in microseconds."""
    start = time.thread_time_ns()
    find(person, span)
    return (time.thread_time_ns() - start) / 1000


def _check(conn: Connection, person: str, span: Interval) -> object:
    return find_conflicts(conn, Viewer.of(_HOUSEHOLD), member=person, interval=span)


def _question(number: int, size: int) -> tuple[str, Interval]:
    """Return a person and a proposed hour, spread over all people and half a year."""
    start = _NOW + timedelta(days=number % 180, hours=number * 7 % 12)
    return f"p{number * 13 % _people(size)}", Interval(start, start + timedelta(hours=1))


def _people(size: int) -> int:
    return max(1, size // _EVENTS_PER_PERSON)


def _event(number: int, size: int) -> Event:
    """Return a series of one of the people, up to six years old."""
    started = datetime(2020 + number % 6, 1 + number % 12, 1 + number % 28, tzinfo=_ZONE)
    return Event(
        id=f"e{number}",
        household=_HOUSEHOLD,
        kind=EventKind.BOOKING,
        summary=f"Activity {number}",
        who=(f"p{number % _people(size)}",),
        start=started.replace(hour=8 + number * 5 % 12),
        duration=timedelta(minutes=30 + number % 4 * 30),
        tz=_ZONE.key,
        rrule=_RULES[number % len(_RULES)],
        provenance=Provenance(source_type=SourceType.CLI, source_id="bench"),
    )


@contextmanager
def _filled_database(size: int) -> Iterator[Connection]:
    with TemporaryDirectory() as folder:
        engine = create_engine(f"sqlite:///{Path(folder) / 'bench.db'}")
        metadata.create_all(engine)
        with engine.begin() as conn:
            conn.execute(insert(events), [event_row(_event(each, size)) for each in range(size)])
            extend_horizon(conn, _HOUSEHOLD, _NOW)
        with engine.connect() as conn:
            yield conn
        engine.dispose()
