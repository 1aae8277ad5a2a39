"""`kinkeeper remember`, `forget`, `export` and the doctor's look at memory, as people run them."""

import pytest

from cli_program import Program

pytestmark = pytest.mark.slow

NUTS = "Leo is allergic to peanuts"


def test_something_is_remembered_exported_and_erased_for_good(program: Program) -> None:
    done = program.run("remember", *NUTS.split(), "--as", "sarah")
    assert (done.code, done.out.startswith("Remembered.")) == (0, True)
    mine = program.run("remember", "my locker code is 4711", "--private", "--json")
    assert mine.value["outcome"] == "done"

    (nuts, _) = facts = program.run("export", "--as", "facts").lines
    assert [fact["text"] for fact in facts] == [NUTS, "My locker code is 4711"]
    assert [fact["scope"] for fact in facts] == ["household", "person:john"]
    folder = program.home / "all"
    assert program.run("export", str(folder), "--as", "all").code == 0
    assert {each.name for each in folder.iterdir()} == {
        "actions.jsonl",
        "calendar.ics",
        "drafts.jsonl",
        "episodes.jsonl",
        "facts.jsonl",
        "goals.jsonl",
        "notes.jsonl",
        "tasks.jsonl",
    }
    assert {each.stat().st_mode & 0o077 for each in [folder, *folder.iterdir()]} == {0}

    checks = {each["check"]: each for each in program.run("doctor", "--json").value["checks"]}
    assert checks["memory"]["health"] == "ok"
    assert "2 facts" in checks["memory search"]["found"]
    memory = program.run("metrics", "--json").value["memory"]
    assert (memory["episodes"], memory["sentences"], memory["repeated_share"]) == (2, 2, 0.0)

    asked = program.run("forget", nuts["id"][:8])
    assert (asked.code, "--yes" in asked.err) == (2, True)
    gone = program.run("forget", nuts["id"][:8], "--yes")
    assert (gone.code, gone.out) == (0, "Erased.\n")
    assert all(b"peanuts" not in each.read_bytes() for each in program.home.glob("family.sqlite*"))
    assert program.run("forget", nuts["id"][:8], "--yes").code == 1


def test_a_person_is_erased_after_a_look_and_an_export(program: Program) -> None:
    program.run(
        "remember", "my", "locker", "code", "is", "xylophone9", "--as", "sarah", "--private"
    )
    program.run("remember", *NUTS.split(), "--as", "john")
    looked = program.run("erase", "Sarah", "--dry-run", "--json")
    assert (looked.code, looked.value["erased"], looked.value["facts"]) == (0, False, 1)
    asked = program.run("erase", "sarah")
    assert (asked.code, "--yes" in asked.err) == (2, True)
    folder = program.home / "before"
    assert program.run("erase", "sarah", "--export", str(folder)).code == 2
    assert program.run("erase", "nobody", "--export", str(folder), "--yes").code == 1
    assert not folder.exists(), "nothing is written for what is not done"
    done = program.run("erase", "mommy", "--export", str(folder), "--yes", "--json")
    assert (done.code, done.value["member"], done.value["erased"]) == (0, "sarah", True)
    assert "xylophone9" in (folder / "facts.jsonl").read_text("utf-8")
    assert all(
        b"xylophone9" not in each.read_bytes() for each in program.home.glob("family.sqlite*")
    )
    assert [each["text"] for each in program.run("export", "--as", "facts").lines] == [NUTS]
    assert program.run("erase", "sarah", "--yes").code == 1


def test_anothers_own_memory_cannot_be_named_and_nonsense_is_refused(program: Program) -> None:
    program.run("remember", "my locker code is 4711", "--private", "--as", "john")
    (fact,) = program.run("export", "--as", "facts").lines
    assert program.run("forget", fact["id"], "--yes", "--as", "sarah").code == 1
    assert program.run("remember", " ").code == 2
    nothing = program.run("recall", " ")
    assert (nothing.code, "say what to look for" in nothing.err) == (2, True)
    assert program.run("remember", "I want a dog", "--as", "leo").code == 1
    assert program.run("doctor", "--mend", "--json").code == 0
