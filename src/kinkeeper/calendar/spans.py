"""When two spans of time share time; the one rule that search and conflicts go by."""

from datetime import timedelta

from kinkeeper.core.time import Interval

_NO_BUFFER = timedelta()


def share_time(first: Interval, second: Interval, buffer: timedelta = _NO_BUFFER) -> bool:
    """Whether two spans share time or lie closer together than `buffer`.

    Touching ends do not count. A span without extent shares time with whatever starts at, or is
    going on at, its instant. The order of the two does not matter.

    Args:
        first: One span.
        second: The other.
        buffer: Gap to be kept free between the two, >= 0.
    """
    if first.start == second.start:
        return True
    return first.start < second.end + buffer and second.start < first.end + buffer
