"""`kinkeeper restore` and what the doctor says of backups, as people run them."""

import re
from pathlib import Path

import pytest

from cli_program import Program, message
from kinkeeper.store import migrations
from kinkeeper.store.nightly_backups import set_aside
from warm_process import FROZEN_NOW

pytestmark = pytest.mark.slow


def table_names() -> list[str]:
    """Return the names of the program's tables, as its migrations make them."""
    written = Path(migrations.__file__).parent.glob("versions/*.py")
    return re.findall(r'create_table\(\s*"(\w+)"', "\n".join(each.read_text() for each in written))


@pytest.fixture
def saved(program: Program, tmp_path: Path) -> Path:
    copy = tmp_path / "copy.sqlite"
    assert program.observe([message(1, "sarah", "hello", "2026-03-02T08:00:00")]).code == 0
    assert program.run("backup", str(copy)).code == 0
    assert program.observe([message(2, "sarah", "again", "2026-03-02T09:00:00")]).code == 0
    return copy


def test_a_backup_is_shown_then_restored_and_the_old_one_restored_back(
    program: Program, saved: Path
) -> None:
    before = program.database.read_bytes()
    looked = program.run("restore", str(saved), "--dry-run")
    assert looked.code == 0
    assert "messages" in looked.out
    assert "intact" in looked.out
    assert all(name in looked.out for name in table_names())
    assert program.database.read_bytes() == before
    done = program.run("restore", str(saved))
    assert done.code == 0
    assert program.run("why", "m2").code == 1
    assert program.run("why", "m1").code == 0
    (kept,) = set_aside(program.database)
    assert str(kept) in done.out
    # The file set aside is named by the time, and the clock of these programs stands still.
    later = {FROZEN_NOW: "2026-03-02T16:00:00+00:00"}
    assert program.run("restore", str(kept), settings=later).code == 0
    assert program.run("why", "m2").code == 0


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_a_server_is_restored_by_its_own_program(
    program: Program, saved: Path, words: tuple[str, ...]
) -> None:
    ran = program.bare("restore", str(saved), "--db", "postgresql://localhost/x", *words)
    assert ran.code == 2
    assert "pg_restore" in ran.err
    assert "pg_dump" in ran.err
    assert ran.out == ""


def test_what_is_no_backup_is_refused(program: Program, tmp_path: Path) -> None:
    wrong = tmp_path / "letter.txt"
    wrong.write_text("dear diary")
    ran = program.run("restore", str(wrong))
    assert ran.code == 2
    assert "letter.txt" in ran.err
    assert not program.database.exists()


def test_a_running_worker_keeps_its_database(program: Program, saved: Path) -> None:
    with program.start("worker") as worker:
        assert worker.stderr is not None
        assert b"running jobs" in worker.stderr.readline()
        refused = program.run("restore", str(saved))
        worker.terminate()
        worker.communicate()
    assert refused.code == 1
    assert "stop it first" in refused.err
    assert program.run("why", "m2").code == 0


def test_the_doctor_tells_of_backups(program: Program) -> None:
    def backups() -> dict[str, str]:
        checks = program.run("doctor", "--json").value["checks"]
        return next(check for check in checks if check["check"] == "backups")

    assert "BACKUP_DIR" in backups()["found"]
    (program.home / ".env").write_text("BACKUP_DIR=kept\nMESSAGE_RETENTION_DAYS=30")
    assert "empty" in backups()["found"]
    (program.home / "kept").mkdir()
    (program.home / "kept" / "family-2020-01-02.sqlite").write_text("x")
    told = backups()
    assert told["health"] == "warning"
    assert "2020-01-02" in told["found"]
