"""`kinkeeper consolidate`, as a person at a terminal sees it."""

import json

from cli_program import Program


def test_what_was_told_twice_changes_nothing_the_second_night(program: Program) -> None:
    program.run("remember", "Leo is allergic to peanuts", "--as", "john")
    planned = program.run("consolidate", "--dry-run", "--json").value
    assert planned["dry_run"] is True
    first = program.run("consolidate", "--json").value
    assert [run["state"] for run in first["runs"]] == ["done"]
    assert planned["changes"] == first["changes"]
    assert planned["runs"][-1]["counts"] == first["runs"][-1]["counts"]
    assert planned["runs"][-1]["change_set"] is None
    second = program.run("consolidate", "--json").value
    assert second["changes"] == []
    assert second["runs"][-1]["cost"]["calls"] == 0


def test_there_is_nothing_to_take_back_before_anything_changed(program: Program) -> None:
    done = program.run("consolidate", "--revert", "last")
    assert done.code == 1
    assert "not match a run that changed something" in done.err


def test_the_check_up_tells_of_the_last_night(program: Program) -> None:
    program.run("remember", "Leo is allergic to peanuts", "--as", "john")
    program.run("consolidate")
    checks = program.run("doctor", "--json").value["checks"]
    (found,) = [each for each in checks if each["check"] == "memory upkeep"]
    assert found["health"] == "ok", json.dumps(found)
