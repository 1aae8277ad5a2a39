"""`kinkeeper eval`: accuracy on labelled data, with floors."""

from pathlib import Path
from typing import Annotated

import typer


def evaluate(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="observer, tripwire, episodes, when, or all.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", envvar="KINKEEPER_DATA", help="Folder with the public data sets."
        ),
    ] = None,
    own: Annotated[
        Path, typer.Option("--evals", metavar="DIR", help="Folder with our own labelled chats.")
    ] = Path("evals"),
    json_: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Measure how well messages are understood; fails when a floor is not reached."""
    from kinkeeper.cli.measuring import run_evaluation

    if not run_evaluation(suite, data=data, own=own, as_json=json_):
        raise typer.Exit(1)
