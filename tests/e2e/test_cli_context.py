"""`kinkeeper context`: what a session begins with, without a household file and for one person."""

import json
from pathlib import Path

from cli_program import MILLER, Program

FACTS = (
    {
        "id": "a",
        "text": "Leo is allergic to peanuts.",
        "category": "identity",
        "at": "2026-01-03T10:00:00",
    },
    {
        "id": "b",
        "text": "The router is a Netgear R7000.",
        "category": "technical",
        "at": "2026-01-05T10:00:00",
    },
    {
        "id": "c",
        "text": "Sarah plans a surprise.",
        "category": "preference",
        "at": "2026-01-06T10:00:00",
        "scope": "person:sarah",
    },
)


def test_what_was_imported_is_what_a_session_begins_with(tmp_path: Path) -> None:
    program = Program(tmp_path)
    file = tmp_path / "facts.jsonl"
    file.write_text("".join(json.dumps(fact) + "\n" for fact in FACTS), "utf-8")
    family = ("--household", str(MILLER / "household.toml"))
    assert program.run(*family, "import", str(file), "--as", "facts", "--no-wait").code == 0

    told = program.run(*family, "context", "--as", "sarah", "--json", "--query", "which router")
    begun = {each["id"]: each["tier"] for each in told.value["observations"]}
    assert begun == {"a": "core", "b": "semantic", "c": "core"}

    everybodys = program.run(*family, "context")
    assert "## Who people are (core)\n- Leo is allergic to peanuts." in everybodys.out
    assert "surprise" not in everybodys.out
    assert program.run(*family, "context", "--as", "nobody").code == 2
