"""Restoring on real files: what is refused, what is kept, and that nothing between old and new can be seen."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from kinkeeper.core.errors import ConflictError, InputError, StoreVersionError, UnavailableError
from kinkeeper.core.messages import InboundMessage
from kinkeeper.messaging import inbox
from kinkeeper.messaging.tables import messages
from kinkeeper.store.backups import BackupContents, check_backup, restore
from kinkeeper.store.locks import runner_lock
from kinkeeper.store.migrate import SCHEMA_VERSION
from kinkeeper.store.schema import metadata
from kinkeeper.store.store import Store

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
TABLES = frozenset(metadata.tables)
SIDES = ("-wal", "-shm", "-journal", ".restoring")


def add(name: str) -> Callable[[Connection], object]:
    message = InboundMessage(
        channel="test", chat_id="c", message_id=name, sender="s", text=name, sent_at=NOW
    )
    return lambda conn: inbox.record(
        conn, "h", message, sender="s", is_member=True, thread_id="t", now=NOW
    )


def names(path: Path) -> list[str]:
    with Store.open(str(path)) as store:
        return sorted(store.read_now(lambda conn: conn.execute(select(messages.c.text))).scalars())


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "fam ily%20?#.sqlite"
    with Store.open(str(path)) as store:
        store.write_now(add("old"))
    return path


@pytest.fixture
def backup(database: Path, tmp_path: Path) -> Path:
    source, copy = tmp_path / "other.sqlite", tmp_path / "back up?.sqlite"
    with Store.open(str(source)) as store:
        store.write_now(add("saved"))
        store.backup_to(copy)
    return copy


@pytest.fixture
def shown() -> list[BackupContents]:
    return []


@pytest.fixture
def run(database: Path, shown: list[BackupContents]) -> Callable[[Path], Path | None]:
    return lambda backup: restore(
        str(database), backup, tables=TABLES, at=NOW, on_checked=shown.append
    )


Run = Callable[[Path], Path | None]


def assert_untouched(database: Path) -> None:
    assert names(database) == ["old"]
    assert not [each for each in database.parent.iterdir() if ".restoring" in each.name]


def test_the_backup_takes_the_place_and_the_old_one_is_kept(
    database: Path, backup: Path, run: Run, shown: list[BackupContents]
) -> None:
    before = backup.read_bytes()
    kept = run(backup)
    assert kept is not None
    assert kept.parent == database.parent
    assert stat.S_IMODE(kept.stat().st_mode) == stat.S_IMODE(database.stat().st_mode) == 0o600
    assert not [suffix for suffix in SIDES if Path(f"{database}{suffix}").exists()]
    assert (names(database), names(kept)) == (["saved"], ["old"])
    assert backup.read_bytes() == before
    assert (shown[0].schema, shown[0].rows["messages"]) == (SCHEMA_VERSION, 1)


def test_what_was_only_in_the_log_is_in_the_copy_that_is_kept(
    database: Path, backup: Path, run: Run
) -> None:
    """A process that was killed leaves its last commits in the log alone."""
    code = (
        "import os, sys\nfrom kinkeeper.store.store import Store\nfrom test_restore import add\n"
        "store = Store.open(sys.argv[1])\nstore.write_now(add('late'))\nos._exit(9)"
    )
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*folders, *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", code, str(database)], check=False, env=environment)
    assert done.returncode == 9
    assert Path(f"{database}-wal").stat().st_size
    kept = run(backup)
    assert kept is not None
    assert (names(database), names(kept)) == (["saved"], ["late", "old"])


def test_a_database_that_is_not_there_is_made(tmp_path: Path, backup: Path) -> None:
    path = tmp_path / "new" / "family.sqlite"
    kept = restore(str(path), backup, tables=TABLES, at=NOW, on_checked=lambda _: None)
    assert kept is None
    assert names(path) == ["saved"]


@pytest.mark.parametrize("damage", ["header", "middle"])
def test_a_damaged_database_is_replaced_and_kept_with_its_log(
    database: Path, backup: Path, run: Run, damage: str
) -> None:
    content = bytearray(database.read_bytes())
    at = 0 if damage == "header" else 4096
    content[at : at + 4096] = b"\x5a" * 4096
    database.write_bytes(content)
    Path(f"{database}-wal").write_bytes(b"what is left of a log")
    kept = run(backup)
    assert kept is not None
    assert kept.read_bytes()[at : at + 4096] == b"\x5a" * 4096
    assert names(database) == ["saved"]


def spoil(backup: Path, how: str) -> None:
    if how == "cut short":
        os.truncate(backup, backup.stat().st_size // 2)
    elif how == "damaged page":
        with backup.open("r+b") as file:
            file.seek(4096 * 2)
            file.write(b"\x5a" * 4096)
    elif how == "text":
        backup.write_text("dear diary")
    elif how == "empty":
        backup.write_bytes(b"")
    elif how == "folder":
        backup.unlink()
        backup.mkdir()
    elif how == "missing":
        backup.unlink()
    elif how == "with a log":
        Path(f"{backup}-wal").write_bytes(b"frames")
    else:
        _change(backup, how)


def _change(backup: Path, how: str) -> None:
    statements = {
        "newer": ["UPDATE alembic_version SET version_num = '9999'"],
        "another program's": ["DROP TABLE alembic_version"],
        "another program's revision": ["UPDATE alembic_version SET version_num = '3f2a'"],
        "without a table": ["DROP TABLE outbox"],
        "orphans": [
            "CREATE TABLE parent (id INTEGER PRIMARY KEY)",
            "CREATE TABLE child (parent INTEGER REFERENCES parent (id))",
            "INSERT INTO child VALUES (5)",
        ],
    }
    connection = sqlite3.connect(backup)
    for statement in statements[how]:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("how", "error", "says"),
    [
        ("cut short", UnavailableError, "damaged"),
        ("damaged page", UnavailableError, "damaged"),
        ("orphans", UnavailableError, "damaged"),
        ("text", InputError, "not a SQLite database"),
        ("empty", InputError, "not a SQLite database"),
        ("folder", InputError, "folder"),
        ("missing", InputError, "no file"),
        ("with a log", InputError, "kinkeeper backup"),
        ("newer", StoreVersionError, "9999"),
        ("another program's", InputError, "another program"),
        ("another program's revision", InputError, "another program"),
        ("without a table", InputError, "outbox"),
    ],
)
def test_what_is_no_sound_backup_of_ours_replaces_nothing(
    database: Path, backup: Path, run: Run, how: str, error: type[Exception], says: str
) -> None:
    spoil(backup, how)
    with pytest.raises(error, match=says):
        run(backup)
    with pytest.raises(error, match=says):
        check_backup(backup, tables=TABLES)
    assert_untouched(database)


def test_the_database_itself_is_no_backup_of_it(database: Path, run: Run) -> None:
    with pytest.raises(InputError, match="itself"):
        run(database)
    assert_untouched(database)


def test_checking_leaves_no_trace(backup: Path) -> None:
    backup.chmod(0o400)
    before = sorted(backup.parent.iterdir())
    check_backup(backup, tables=TABLES)
    assert sorted(backup.parent.iterdir()) == before


@pytest.fixture
def neighbour(database: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the database open and does nothing."""
    code = (
        "import sys\nfrom kinkeeper.store.store import Store\n"
        "with Store.open(sys.argv[1]) as store:\n    print('open', flush=True)\n    sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield process
        process.kill()


def test_a_database_that_is_open_elsewhere_is_left_alone(
    database: Path, backup: Path, run: Run, neighbour: subprocess.Popen[str]
) -> None:
    with pytest.raises(ConflictError, match="open"):
        run(backup)
    neighbour.communicate("")
    assert_untouched(database)
    assert run(backup) is not None


def test_a_damaged_database_that_is_open_elsewhere_is_left_alone(
    database: Path, backup: Path, run: Run, neighbour: subprocess.Popen[str]
) -> None:
    with database.open("r+b") as file:
        file.write(b"\x5a" * 100)
    with pytest.raises(ConflictError, match="open"):
        run(backup)
    assert neighbour.poll() is None


def test_a_database_whose_jobs_run_is_left_alone(database: Path, backup: Path, run: Run) -> None:
    with runner_lock(str(database)), pytest.raises(ConflictError, match="already running the jobs"):
        run(backup)
    assert_untouched(database)


def test_a_database_on_a_server_is_restored_by_the_server(backup: Path) -> None:
    with pytest.raises(InputError, match="pg_restore"):
        restore("postgresql://h/x", backup, tables=TABLES, at=NOW, on_checked=lambda _: None)


KILLER = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
import kinkeeper.messaging.tables
from kinkeeper.store.backups import restore

calls, last = 0, int(sys.argv[3])

def count(event, args):
    global calls
    if event in {"open", "os.rename", "os.link", "os.remove", "sqlite3.connect"}:
        calls += 1
        if calls == last:
            os._exit(9)

sys.addaudithook(count)
restore(sys.argv[1], Path(sys.argv[2]), tables={"messages"}, at=datetime.now(UTC), on_checked=print)
os._exit(0)
"""


@pytest.mark.slow
def test_killed_anywhere_the_database_is_the_old_one_or_the_new(
    database: Path, backup: Path, tmp_path: Path
) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pristine = tmp_path / "pristine"
    shutil.copytree(database.parent, pristine)
    outcomes, code, step = [], 9, 0
    while code == 9:
        step += 1
        shutil.rmtree(database.parent)
        shutil.copytree(pristine, database.parent)
        code = subprocess.run(
            [sys.executable, "-c", KILLER, str(database), str(backup), str(step)],
            check=False,
            env=environment,
            stdout=subprocess.DEVNULL,
        ).returncode
        outcomes.append(names(database)[0])
        again = restore(str(database), backup, tables=TABLES, at=NOW, on_checked=lambda _: None)
        assert again is not None
        assert names(database) == ["saved"]
    assert code == 0
    assert outcomes == sorted(outcomes)  # "old" up to the swap, "saved" from then on
    assert {"old", "saved"} == set(outcomes)
    assert step > 4
