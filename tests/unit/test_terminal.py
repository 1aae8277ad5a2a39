"""What is written on a terminal never commands it."""

import json

import pytest

from kinkeeper.cli.terminal import answer, answer_json, notice
from kinkeeper.conversation.model import EventName, TurnEvent

HOSTILE = "Din\x1b[2J\x1b]0;owned\x07ner\u202e\x9b31m\tat 7\nHall"


def is_harmless(text: str) -> bool:
    return not {"\x1b", "\x07", "\x9b", "\u202e"} & {*text}


def test_lines_are_stripped_of_what_moves_the_cursor_or_reorders(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer(HOSTILE)
    notice(HOSTILE)
    written = capsys.readouterr()
    assert is_harmless(written.out)
    assert is_harmless(written.err)
    assert "\tat 7\nHall" in written.out


def test_json_keeps_the_words_and_spells_commands_out(capsys: pytest.CaptureFixture[str]) -> None:
    answer_json({"title": HOSTILE})
    written = capsys.readouterr().out
    assert json.loads(written) == {"title": HOSTILE}
    assert not {"\x1b", "\x07", "\x9b"} & {*written}


def test_an_answer_that_comes_in_pieces_is_stripped_too(capsys: pytest.CaptureFixture[str]) -> None:
    from kinkeeper.cli.chat import Screen  # noqa: PLC0415 - loads the program

    screen = Screen()
    for number, (name, data) in enumerate(
        [
            (EventName.CARD, {"title": HOSTILE, "items": [{"text": HOSTILE}]}),
            (EventName.TOKEN, {"text": HOSTILE}),
            (EventName.DONE, {"text": f"{HOSTILE} and {HOSTILE}"}),
        ]
    ):
        screen.show(TurnEvent(number=number, turn_id="t", name=name, data=data))
    written = capsys.readouterr().out
    assert is_harmless(written)
    assert written.count("ner") == 4
