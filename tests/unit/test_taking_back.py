"""What "undo that" may mean, by what was done before."""

from dataclasses import replace

import pytest

from answered_turns import outcome
from asking import NOW
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.conversation.taking_back import failed_last
from kinkeeper.conversation.turn import Turn
from kinkeeper.jobs.leases import WorkState

TURN = Turn(
    household="h", id="t", thread_id="th", member="ruth", channel="web", text="x", received_at=NOW,
    state=WorkState.DONE, epoch=1,
)  # fmt: skip


@pytest.mark.parametrize("status", [ResultStatus.FAILED, ResultStatus.UNCLEAR])
def test_after_what_failed_it_would_mean_something_older(status: ResultStatus) -> None:
    made = replace(TURN, results=(outcome("task.create"),))
    failed = replace(TURN, results=(outcome("notes.remove_line", status),))

    assert failed_last([made, failed])
    assert not failed_last([failed, made])


def test_after_talk_it_means_what_was_done_before_it() -> None:
    assert not failed_last([replace(TURN, results=(outcome("task.create"),)), TURN])
    assert not failed_last([])
