"""`kinkeeper eval`: accuracy on labelled data, with floors."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located
from kinkeeper.cli.suites import Suite


@located
def evaluate(
    _where: Where,
    suite: Annotated[Suite, typer.Argument(metavar="SUITE", help="What to measure.")],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", envvar="KINKEEPER_DATA", help="Folder with the public data sets."
        ),
    ] = None,
    root: Annotated[
        Path, typer.Option(metavar="DIR", help="The repository, with our own labelled chats.")
    ] = Path(),
    full: Annotated[
        bool, typer.Option("--full", help="All there is, instead of a sample of what is plenty.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Measure how well messages are understood; fails when a floor is not reached."""
    from kinkeeper.cli.measuring import Scope, run_evaluation

    scope = Scope(data=data, root=root, is_full=full)
    if not run_evaluation(suite, scope, as_json=json_):
        raise typer.Exit(1)
