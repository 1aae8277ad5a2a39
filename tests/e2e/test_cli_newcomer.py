"""What somebody sees who has just installed it: demo, first files, check-up, explanations, figures."""

import json
import os
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

from cli_program import MILLER, Program
from kinkeeper.store.sqlite_library import sqlite

pytestmark = pytest.mark.slow

LONGEST_DEMO_SECONDS = 20


@pytest.fixture
def replayed(program: Program) -> Program:
    assert program.run("observe", str(MILLER / "chat.jsonl")).code == 0
    return program


def test_the_demo_is_quick_speaks_little_and_leaves_nothing(program: Program) -> None:
    before = os.times()
    ran = program.cold("demo", "--json")
    after = os.times()
    # Of the processor's time: how long others keep it is no matter of the demo's.
    assert after.children_user - before.children_user < LONGEST_DEMO_SECONDS
    assert ran.code == 0, ran.err
    spoken = Counter(line["redline_trigger_rule"] for line in ran.lines if line["reply"])
    assert set(spoken) == {"temporal_conflict", "resource_conflict", "missing_variable"}
    assert spoken.total() <= 4
    assert Counter(line["tier1_decision"] for line in ran.lines)["DROP"] >= 10
    assert list(program.home.iterdir()) == []


def test_the_demo_is_a_table_for_people(program: Program) -> None:
    shown = program.bare("demo").out
    for words in ("SPEAK", "SILENT", "DROP", "Sarah", "[Dentist]", "Each day in brief"):
        assert words in shown


def test_the_demo_does_not_depend_on_settings_around_it(program: Program) -> None:
    (program.home / ".env").write_text("TRIPWIRE_THRESHOLD=0.99\nENV=elsewhere\n")
    assert program.bare("demo", "--json").code == 0


def test_the_sample_chat_is_in_order_and_its_edit_and_reaction_point_somewhere() -> None:
    rows = [json.loads(line) for line in (MILLER / "chat.jsonl").read_text().splitlines()]
    times = [datetime.fromisoformat(row["sent_at"]) for row in rows]
    assert times == sorted(times)
    assert times[0].strftime("%A") == "Monday"
    ids = [row["message_id"] for row in rows]
    assert len(set(ids)) == len(ids)
    assert all(row["target"] in ids for row in rows if "target" in row)


def test_first_files_load_and_are_never_replaced_unasked(program: Program) -> None:
    made = program.bare("init", "family", "--yes")
    assert made.code == 0, made.err
    files = [program.home / "family" / name for name in ("household.toml", ".env")]
    assert all(file.stat().st_mode & 0o077 == 0 for file in files)
    files[0].write_text(files[0].read_text() + "# mine\n")
    refused = program.bare("init", "family", "--yes")
    assert refused.code == 1
    assert "--force" in refused.err
    assert files[0].read_text().endswith("# mine\n")
    assert program.bare("init", "family", "--yes", "--force").code == 0
    assert not files[0].read_text().endswith("# mine\n")
    assert program.bare("doctor", "--household", str(files[0]), "--json").code == 0


def test_a_folder_of_household_files_is_checked_whole(program: Program) -> None:
    program.bare("init", "homes", "--yes")
    (program.home / ".env").write_text("FAMILY_CONTEXT=homes")
    assert program.bare("pending").code == 0
    second = (program.home / "homes" / "household.toml").read_text()
    (program.home / "homes" / "second.toml").write_text(second)
    ran = program.bare("doctor", "--json")
    assert ran.code == 1
    assert "already used" in next(
        check["found"] for check in ran.value["checks"] if check["health"] == "broken"
    )
    other = (MILLER / "household.toml").read_text()
    (program.home / "homes" / "second.toml").write_text(other)
    checks = program.bare("doctor", "--json").value["checks"]
    assert "2 households" in next(
        check["found"] for check in checks if check["check"] == "household file"
    )
    refused = program.bare("pending")
    assert refused.code == 2
    assert "specify one of its files" in refused.err


