"""`kinkeeper relate` and `kinkeeper classify`: a line out for each line in, bad ones told in their place."""

import json
from pathlib import Path

from cli_program import Program, Ran


def ran(program: Program, command: str, lines: list[str]) -> Ran:
    source: Path = program.home / "statements.jsonl"
    source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return program.bare(command, str(source), settings={"EMBEDDER": "none"})


def test_pairs_are_related_in_their_order_and_bad_lines_do_not_stop_the_good(
    program: Program,
) -> None:
    result = ran(
        program,
        "relate",
        [
            '{"id": "a", "old": "I live in Oslo", "new": "Oslo is where I live"}',
            "no json",
            '{"id": "b", "old": "I live in Oslo", "new": "I moved to Bergen", "old_at": "2026-01-01", "new_at": "2026-02-01T10:00:00+01:00"}',
            '{"id": "c", "old": "I live in Oslo", "new": "I live in Bergen", "old_at": "2026-02-01", "new_at": "2026-01-01"}',
            '{"id": "d", "old": "I live in Oslo", "new": 5}',
        ],
    )
    answers = [json.loads(line) for line in result.out.splitlines()]

    assert result.code == 2
    assert [each.get("effect") for each in answers] == [
        "MERGE",
        None,
        "SUPERSEDE",
        "KEEP_BOTH",
        None,
    ]
    assert [each["relation"] for each in answers if "relation" in each] == [
        "same",
        "update",
        "other",
    ]
    assert answers[1]["line"] == 2
    assert "new" in answers[4]["error"]


def test_statements_are_classified_without_a_model(program: Program) -> None:
    result = ran(program, "classify", ['{"id": 7, "text": "My sister is called Wanjiru"}'])
    (answer,) = (json.loads(line) for line in result.out.splitlines())

    assert result.code == 0
    assert (answer["id"], answer["category"], answer["type"]) == (7, "relationship", "statement")
    assert answer["title"] == "My sister is called Wanjiru"
    assert 0 < answer["confidence"] <= 1


def test_a_statement_without_words_is_told_as_such(program: Program) -> None:
    result = ran(program, "classify", ['{"id": 7, "text": " "}', '{"id": 8, "text": "I like tea"}'])
    bad, good = (json.loads(line) for line in result.out.splitlines())

    assert (bad["line"], good["id"], result.code) == (1, 8, 2)
    assert "empty" in bad["error"]
