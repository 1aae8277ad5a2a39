"""Who is double-booked: bookings of one person that collide with a span of time."""

from collections.abc import Container
from datetime import timedelta

from sqlalchemy import Connection

from kinkeeper.calendar.model import Occurrence
from kinkeeper.calendar.occurrences import booked_people, near_parameters, near_query
from kinkeeper.calendar.search import expand_all, is_covered, stored_occurrences
from kinkeeper.calendar.spans import in_utc, share_time
from kinkeeper.core.time import Interval
from kinkeeper.household.viewers import Viewer
from kinkeeper.store.prepared import Prepared

_NO_BUFFER = timedelta()
_BOOKED = Prepared(near_query(by_member=True, is_booked=True))


def overlaps(first: Occurrence, second: Occurrence, *, buffer: timedelta = _NO_BUFFER) -> bool:
    """Whether two occurrences share time or lie closer together than `buffer`.

    Touching ends do not count; the order of the two does not matter.

    Args:
        first: One occurrence.
        second: The other.
        buffer: Time to be kept free between the two, >= 0.
    """
    return share_time(first.interval, second.interval, buffer)


def find_conflicts(
    conn: Connection,
    viewer: Viewer,
    *,
    member: str,
    interval: Interval,
    buffer: timedelta = _NO_BUFFER,
    ignore_events: Container[str] = (),
) -> list[Occurrence]:
    """Return what keeps a member busy within a span of time, ordered by start.

    That they are busy is no secret, with what may be: what is private to others comes as `busy.as_busy`.

    Args:
        conn: Open connection.
        viewer: On whose behalf.
        member: Child or adult.
        interval: Span to be free.
        buffer: Time to be kept free before and after, >= 0.
        ignore_events: Ids of events that do not count, such as those being talked about.
    """
    interval = in_utc(interval)
    reach = interval.widened(buffer)
    if not is_covered(conn, viewer.household, reach):
        return [
            each
            for each in expand_all(conn, viewer, reach, ignore_events=ignore_events)
            if member in booked_people(each) and share_time(each.interval, interval, buffer)
        ]
    colliding = [
        row
        for row in _BOOKED.mappings(conn, near_parameters(viewer.household, reach, member))
        if row["event_id"] not in ignore_events
        and share_time(Interval(row["start_at"], row["end_at"]), interval, buffer)
    ]
    found = stored_occurrences(conn, viewer, colliding, with_busy=True)
    return [each for each in found if member in booked_people(each)]
