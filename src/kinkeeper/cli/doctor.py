"""`kinkeeper doctor`: what is set up, what is not, and how to mend it."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def doctor(
    where: Where,
    json_: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Check settings, household file, database and clock; say how to mend what is wrong."""
    from kinkeeper.cli.checkup import check_up

    if not check_up(where, as_json=json_):
        raise typer.Exit(1)
