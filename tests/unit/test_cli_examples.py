"""Every command shows in its help what it is called like, and can be called like that."""

import shlex

import pytest
import typer

from bench.__main__ import app as bench_app
from evals.__main__ import app as evals_app
from kinkeeper.cli.main import EXAMPLES, app

PROGRAM = typer.main.get_command(app)
OF_CHECKOUT = {
    "eval": typer.main.get_command(evals_app),
    "bench": typer.main.get_command(bench_app),
}


@pytest.mark.parametrize("example", [each for some in EXAMPLES.values() for each in some])
def test_an_example_is_a_call_that_is_understood(example: str) -> None:
    words = shlex.split(example.rpartition("| ")[2])
    command, name = PROGRAM, words.pop(0)
    while words and words[0] in getattr(command, "commands", ()):
        name = words.pop(0)
        command = command.get_command(typer.Context(command), name)  # type: ignore[attr-defined]  # asked above
    assert command is not PROGRAM
    with command.make_context(name, words) as ctx:
        shown = command.get_help(ctx)
        passed_on = ctx.args
    # Accuracy and speed have a command line of their own in the checkout.
    assert not passed_on or name in OF_CHECKOUT
    if passed_on:
        with OF_CHECKOUT[name].make_context(name, passed_on) as ctx:
            assert ctx.args == []
    assert " ".join(example.split()) in " ".join(shown.split())
