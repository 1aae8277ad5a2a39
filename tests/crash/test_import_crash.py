"""kill -9 in the middle of an import: it is begun again, and each fact is there once."""

import json
from collections.abc import Sequence
from itertools import islice, product
from pathlib import Path

import pytest
from sqlalchemy import func, select

from cli_program import Program
from kinkeeper.memory.invariants import check
from kinkeeper.memory.tables import facts
from kinkeeper.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.crash]

KILLED_AFTER = (1, 300, 700)
PEOPLE = ("Ada", "Bela", "Cleo", "Dora", "Emil", "Flora", "Gus", "Hedda", "Ivo", "Jutta")
THINGS = [f"{one}{two}{three}" for one, two, three in product(("ba", "me", "to"), repeat=3)]
KINDS = ("soup", "song", "game", "tree", "bird")


def facts_to_import() -> list[dict[str, str]]:
    texts = (
        f"{who}'s favourite {thing} {kind} is {thing[::-1]}"
        for who, thing, kind in product(PEOPLE, THINGS, KINDS)
    )
    return [
        {"id": f"f{number}", "text": text, "at": "2026-03-02T09:00:00Z"}
        for number, text in enumerate(texts)
    ]


def killed_after(program: Program, file: Path, lines: int) -> list[str]:
    """Import until so many lines have been told, and kill; return what was told as stored or known."""
    with program.start("import", str(file), "--as", "facts", "--no-wait") as process:
        assert process.stdout is not None
        told = [*islice(process.stdout, lines)]
        process.kill()
        told += process.stdout
    return [json.loads(line)["id"] for line in told if line.endswith(b"\n")]


def stored(database: Path) -> Sequence[str]:
    with Store.open(str(database)) as store:
        household = store.read_now(lambda conn: conn.scalar(select(func.min(facts.c.household))))
        assert store.read_now(lambda conn: check(conn, str(household))) == []
        return store.read_now(lambda conn: conn.scalars(select(facts.c.narrative)).all())


def test_an_import_that_was_killed_is_begun_again(tmp_path: Path) -> None:
    program, file, given = Program(tmp_path), tmp_path / "facts.jsonl", facts_to_import()
    file.write_text("".join(json.dumps(each) + "\n" for each in given), encoding="utf-8")
    text_of = {each["id"]: each["text"] for each in given}
    for lines in KILLED_AFTER:
        told = killed_after(program, file, lines)
        assert len(told) >= lines
        there = {text.rstrip(".") for text in stored(program.database)}
        assert {text_of[each] for each in told} <= there
    ran = program.run("import", str(file), "--as", "facts", "--no-wait")
    assert ran.code == 0
    assert len(ran.lines) == len(given)
    assert {line["status"] for line in ran.lines} <= {"stored", "known"}
    assert sorted(text.rstrip(".") for text in stored(program.database)) == sorted(text_of.values())
