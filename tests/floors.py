"""Whether a measurement reaches its floors, told with what it reached instead."""

from evals.report import Report


def assert_floors_hold(report: Report) -> None:
    """Fail with each figure below its floor, and where nothing was measured against one."""
    assert report.floors
    assert [
        f"{floor.name}: {floor.value:.3f} < {floor.minimum}"
        for floor in report.floors
        if not floor.holds
    ] == []
