"""`observe --enqueue`: many messages at once, in their order, and once however often the same file is given."""

from pathlib import Path

import pytest

from cli_program import Program, message
from kinkeeper.cli import input as cli_input
from kinkeeper.core.errors import InputError

COUNT = 300  # more than are made durable together


def test_a_chat_is_taken_in_in_order_and_once_and_a_guest_is_told_of_once(tmp_path: Path) -> None:
    program = Program(tmp_path)
    rows = [
        message(
            number,
            "Postman Pat" if number % 2 else "sarah",
            f"parcel {number}",
            f"2026-03-02T{8 + number // 60:02}:{number % 60:02}:00",
        )
        for number in range(COUNT)
    ]
    first = program.observe(rows, "--enqueue")
    assert [line["message_id"] for line in first.lines] == [each["message_id"] for each in rows]
    assert first.err.count("Postman Pat") == 1
    assert f"{COUNT} messages stored" in first.err
    again = program.observe(rows, "--enqueue")
    assert again.lines == first.lines


def test_a_line_that_does_not_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_input, "LONGEST_DOCUMENT", 1 << 20)
    file = tmp_path / "chat.jsonl"
    file.write_bytes(b"{}\n" + b"x" * (3 << 20))
    with cli_input.lines_of(file) as lines:
        found = iter(lines)
        assert next(found) == b"{}\n"
        with pytest.raises(InputError, match="line 2"):
            next(found)
