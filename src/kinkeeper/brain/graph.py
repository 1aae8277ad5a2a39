"""The brain that answers from the event graph alone."""

from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from typing import TypeVar
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from kinkeeper.brain.model import BrainAnswer, BrainQuery
from kinkeeper.calendar.model import EventKind, Occurrence
from kinkeeper.calendar.search import activity_occurrences, care_between, occurrences_between
from kinkeeper.core.errors import InvariantError
from kinkeeper.core.time import Clock, Interval, local_days, midnight
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.store import Store

_AHEAD = timedelta(days=21)
_BACK = timedelta(days=60)
_EXACT, _NEAR, _GENERAL, _NOTHING = 0.9, 0.6, 0.7, 0.0
_T = TypeVar("_T")


class GraphBrain:
    """Answers from the event graph of one household.

    Args:
        store: Where the event graph is.
        household: Tenant key.
        zone: The household's zone.
        clock: Tells what "usually" looks back from where a query names no day.
    """

    def __init__(self, store: Store, household: str, zone: ZoneInfo, clock: Clock) -> None:
        self._store = store
        self._household = household
        self._zone = zone
        self._clock = clock

    async def ask(self, query: BrainQuery, viewer: Viewer) -> BrainAnswer:
        """Return what the event graph knows about a day, an activity, or who usually does a task.

        Args:
            query: What is asked.
            viewer: On whose behalf.

        Raises:
            InvariantError: The viewer is of another household.
        """
        if viewer.household != self._household:
            raise InvariantError(
                f"a viewer from household {viewer.household!r} cannot query {self._household!r}"
            )
        day = query.day or self._clock.now().astimezone(self._zone).date()
        if query.activity is not None:
            activity = query.activity
            return await self._read(lambda conn: self._schedule(conn, viewer, activity, day))
        if query.task is not None:
            task = query.task
            return await self._read(lambda conn: self._usual_owner(conn, viewer, task, day))
        return await self._read(lambda conn: self._day(conn, viewer, day))

    async def _read(self, work: Callable[[Connection], _T]) -> _T:
        return await self._store.read(work)

    def _schedule(self, conn: Connection, viewer: Viewer, activity: str, day: date) -> BrainAnswer:
        start = midnight(day, self._zone)
        found = activity_occurrences(
            conn, viewer, activity, Interval(start - timedelta(days=1), start + _AHEAD)
        )
        same_weekday = [o for o in found if self._local(o).weekday() == day.weekday()]
        if same_weekday:
            return self._answer(_EXACT, "is on that weekday", same_weekday)
        if found:
            return self._answer(_NEAR, "is on other days", found)
        return BrainAnswer(relevance=_NOTHING, summary="not in the event graph")

    def _usual_owner(self, conn: Connection, viewer: Viewer, task: str, day: date) -> BrainAnswer:
        start = midnight(day, self._zone)
        care = [
            occurrence
            for occurrence in care_between(conn, viewer, Interval(start - _BACK, start))
            if occurrence.event.task == task and self._local(occurrence).weekday() == day.weekday()
        ]
        owners = Counter(person for occurrence in care for person in occurrence.responsible)
        if not owners:
            return BrainAnswer(relevance=_NOTHING, summary="nobody usually does")
        person, times = owners.most_common(1)[0]
        share = times / len(care)
        return self._answer(round(share * _EXACT, 2), f"{person}, {times} times lately", care)

    def _day(self, conn: Connection, viewer: Viewer, day: date) -> BrainAnswer:
        found = occurrences_between(conn, viewer, local_days(day, day, self._zone))
        bookings = [o for o in found if o.event.kind in {EventKind.BOOKING, EventKind.CARE}]
        if not bookings:
            return BrainAnswer(relevance=_NOTHING, summary="nothing booked that day")
        return self._answer(_GENERAL, f"{len(bookings)} booked that day", bookings)

    def _answer(self, relevance: float, summary: str, found: list[Occurrence]) -> BrainAnswer:
        return BrainAnswer(
            relevance=relevance,
            summary=summary,
            items=[
                {
                    "event": occurrence.event.id,
                    "start": occurrence.interval.start.astimezone(self._zone).isoformat(),
                    "responsible": list(occurrence.responsible),
                }
                for occurrence in found[:5]
            ],
        )

    def _local(self, occurrence: Occurrence) -> date:
        return occurrence.interval.start.astimezone(self._zone).date()
