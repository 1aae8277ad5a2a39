"""`kinkeeper observe` takes whatever a chat file holds, and answers line by line."""

import json
import sqlite3
from pathlib import Path

import pytest

from cli_program import MILLER, Program, message
from kinkeeper.store.locks import runner_lock

pytestmark = pytest.mark.slow

MONDAY = "2026-03-02T{}:00"
QUESTION = message(1, "sarah", "Who's getting Leo from soccer tomorrow?", MONDAY.format("18:00"))


def line(**changes: object) -> bytes:
    record = message(99, "john", "hello there", MONDAY.format("12:00")) | changes
    kept = {name: value for name, value in record.items() if value != "absent"}
    return json.dumps(kept).encode()


BAD_LINES = {
    b"{not json": "not JSON",
    b"[1, 2]": "not a JSON object",
    b'"text"': "not a JSON object",
    b"[" * 200_000: "nested too deeply",
    b'{"text": "\xff\xfe"}': "not UTF-8",
    line(chat_id="absent"): '"chat_id" is missing',
    line(message_id=None): '"message_id" is missing',
    line(sender=""): '"sender" is empty',
    line(sender=" "): '"sender" is empty',
    line(message_id=True): "true or false",
    line(message_id=1.5): "a number",
    line(message_id="x" * 129): "longer than 128",
    line(sender="\ud800"): "unpaired surrogate",
    line(text="absent"): '"text" is missing',
    line(text=5): '"text" must be text',
    line(sent_at="absent"): '"sent_at" is missing',
    line(sent_at="2026-02-30T10:00:00"): "which is not a real date and time",
    line(sent_at="2026-03-02T25:00:00"): "which is not a real date and time",
    line(sent_at="yesterday"): "which is not a real date and time",
    line(sent_at="2026-03-02"): "time of day is missing",
    line(sent_at="0001-01-01T00:00:00"): "year 1",
    line(sent_at=1772640000): '"sent_at" must be text',
    line(kind="poke"): "\"kind\" is 'poke'",
    line(kind="reaction"): '"target" is missing',
    line(kind="edit", target=None): '"target" is missing',
    line(target=[]): "a list",
}


def test_bad_lines_are_named_in_their_place_and_good_ones_done(program: Program) -> None:
    good = line(message_id="first"), line(message_id="last", text="bye")
    ran = program.run("observe", "-", stdin=b"\n".join([good[0], *BAD_LINES, good[1]]))
    assert ran.code == 2
    answers = ran.lines
    assert answers[0]["message_id"] == "first"
    assert answers[-1]["message_id"] == "last"
    for number, (answer, expected) in enumerate(
        zip(answers[1:-1], BAD_LINES.values(), strict=True), start=2
    ):
        assert answer.keys() == {"line", "error"}
        assert answer["line"] == number
        assert expected in answer["error"]


def test_odd_texts_and_lines_are_taken(program: Program) -> None:
    texts = [
        "",
        " ",
        "x" * 100_000,
        "\u202eright to left\u202c שלום",
        "zero\u200bwidth\u200d\ufeff",
        "half \ud83d a character",
        "nul \x00 character",
        "é" * 3,
        "👨‍👩‍👧‍👦",
        "[bold]not markup[/bold]",
    ]
    rows = [line(message_id=number, text=text) for number, text in enumerate(texts)]
    stream = b"\xef\xbb\xbf" + b"\r\n\r\n  \n".join(rows)
    ran = program.run("observe", "-", stdin=stream)
    assert ran.code == 0, ran.err
    assert [answer["message_id"] for answer in ran.lines] == [str(n) for n in range(len(texts))]


def test_a_guest_is_taken_in_with_a_warning(program: Program) -> None:
    rows = [
        message(1, "Dad", "hi", MONDAY.format("10:00")),
        message(2, "Zoe", "hi", MONDAY.format("10:01")),
        message(3, "1002", "hi", MONDAY.format("10:02")),
    ]
    ran = program.observe(rows)
    assert ran.code == 0
    assert ["warning" in answer for answer in ran.lines] == [False, True, False]
    assert "line 2" in ran.err


def test_a_time_without_offset_is_the_households(program: Program) -> None:
    local = message(1, "sarah", "Leo has the dentist tomorrow at 4pm", "2026-03-02T23:30:00")
    utc = message(2, "sarah", "Mia has the dentist tomorrow at 4pm", "2026-03-03T05:31:00Z")
    answers = program.observe([local, utc]).lines
    assert [answer["extraction"]["dates"] for answer in answers] == [["2026-03-03"]] * 2


def test_an_order_that_is_not_times_order_is_taken(program: Program) -> None:
    rows = [
        message(1, "john", "hi", "2031-03-03T10:00:00"),
        message(2, "john", "ho", "2026-03-02T10:00:00"),
    ]
    ran = program.observe(rows)
    assert ran.code == 0
    assert len(ran.lines) == 2


def test_a_question_nobody_answers_is_asked_only_when_its_time_comes(program: Program) -> None:
    assert [answer["reason"] for answer in program.observe([QUESTION]).lines] == ["grace"]
    later = program.run("observe", "/dev/null", "--until", "2026-03-02T18:30")
    assert [answer["event"] for answer in later.lines] == ["deferred"]
    assert later.lines[0]["redline_decision"] == "SPEAK"
    assert later.lines[0]["buttons"] == ["John", "Sarah"]


def test_the_same_chat_again_says_the_same_and_adds_nothing(program: Program) -> None:
    rows = [QUESTION, message(2, "john", "me", MONDAY.format("18:05"))]
    first, second = program.observe(rows).lines, program.observe(rows).lines
    # Only where a proposal stands may have moved on since.
    same = ("message_id", "tier1_decision", "extraction", "attribution_source", "redline_decision")
    for name in same:
        assert [answer[name] for answer in first] == [answer[name] for answer in second]
    ids = [[answer["action"]["id"] for answer in answers] for answers in (first, second)]
    assert ids[0] == ids[1]
    assert len(program.run("pending", "--json").value) == 1


