"""`kinkeeper eval` and `kinkeeper bench`: packages that only a checkout of the repository has."""

import sys
from importlib import import_module
from pathlib import Path

import typer

import kinkeeper
from kinkeeper.cli.terminal import notice
from kinkeeper.core.errors import InputError

# The packages `evals` and `bench` have options of their own, `--help` included.
PASSED_ON = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def run_from_checkout(package: str, context: typer.Context) -> None:
    """Hand the remaining arguments to a package that only a checkout has.

    Raises:
        InputError: This is an installed program, and the current folder is no checkout.
    """
    roots = (Path(kinkeeper.__file__).parents[2], Path.cwd())
    root = next((each for each in roots if (each / package / "__main__.py").is_file()), None)
    if root is None:
        raise InputError(
            f"{package} is part of the repository, not of the installed program: run this in a checkout"
        )
    sys.path.insert(0, str(root))
    code = import_module(f"{package}.__main__").app(
        context.args, prog_name=f"kinkeeper {context.info_name}", standalone_mode=False
    )
    if code:
        notice(f"kinkeeper {context.info_name}: a floor or target was missed")
        raise typer.Exit(code)


# `kinkeeper eval`: accuracy, measured from a checkout of the repository.

app = typer.Typer()


@app.command("eval", context_settings=PASSED_ON)
def eval_(context: typer.Context) -> None:
    """Measure accuracy on labelled data; needs a checkout."""
    run_from_checkout("evals", context)


# `kinkeeper bench`: speed, measured from a checkout of the repository.


@app.command(context_settings=PASSED_ON)
def bench(context: typer.Context) -> None:
    """Run benchmarks against limits or other programs; needs a checkout."""
    run_from_checkout("bench", context)
