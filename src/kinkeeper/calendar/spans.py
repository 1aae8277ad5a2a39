"""When two spans of time share time; the one rule that search and conflicts go by."""

from datetime import timedelta

from kinkeeper.core.time import Interval, as_utc

_NO_BUFFER = timedelta()


def in_utc(span: Interval) -> Interval:
    """Return the same span in UTC, where adding and comparing mean what they say.

    Between wall times of one zone, Python reckons as if its clocks never changed.
    """
    return Interval(as_utc(span.start), as_utc(span.end))


def share_time(first: Interval, second: Interval, buffer: timedelta = _NO_BUFFER) -> bool:
    """Whether two spans share time or lie closer together than `buffer`.

    Touching ends do not count. A span without extent shares time with whatever starts at, or is
    going on at, its instant. The order of the two does not matter.

    Args:
        first: One span, in UTC.
        second: The other, in UTC.
        buffer: Gap to be kept free between the two, >= 0.
    """
    if first.start == second.start:
        return True
    return first.start < second.end + buffer and second.start < first.end + buffer
