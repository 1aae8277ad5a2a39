"""The waiting times between tries, and when a person must look."""

from datetime import timedelta

import pytest

from kinkeeper.jobs.leases import RetryLadder


def test_three_retries_for_failures_then_a_person() -> None:
    waits = [RetryLadder().delay_after(failures=n, begun=n) for n in range(1, 5)]
    assert waits == [timedelta(seconds=30), timedelta(seconds=120), timedelta(seconds=300), None]


@pytest.mark.parametrize(("crashes", "retries"), [(0, 3), (1, 3), (2, 2), (3, 1), (4, 0), (9, 0)])
def test_five_attempts_in_all_when_crashes_are_counted(crashes: int, retries: int) -> None:
    ladder = RetryLadder()
    granted = 0
    while ladder.delay_after(failures=granted + 1, begun=crashes + granted + 1) is not None:
        granted += 1
    assert granted == retries
