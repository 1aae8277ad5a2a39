"""`kinkeeper route`: a line out for each line in, without a household, bad ones told in their place."""

import json
from pathlib import Path
from typing import Any

from cli_program import Program

FIELDS = {
    "id",
    "type",
    "is_followup",
    "domains",
    "branch",
    "social",
    "mode",
    "confirmation",
    "source",
    "ms",
}


def routed(program: Program, *lines: dict[str, Any] | str) -> tuple[int, list[dict[str, Any]], str]:
    source: Path = program.home / "messages.jsonl"
    written = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    source.write_text("".join(f"{line}\n" for line in written), encoding="utf-8")
    ran = program.bare("route", str(source), settings={"EMBEDDER": "hashing"})
    return ran.code, ran.lines, ran.err


def test_messages_are_routed_in_their_order(program: Program) -> None:
    before = [
        {"role": "user", "text": "what's on my calendar on Thursday"},
        {"role": "assistant", "text": "Nothing."},
    ]
    code, out, told = routed(
        program,
        {"id": "a", "text": "remind me to call grandma tomorrow at 5pm"},
        {"id": "b", "text": "thanks!"},
        {"id": "c", "text": "and Friday?", "history": before},
        {
            "id": "d",
            "text": "yes but send it to Anna",
            "pending": {"confirmation_message": "Send?"},
        },
        {"id": "e", "text": "what a long day"},
        {"id": "f", "text": ""},
    )

    assert code == 0
    assert [each["id"] for each in out] == ["a", "b", "c", "d", "e", "f"]
    assert all(set(each) >= FIELDS for each in out)
    assert [each["domains"] for each in out] == [["task"], [], ["calendar"], [], [], []]
    assert [each["branch"] for each in out] == ["act", "social", "act", "act", "respond", "social"]
    assert [each["social"] for each in out] == [None, "ACKNOWLEDGE", None, None, None, "IGNORE"]
    assert [each["type"] for each in out[:3]] == ["action", "chat", "followup"]
    assert out[3]["confirmation"] == "edit"
    assert "messages routed" in told


def test_bad_lines_do_not_stop_the_good_ones(program: Program) -> None:
    code, out, _ = routed(
        program,
        "no json",
        {"id": "a"},
        {"id": "b", "text": "hi", "history": "none"},
        {"id": "c", "text": "hi", "pending": 3},
        {"id": "d", "text": "hi"},
    )

    assert code == 2
    assert [each.get("line") for each in out] == [1, 2, 3, 4, None]
    assert "history" in out[2]["error"]
    assert out[4]["social"] == "ACKNOWLEDGE"
