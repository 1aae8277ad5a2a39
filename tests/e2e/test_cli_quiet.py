"""`kinkeeper quiet`: who wants it, for how long, and what follows."""

import pytest

from cli_program import Program

pytestmark = pytest.mark.slow


def test_quiet_is_set_told_and_ended(program: Program) -> None:
    assert program.run("quiet").out == "Quiet is off.\n"
    done = program.run("quiet", "2h", "--as", "mom")
    assert (done.code, done.out.startswith("Quiet until ")) == (0, True)
    assert program.run("quiet").out == done.out
    assert program.run("quiet", "off").out == "Quiet is off.\n"
    assert program.run("quiet").out == "Quiet is off.\n"


def test_children_and_nonsense_are_refused_in_one_line(program: Program) -> None:
    child = program.run("quiet", "2h", "--as", "Leo")
    assert (child.code, child.err.count("\n")) == (1, 1)
    assert "adult" in child.err
    wrong = program.run("quiet", "soon")
    assert wrong.code == 2
    assert "2h" in wrong.err
