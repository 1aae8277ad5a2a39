"""Two processes replay on one file at the same time: one waits for the other, nothing is lost or doubled."""

import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from family_chat import FILES, everything
from family_phrases import chat_lines, write_chat
from kinkeeper.store.store import Store
from warm_start import PROGRAM, Started

pytestmark = [pytest.mark.slow, pytest.mark.crash]

START = "2026-03-02T07:00:00-06:00"
MESSAGES = 80


def replays(database: Path, *chats: Path) -> list[list[str]]:
    """Replay all at the same time; return what each printed."""
    command = [PROGRAM, "observe", "--household", str(FILES["miller"])]
    outputs = [database.with_suffix(f".{number}.out") for number in range(len(chats))]
    with ExitStack() as started:
        running = [
            started.enter_context(
                Started(
                    [*command, "--db", str(database), str(chat)],
                    stdout=started.enter_context(output.open("w")),
                    stderr=subprocess.STDOUT,
                )
            )
            for chat, output in zip(chats, outputs, strict=True)
        ]
        assert [process.wait(timeout=300) for process in running] == [0] * len(chats)
    printed = [output.read_text().splitlines() for output in outputs]
    return [[line for line in lines if line.startswith("{")] for lines in printed]


def state_of(database: Path) -> dict[str, list[Any]]:
    with Store.open(str(database)) as store:
        assert (
            store.read_now(lambda conn: conn.execute(text("PRAGMA integrity_check")).scalar())
            == "ok"
        )
        return store.read_now(everything)


def made(folder: Path, chat_id: str, seed: int) -> Path:
    lines = chat_lines("miller", MESSAGES, seed=seed, start=START, chat_id=chat_id)
    return write_chat(folder / f"{chat_id}.jsonl", lines)


def test_the_same_file_at_the_same_time_is_replayed_once(tmp_path: Path) -> None:
    chat = made(tmp_path, "family", 3)
    [alone] = replays(tmp_path / "alone.sqlite", chat)
    together = replays(tmp_path / "both.sqlite", chat, chat)
    assert state_of(tmp_path / "both.sqlite") == state_of(tmp_path / "alone.sqlite")
    own = [[line for line in printed if '"event"' not in line] for printed in (alone, *together)]
    assert own[0] in own[1:]
    assert [len(lines) for lines in own] == [MESSAGES] * 3


@pytest.mark.nightly
def test_two_files_at_the_same_time_end_as_one_after_the_other(tmp_path: Path) -> None:
    chats = [made(tmp_path, "family", 4), made(tmp_path, "grandparents", 5)]
    replays(tmp_path / "together.sqlite", *chats)
    found = state_of(tmp_path / "together.sqlite")
    in_order = []
    for number, order in enumerate([chats, chats[::-1]]):
        for chat in order:
            replays(tmp_path / f"order{number}.sqlite", chat)
        in_order.append(state_of(tmp_path / f"order{number}.sqlite"))
    assert len(found["messages"]) == 2 * MESSAGES
    assert _said(found) in [_said(state) for state in in_order]


def _said(state: dict[str, Any]) -> dict[str, Any]:
    """Without how far the calendar is expanded: whoever opens the file first decides that, before its turn."""
    expanded = {"calendar_horizons", "occurrences", "occurrence_people"}
    return {table: rows for table, rows in state.items() if table not in expanded}
