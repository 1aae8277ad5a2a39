"""Labelled chats: read from text, and judged card by card."""

from pathlib import Path

import pytest

from evals.chat_file import load_chat
from evals.chat_scoring import ChatScore
from kinkeeper.core.errors import InputError
from kinkeeper.core.messages import MessageKind

ROOT = Path(__file__).parents[2]
HEAD = "household examples/miller/household.toml\n\n== 2026-03-02 Mon\n"
ASKED = (
    "09:00 sarah #a: who gets Leo\n  > card kind=care child=leo day=03-02 activity=soccer who=\n"
)
CARD = {
    "type": "care_assignment",
    "assigned_to": ["unspecified"],
    "child": ["leo"],
    "activity": "soccer",
    "dates": ["2026-03-02"],
    "times": [],
}


def chat_of(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "t.chat"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def test_messages_point_at_earlier_ones(tmp_path: Path) -> None:
    text = ASKED + "09:05 john react #a: 👍\n  > to #a\n09:06 sarah edit #a: who gets Mia\n"
    asked, thumb, edit = load_chat(chat_of(tmp_path, text), ROOT).messages
    assert (thumb.message.kind, thumb.message.target) == (MessageKind.REACTION, "t-1")
    assert (edit.message.kind, thumb.source) == (MessageKind.EDIT, asked.message.message_id)


@pytest.mark.parametrize(
    "wrong", ["== 2026-03-03 Mon\n", "no message\n", "09:00 sarah react #b: x\n"]
)
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(InputError, match=r"t\.chat:4"):
        load_chat(chat_of(tmp_path, wrong), ROOT)


def test_a_card_counts_with_each_value_that_is_labelled(tmp_path: Path) -> None:
    wanted = load_chat(chat_of(tmp_path, ASKED), ROOT).messages[0]
    score = ChatScore()
    score.judge_message(wanted, {}, cards=[{**CARD, "child": ["mia"]}], standing=[])
    assert (score.kept, score.lost, score.needless) == (1, 0, 0)
    assert score.slots["child", "wrong"] == 1
    assert score.slots["assigned_to", "right"] == 1


def test_a_card_that_stands_already_was_kept_and_one_that_nobody_wants_is_needless(
    tmp_path: Path,
) -> None:
    asked, idle = load_chat(chat_of(tmp_path, ASKED + "09:01 john: lol\n"), ROOT).messages
    score = ChatScore()
    score.judge_message(asked, {}, cards=[], standing=[CARD])
    score.judge_message(idle, {}, cards=[CARD], standing=[CARD])
    assert (score.kept, score.lost, score.needless) == (1, 0, 1)


def test_what_is_said_aloud_must_be_wanted(tmp_path: Path) -> None:
    text = ASKED + "  > speaks missing_variable later\n09:01 john: lol\n"
    messages = load_chat(chat_of(tmp_path, text), ROOT).messages
    said = {"redline_decision": "SPEAK", "redline_trigger_rule": "missing_variable", "reply": "❓"}
    score = ChatScore()
    score.judge_speech(
        messages,
        [{**said, "message_id": "t-1", "event": "deferred"}, {**said, "message_id": "t-2"}],
    )
    assert (score.spoken, score.unspoken, score.false) == (1, 0, 1)


def test_every_chat_of_the_repository_can_be_read() -> None:
    chats = [load_chat(path, ROOT) for path in sorted((ROOT / "evals/data/chats").rglob("*.chat"))]
    assert len(chats) >= 10
    assert all(len(chat.messages) > 60 for chat in chats)
