"""The conflict benchmark compares two searches that find the same."""

from bench.suites import calendar as benchmark
from kinkeeper.household.viewers import Viewer


def test_table_and_bisection_find_the_same_bookings():
    size = 60
    with benchmark._filled_database(size) as conn:
        in_memory = benchmark._Bisect(conn)
        total = 0
        for number in range(150):
            person, span = benchmark._question(number, size)
            found = benchmark.find_conflicts(
                conn, Viewer.whole("bench"), member=person, interval=span
            )
            spans = [(each.interval.start, each.interval.end) for each in found]
            assert spans == in_memory.find(person, span)
            total += len(found)
    assert total > 0


def test_every_size_and_the_limit_are_reported():
    small, limit = benchmark.measure((30,))
    assert small.ratio is not None
    assert small.ratio > 1
    assert limit.peer == "-"
    assert limit.target == 2000
