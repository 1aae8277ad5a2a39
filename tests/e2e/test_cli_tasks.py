"""`kinkeeper tasks` as people run it."""

import json

import pytest

from cli_program import Program

pytestmark = pytest.mark.slow


def test_a_task_goes_from_the_list_to_what_is_done(program: Program) -> None:
    made = program.run("tasks", "add", "Call mom", "--by", "tomorrow 5pm", "--json").value
    assert (made["status"], made["task"]["title"]) == ("done", "Call mom")
    program.run(
        "tasks",
        "add",
        "Take the bins out",
        "--by",
        "sunday",
        "--repeat",
        "FREQ=WEEKLY",
        "--for",
        "sarah",
    )
    listed = program.run("tasks", "--json").value
    assert {task["title"] for task in listed} == {"Call mom", "Take the bins out"}
    assert program.run("tasks", "list", "--for", "sarah", "--json").value[0]["who"] == ["sarah"]
    done = program.run("tasks", "done", made["task"]["id"][:8])
    assert (done.code, done.out) == (0, "Done: Call mom\n")
    assert [task["title"] for task in program.run("tasks", "--done", "--json").value] == [
        "Call mom"
    ]
    assert program.run("undo", program.run("pending", "--all", "--json").value[-1]["id"]).code == 0
    assert len(program.run("tasks", "--json").value) == 2


def test_what_goes_wrong_is_told_in_a_line(program: Program) -> None:
    assert program.run("tasks", "add", "x", "--by", "blue").code == 2
    late = program.run("tasks", "add", "x", "--by", "2020-01-01")
    assert (late.code, "passed" in late.err) == (1, True)
    none = program.run("tasks", "done", "the roof")
    assert (none.code, "roof" in none.err) == (1, True)
    child = program.run("tasks", "add", "Buy me a dog", "--for", "john", "--as", "leo")
    assert (child.code, child.out.startswith("Waiting for an adult's approval")) == (1, True)
    (waiting,) = program.run("pending", "--json").value
    assert program.run("pending", "confirm", waiting["id"]).code == 0
    program.run("export", str(program.home / "all"), "--as", "all")
    (task,) = map(json.loads, (program.home / "all" / "tasks.jsonl").read_text().splitlines())
    assert (task["title"], task["who"]) == ("Buy me a dog", ["john"])
