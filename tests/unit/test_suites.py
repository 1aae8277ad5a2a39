"""What can be asked for by name can be measured."""

from evals.__main__ import SUITES
from evals.suites import Suite


def test_every_suite_has_something_to_measure() -> None:
    assert {*SUITES} == {*Suite}
    assert all(SUITES.values())
