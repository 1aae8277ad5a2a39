"""Memory from the command line: imported, searched, recalled, without a household file and with one."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli_program import Program, Ran

pytestmark = pytest.mark.slow

AT = "2026-05-04T09:00:00-05:00"

TURNS = [
    {
        "id": "t1",
        "text": "The plumber fixed the boiler",
        "speaker": "Opa",
        "at": AT,
        "session": "s",
    },
    {"id": "t2", "text": "Did he send a bill?", "speaker": "Nia", "at": AT, "session": "s"},
    {"id": "t3", "text": "My diary is under the mattress", "at": AT, "scope": "person:nia"},
]
FACTS = [
    {"id": "f1", "text": "Opa collects trains", "at": AT, "category": "preference"},
    {"id": "f2", "text": "Nia is allergic to bees", "at": AT, "confidence": 0.9},
    {"id": "f3", "text": "The boiler is twelve years old", "at": AT, "evidence": ["t1"]},
]


def lines(rows: Sequence[object]) -> bytes:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows).encode()


def ran(program: Program, *words: str, rows: Sequence[object]) -> Ran:
    return program.bare(*words, "--db", str(program.database), stdin=lines(rows))


def imported(program: Program, kind: str, rows: Sequence[object]) -> Ran:
    (program.home / ".env").write_text("EMBEDDER=none\n", encoding="utf-8")
    return ran(program, "import", "-", "--as", kind, rows=rows)


def hits(program: Program, **query: Any) -> list[str]:
    (found,) = ran(program, "search", "-", rows=[{"id": 1, **query}]).lines
    return [hit["id"] for hit in found["hits"]]


def test_what_is_imported_is_found_under_its_id(tmp_path: Path):
    program = Program(tmp_path)
    never = {"id": "t8", "text": "That is late", "at": "9999-12-31T23:59:59-05:00"}
    bad = ["{", {"id": "t9", "at": AT}, never]
    first = imported(program, "episodes", [*TURNS[:2], *bad, TURNS[2]])
    assert first.code == 2
    assert [line.get("status", line.get("line")) for line in first.lines] == [
        "stored",
        "stored",
        3,
        4,
        5,
        "stored",
    ]
    assert "episodes imported" in first.err
    assert imported(program, "facts", FACTS).code == 0
    again = imported(program, "facts", FACTS)
    assert [line["status"] for line in again.lines] == ["known"] * 3
    assert hits(program, query="who repaired the boiler", types=["episode"])[0] == "t1"
    assert hits(program, query="bees", k=1) == ["f2"]
    # The words of a fact that came alone are no episode of anybody's.
    assert {*hits(program, query="boiler trains bees", types=["episode"])} <= {"t1", "t2"}
    assert hits(program, query="mattress") == []
    assert hits(program, query="mattress", scope="person:nia") == ["t3"]


def test_a_line_that_asks_for_nothing_possible_is_answered_in_its_place(tmp_path: Path):
    program = Program(tmp_path)
    imported(program, "facts", FACTS)
    asked = [{"id": "a", "query": "trains", "k": 2}, {"id": "b"}, {"id": "c", "query": "x", "k": 0}]
    answered = ran(program, "search", "-", rows=asked)
    assert answered.code == 2
    first, second, third = answered.lines
    (hit,) = first["hits"]
    assert (hit["id"], hit["kind"]) == ("f1", "fact")
    assert set(hit) == {"id", "kind", "score", "parts"}
    assert first["ms"] > 0
    assert "query" in second["error"]
    assert third["line"] == 3


def test_somebody_recalls_what_the_household_knows(tmp_path: Path):
    program = Program(tmp_path)
    (tmp_path / ".env").write_text("EMBEDDER=none\n", encoding="utf-8")
    program.run("import", "-", "--as", "facts", stdin=lines(FACTS))
    shown = program.run("recall", "allergic", "to", "--json")
    assert [each["text"] for each in shown.value] == ["Nia is allergic to bees"]
    assert shown.value[0]["provenance"]
    before = program.run("recall", "allergic", "--as-of", "2026-05-03", "--json")
    assert before.value == []
    assert program.run("recall", "allergic", "--as-of", "last May").code == 2
    assert "nothing in memory matches" in program.run("recall", "submarine").out.lower()


MOVES = [
    {"id": "m1", "text": "Opa lives in York", "at": "2026-05-04T09:00:00-05:00"},
    {"id": "m2", "text": "Opa moved to Leeds", "at": "2026-06-08T09:00:00-05:00"},
]


def test_a_line_may_ask_what_held_at_another_time(tmp_path: Path):
    program = Program(tmp_path)
    imported(program, "facts", MOVES)
    imported(program, "episodes", TURNS[:1])
    assert hits(program, query="where does Opa live", types=["fact"]) == ["m2"]
    asked = {"query": "where does Opa live", "types": ["fact"]}
    assert hits(program, **asked, as_of="2026-05-04") == ["m1"]
    assert hits(program, **asked, as_of="2026-06-08T13:59:59Z") == ["m1"]
    assert hits(program, **asked, as_of="2026-06-08T14:00:00Z") == ["m2"]
    assert hits(program, query="boiler", as_of="2026-05-03") == []
    assert hits(program, query="boiler", as_of="2026-05-04") == ["t1"]
    bad = [
        {"query": "x", "as_of": "once"},
        {"query": "x", "as_of": "2026-05-04", "types": ["event"]},
    ]
    answered = ran(program, "search", "-", rows=bad)
    assert answered.code == 2
    assert ["as of a time" in line["error"] for line in answered.lines] == [False, True]


def test_what_is_planned_stands_among_what_is_remembered_by_how_well_it_fits(tmp_path: Path):
    program = Program(tmp_path)
    (tmp_path / ".env").write_text("EMBEDDER=none\n", encoding="utf-8")
    program.run("import", "-", "--as", "facts", stdin=lines(FACTS))
    planned = {
        "summary": "Boiler service",
        "start": f"{datetime.now(UTC) + timedelta(days=3):%Y-%m-%dT10:00:00}",
    }
    program.run("import", "-", "--as", "events", stdin=lines([planned]))
    query = {"query": "when is the boiler service", "k": 2}
    (found,) = program.run("search", "-", stdin=lines([query])).lines
    assert [hit["kind"] for hit in found["hits"]] == ["event", "fact"]
    assert found["hits"][0]["score"] >= found["hits"][1]["score"]
