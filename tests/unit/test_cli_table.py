"""The table of commands says of each what it says of itself, and listing them loads none."""

import inspect
import json
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest
import typer

import kinkeeper.cli
from kinkeeper.cli.main import COMMANDS, Entry, app

PROGRAM = typer.main.get_command(app)
HEAVY = {"sqlalchemy", "dbos", "pydantic", "rich"}


@pytest.mark.parametrize("listed", COMMANDS, ids=lambda listed: listed.name)
def test_a_command_is_listed_with_the_first_line_of_its_own_help(listed: Entry):
    command = PROGRAM.get_command(typer.Context(PROGRAM), listed.name)  # type: ignore[attr-defined]  # a group
    assert command.help.splitlines()[0] == listed.help
    written = inspect.getdoc(command.callback) if command.callback else None
    assert written is None or written.splitlines()[0] == listed.help


def test_every_module_with_a_command_is_in_the_table_once():
    names = [each.name for each in pkgutil.iter_modules(kinkeeper.cli.__path__)]
    having = {name for name in names if hasattr(import_module(f"kinkeeper.cli.{name}"), "app")}
    assert sorted({each.module for each in COMMANDS}) == sorted(having - {"main"})
    assert len({each.name for each in COMMANDS}) == len(COMMANDS)


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_listing_loads_no_command_nor_what_commands_need(words: list[str]):
    code = (
        "import json, sys\nfrom kinkeeper.cli.main import main\n"
        f"sys.argv = ['kinkeeper', *{words!r}]\n"
        "try:\n    main()\nfinally:\n    print(json.dumps([*sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    modules = {f"kinkeeper.cli.{each.module}" for each in COMMANDS}
    assert {"kinkeeper.cli.main", "typer"} <= {*loaded}
    assert not (HEAVY | modules) & {*loaded}


@pytest.mark.parametrize("name", [each.name for each in COMMANDS if each.is_lasting])
def test_what_runs_for_months_leaves_out_what_it_never_uses(name: str):
    code = (
        "import sys\nfrom kinkeeper.cli.main import main\n"
        f"sys.argv = ['kinkeeper', {name!r}, '--help']\n"
        "try:\n    main()\nfinally:\n    print('rich' in sys.modules, 'structlog' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "False True"