def test_the_first_settings_change_nothing(program: Program) -> None:
    program.bare("init", ".", "--yes")
    settings = program.bare("doctor", "--json").value["settings"]
    assert settings.pop("family_context") == "household.toml"
    (program.home / ".env").unlink()
    plain = program.bare("doctor", "--json").value["settings"]
    plain.pop("family_context")
    assert settings == plain


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        (".env", "TRIPWIRE_TRESHOLD=0.5", "TRIPWIRE_THRESHOLD"),
        (".env", "TRIPWIRE_THRESHOLD=high", "TRIPWIRE_THRESHOLD"),
        ("household.toml", "[household]\nid = 5", "household.toml:2"),
    ],
)
def test_the_doctor_names_what_is_wrong(
    program: Program, file: str, text: str, expected: str
) -> None:
    program.bare("init", ".", "--yes")
    (program.home / file).write_text(text)
    ran = program.bare("doctor", "--json")
    assert ran.code == 1
    broken = [check for check in ran.value["checks"] if check["health"] == "broken"]
    assert expected in broken[0]["found"]
    assert broken[0]["remedy"]
    assert program.bare("observe", "/dev/null").code == 2


def test_the_doctor_makes_no_database(program: Program) -> None:
    assert program.run("doctor").code == 0
    assert not program.database.exists()


def test_the_doctor_tells_of_a_newer_database_and_a_readable_one(replayed: Program) -> None:
    with sqlite.connect(replayed.database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    replayed.database.chmod(0o644)
    ran = replayed.run("doctor", "--json")
    health = {check["check"]: check["health"] for check in ran.value["checks"]}
    assert ran.code == 1
    assert health["database"] == "broken"
    assert health["data folder"] == "warning"
    refused = replayed.run("pending")
    assert refused.code == 1
    assert "newer" in refused.err


def test_why_tells_every_step_and_where_it_stopped(replayed: Program) -> None:
    spoken = replayed.run("why", "m03").out
    assert "Sounds like a plan" in spoken
    assert "Spoke because two plans clash" in spoken
    dropped = replayed.run("why", "m02", "--json").value
    assert dropped["steps"][-1]["mark"] == "stopped"
    assert dropped["gates"][0]["passed"] is False
    answered = replayed.run("why", "m08", "--json").value
    assert "Answers message m07" in " ".join(step["text"] for step in answered["steps"])
    several = replayed.run("why", "m")
    assert several.code == 2
    assert "m01" in several.err
    assert replayed.run("why", "nowhere").code == 1


def test_figures_agree_with_what_was_answered(replayed: Program) -> None:
    lines = replayed.run("observe", str(MILLER / "chat.jsonl")).lines
    found = replayed.run("metrics", "--json").value
    assert sum(day["messages"] for day in found["days"]) == len(lines)
    assert sum(day["spoken"] for day in found["days"]) == sum(found["spoken_by_rule"].values())
    gate = next(gate for gate in found["gates"] if gate["stage"] == "tripwire")
    assert gate["passed"] + gate["failed"] == len(lines)
    dropped = {line["message_id"] for line in lines if line["tier1_decision"] == "DROP"}
    misses = [miss for day in found["days"] for miss in day["near_misses"]]
    assert {miss["message_id"] for miss in misses} <= dropped
    assert found["confirmed_share"] is None
    assert "Messages by day" in replayed.run("metrics").out


def test_times_are_read_from_words_and_files(program: Program) -> None:
    words = ("when", "tomorrow", "at", "3", "--reference", "2026-03-04T10:00", "--json")
    (span,) = program.bare(*words, "--tz", "America/Chicago").value["spans"]
    assert span["start"] == "2026-03-05T15:00:00-06:00"
    rows = [
        {"text": "Friday", "reference": "2026-03-04T10:00:00", "tz": "Europe/London"},
        {"text": "Friday", "reference": "2026-02-30T10:00:00"},
        {"text": "Friday", "reference": "2026-03-04T10:00:00", "tz": "Mars/Base"},
        {"text": "no time here", "reference": "2026-03-04T10:00:00"},
    ]
    stream = "".join(json.dumps(row) + "\n" for row in rows).encode()
    ran = program.bare("when", "--file", "-", stdin=stream)
    assert ran.code == 2
    friday, impossible, nowhere, nothing = ran.lines
    assert friday["spans"][0]["start"] == "2026-03-06T00:00:00+00:00"
    assert (impossible["line"], nowhere["line"]) == (2, 3)
    assert nothing == {"text": "no time here", "spans": []}
    assert program.bare("when").code == 2


def test_a_backup_is_a_database_of_its_own(replayed: Program, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    assert replayed.run("backup", str(copy)).code == 0
    assert copy.stat().st_mode & 0o077 == 0
    household = ("--household", str(MILLER / "household.toml"))
    ids = [
        [each["id"] for each in replayed.bare("pending", "--json", *household, "--db", db).value]
        for db in (str(copy), str(replayed.database))
    ]
    assert ids[0] == ids[1]
    assert ids[0]
    assert replayed.run("backup", str(copy)).code == 1
