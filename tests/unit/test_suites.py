"""What can be asked for by name can be measured."""

from kinkeeper.cli.measuring import SUITES
from kinkeeper.cli.suites import Suite


def test_every_suite_has_something_to_measure() -> None:
    assert {*SUITES} == {*Suite}
    assert all(SUITES.values())
