"""kill -9 while vectors are made or a file is imported: nothing is lost, doubled or half done."""

import asyncio
import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from embedding_process import HOUSE, Given
from sqlalchemy import func, select

from cli_program import PROGRAM, Program
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.vectors import VectorKind, vectors_of
from kinkeeper.memory.model import EmbedState, Episode, Origin
from kinkeeper.memory.tables import episodes
from kinkeeper.store.store import Store
from warm_start import Started

pytestmark = [pytest.mark.slow, pytest.mark.crash]

SCRIPT = str(Path(__file__).with_name("embedding_process.py"))
NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)
TURNS = 700


def turn(number: int) -> Episode:
    return Episode(
        household=HOUSE,
        id=f"t{number}",
        session=f"s{number // 50}",
        speaker="Bo",
        text=f"errand {number} of the week",
        said_at=NOW + timedelta(minutes=number),
        origin=Origin.SAID,
    )


def states(store: Store) -> dict[str, str]:
    query = select(episodes.c.id, episodes.c.embed_state)
    return {
        row.id: row.embed_state for row in store.read_now(lambda conn: conn.execute(query).all())
    }


def test_a_text_counts_as_known_exactly_when_its_vectors_are_stored(tmp_path: Path):
    path = str(tmp_path / "family.db")
    with Store.open(path) as store:
        told = [turn(number) for number in range(TURNS)]
        store.write_now(lambda conn: insert_episodes(conn, told, at=NOW))
    for batches in (1, 2, 4, 3):
        with Started([SCRIPT, path], stdout=subprocess.PIPE, text=True) as started:
            assert started.stdout is not None
            assert started.stdout.readline() == "ready\n"
            for _ in range(batches):
                assert started.stdout.readline() == ".\n"
            started.kill()
    with Store.open(path) as store:
        ids = [f"t{number}" for number in range(TURNS)]
        before = states(store)
        done = {each for each, state in before.items() if state == EmbedState.ACTIVE.value}
        assert done
        assert len(done) < TURNS
        for kind in (VectorKind.EPISODE, VectorKind.CONTEXT):
            stored = store.read_now(
                lambda conn, of=kind: vectors_of(conn, HOUSE, Given.model, kind=of, ids=ids)
            )
            assert set(stored) == done
        asyncio.run(EmbeddingWork(store, HOUSE, Given()).finish())
        assert set(states(store).values()) == {EmbedState.ACTIVE.value}
        stored = store.read_now(
            lambda conn: vectors_of(conn, HOUSE, Given.model, kind=VectorKind.EPISODE, ids=ids)
        )
        (expected,) = asyncio.run(Given().embed(["Bo: errand 5 of the week"]))
        assert np.allclose(stored["t5"], expected, atol=1e-3)


def test_an_import_that_was_killed_is_begun_again_and_complete(tmp_path: Path):
    program = Program(tmp_path)
    file = tmp_path / "turns.jsonl"
    lines = [
        {"id": f"t{number}", "text": f"errand {number}", "at": "2026-05-04T09:00:00+00:00"}
        for number in range(12_000)
    ]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    command = [
        PROGRAM,
        "import",
        str(file),
        "--as",
        "episodes",
        "--no-wait",
        "--db",
        str(program.database),
    ]
    with Started(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=program.environment(),
        cwd=tmp_path,
    ) as started:
        assert started.stdout is not None
        reported = [json.loads(started.stdout.readline())["id"] for _ in range(1_200)]
        started.kill()
    again = subprocess.run(
        command, capture_output=True, check=True, env=program.environment(), cwd=tmp_path, text=True
    )
    told = [json.loads(line) for line in again.stdout.splitlines()]
    assert [each["id"] for each in told] == [line["id"] for line in lines]
    known = {each["id"] for each in told if each["status"] == "known"}
    assert known >= set(reported)
    assert len(known) < len(lines)
    with Store.open(str(program.database)) as store:
        count = store.read_now(
            lambda conn: conn.execute(select(func.count(episodes.c.id))).scalar()
        )
    assert count == len(lines)