def test_an_id_taken_by_another_text_is_an_error_of_its_line(program: Program) -> None:
    ran = program.observe([QUESTION, QUESTION | {"text": "something else"}])
    assert ran.code == 2
    assert "already stored" in ran.lines[1]["error"]


def test_answers_come_before_the_input_ends(program: Program) -> None:
    with program.start("observe", "-") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in (1, 2):
            row = message(number, "john", "hi", MONDAY.format(f"10:0{number}"))
            process.stdin.write(json.dumps(row).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["message_id"] == f"m{number}"
        process.stdin.close()
        assert process.wait(60) == 0


def test_a_reader_that_goes_away_ends_it_quietly(program: Program, tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_bytes(b"\n".join(line(message_id=number) for number in range(300)))
    with program.start("observe", str(chat)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(60)


def test_two_at_once_take_turns(program: Program) -> None:
    assert program.observe([QUESTION]).code == 0
    with runner_lock(str(program.database)):
        process = program.start("observe", str(MILLER / "chat.jsonl"))
        assert process.stderr is not None
        waiting = process.stderr.readline().decode()
    out, err = process.communicate(timeout=120)
    assert "waiting for process" in waiting
    assert process.returncode == 0, err
    assert len(out.splitlines()) >= 27


def test_an_export_of_telegram_is_recognised(program: Program, tmp_path: Path) -> None:
    export = {
        "name": "Family",
        "type": "private_group",
        "id": 4242,
        "messages": [
            {"id": 1, "type": "service", "date": "2026-03-02T10:00:00", "action": "create_group"},
            {
                "id": 2,
                "type": "message",
                "date": "2026-03-02T18:00:00",
                "date_unixtime": "1772496000",
                "from": "S. M.",
                "from_id": "user1002",
                "text": ["Can you get ", {"type": "bold", "text": "Mia"}, " tomorrow at 5?"],
                "reactions": [
                    {
                        "type": "emoji",
                        "count": 1,
                        "emoji": "👍",
                        "recent": [
                            {"from": "J.", "from_id": "user1001", "date": "2026-03-02T18:02:00"}
                        ],
                    }
                ],
            },
        ],
    }
    file = tmp_path / "result.json"
    file.write_text(json.dumps(export, indent=1), encoding="utf-8")
    ran = program.run("observe", str(file))
    assert ran.code == 0, ran.err
    asked, taken = ran.lines
    assert asked["extraction"]["child"] == ["mia"]
    assert taken["attribution_source"] == "2"
    assert taken["extraction"]["assigned_to"] == ["john"]


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (("observe", "/no/such/file"), 2, "cannot read"),
        (("observe", "/"), 2, "directory"),
        (("observe", "/dev/null", "--until", "soon"), 2, "not a time"),
        (("observe", "/dev/null", "--household", "/no/such.toml"), 2, "no/such.toml"),
        (("observe", "/dev/null", "--db", "mysql://x"), 2, "cannot be used"),
        (("observe", "/dev/null", "--db", "/proc/no/x.sqlite"), 1, "cannot create"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(
    program: Program, words: tuple[str, ...], code: int, expected: str
) -> None:
    where = program.where() if "--household" not in words else []
    ran = program.bare(*where, *words)
    assert ran.code == code
    assert expected in ran.err
    assert ran.out == ""


def test_without_a_household_it_says_how_to_make_one(program: Program) -> None:
    ran = program.bare("observe", "/dev/null")
    assert ran.code == 2
    assert "kinkeeper init" in ran.err


def data_files(program: Program, *words: str) -> list[str]:
    """Return the databases that a command leaves in its data folder."""
    household = ["--household", str(MILLER / "household.toml")]
    settings = {"XDG_DATA_HOME": str(program.home / "data")}
    ran = program.bare(*words, *household, settings=settings)
    assert ran.code == 0, ran.err
    return sorted(path.name for path in (program.home / "data").rglob("*.sqlite"))


def test_the_default_database_lies_in_the_data_folder(program: Program) -> None:
    assert data_files(program, "events", "--env", "staging") == ["staging.sqlite"]


def test_a_replay_leaves_the_household_s_database_alone(program: Program) -> None:
    assert data_files(program, "observe", str(MILLER / "chat.jsonl")) == []


def test_a_replay_can_be_kept_in_a_database_that_is_named(program: Program) -> None:
    trial = program.home / "trial.sqlite"
    household = ["--household", str(MILLER / "household.toml")]
    chat = str(MILLER / "chat.jsonl")
    ran = program.bare("observe", chat, "--into", str(trial), *household)
    assert ran.code == 0
    assert str(trial) in ran.err
    shown = program.bare("pending", "--json", "--db", str(trial), *household)
    assert len(shown.value) > 0


def test_a_replay_is_not_mixed_into_live_use_unasked(program: Program) -> None:
    line = json.dumps(
        message(1, "sarah", "Leo has the dentist Thursday at 4pm", "2026-03-02T08:05")
    )
    assert program.run("observe", "-", "--enqueue", stdin=line.encode()).code == 0
    # The same file arrives by a live channel.
    live = sqlite3.connect(program.database)
    with live:
        live.execute("UPDATE messages SET channel = 'telegram'")
    live.close()
    refused = program.run("observe", "-", stdin=line.encode())
    assert refused.code == 1
    assert "--into" in refused.err
    meant = program.run("observe", "-", "--into", str(program.database), stdin=line.encode())
    assert meant.code == 0
