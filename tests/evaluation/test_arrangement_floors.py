"""What the state machine makes of the writers' labels must not drop, on writers it was written with and on those it was not."""

from pathlib import Path

import pytest

from evals import arrangements
from floors import assert_floors_hold


@pytest.mark.evaluation
def test_the_state_machine_reaches_its_floors() -> None:
    columns = {"labels": arrangements.labelled_frames}
    assert_floors_hold(arrangements.measure(root=Path(__file__).parents[2], frames=columns))
