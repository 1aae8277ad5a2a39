"""What "undo that" may mean, by what was done before."""

from dataclasses import replace

import pytest

from answered_turns import outcome
from asking import NOW
from kinkeeper.actions.requests.model import ResultStatus
from kinkeeper.conversation.taking_back import failed_last, how_many, wants_undo
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


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("undo the last two", 2), ("undo both of those", 2), ("revert the last three changes", 3),
        ("undo that", 1), ("undo the last one", 1),
    ],
)  # fmt: skip
def test_as_many_are_taken_back_as_are_named(text: str, count: int) -> None:
    assert wants_undo(text)
    assert how_many(text) == count
