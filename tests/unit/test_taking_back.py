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
    household="h",
    id="t",
    thread_id="th",
    member="ruth",
    channel="web",
    text="x",
    received_at=NOW,
    state=WorkState.DONE,
    epoch=1,
)


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
        ("undo the last two", 2),
        ("undo both of those", 2),
        ("revert the last three changes", 3),
        ("undo that", 1),
        ("undo the last one", 1),
    ],
)
def test_as_many_are_taken_back_as_are_named(text: str, count: int) -> None:
    assert wants_undo(text)
    assert how_many(text) == count


def called_off(title: str) -> Turn:
    done = outcome("calendar.delete_event")
    return replace(TURN, results=(replace(done, result={"title": title}),))


@pytest.mark.parametrize("text", ["it's on after all", "false alarm, swimming is back on"])
def test_news_that_it_takes_place_takes_the_calling_off_back(text: str) -> None:
    assert wants_undo(text, [called_off("Swimming")])


@pytest.mark.parametrize("text", ["he's on", "all is happening", "they're on now", "judo is on"])
def test_news_of_anything_else_takes_nothing_back(text: str) -> None:
    assert not wants_undo(text, [called_off("Swimming")])


def test_it_is_what_was_called_off_only_right_after() -> None:
    talk = replace(TURN, text="is the oven still on?")

    assert not wants_undo("it's on", [called_off("Swimming"), talk])
    assert wants_undo("swimming is on", [called_off("Swimming"), talk])
