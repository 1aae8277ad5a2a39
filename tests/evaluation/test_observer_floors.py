"""What the observer reaches on its episodes and on public data does not drop below its floors."""

from pathlib import Path

import pytest

from evals.chatter import household_talk, sample, text_messages
from evals.observer import FLOORS, measure_public, measure_shipped
from evals.report import Report
from floors import assert_floors_hold
from public_data import public_data

ROOT = Path(__file__).parents[2]
DATA = public_data()

PUBLIC = (
    "sms_real_dev.jsonl",
    "cabnc_home_conversations_dev.jsonl",
    "coordination_real_dev.jsonl",
    "irc_reply_attribution_dev.jsonl",
)

pytestmark = [pytest.mark.evaluation, pytest.mark.slow, pytest.mark.nightly]


def missing() -> list[str]:
    return [name for name in PUBLIC if not (DATA / name).exists()]


needs_public_data = pytest.mark.skipif(
    bool(missing()),
    reason=f"NOT MEASURED: {DATA} lacks {missing()}; set KINKEEPER_DATA to the folder with them",
)


@pytest.fixture(scope="module")
def shipped() -> Report:
    return measure_shipped(ROOT)


def held(report: Report) -> set[str]:
    assert_floors_hold(report)
    return {floor.name for floor in report.floors}


def test_episodes_and_our_own_chats_reach_their_floors(shipped: Report) -> None:
    assert held(shipped) == {
        name for name in FLOORS if name.startswith(("episodes", "our own", "whole chats"))
    }


def test_held_out_texts_are_never_shown(shipped: Report) -> None:
    shown = "\n".join(shipped.worst)
    assert "dev-" in shown
    assert "heldout" not in shown


@needs_public_data
def test_ordinary_talk_and_real_messages_reach_their_floors() -> None:
    assert held(measure_public(DATA, root=ROOT))


@needs_public_data
def test_the_sample_is_the_same_every_time() -> None:
    for read, name in ((text_messages, PUBLIC[0]), (household_talk, PUBLIC[1])):
        first, again = (sample(read(DATA / name), 500) for _ in range(2))
        assert first == again
        assert sum(len(conversation.turns) for conversation in first) == 500
