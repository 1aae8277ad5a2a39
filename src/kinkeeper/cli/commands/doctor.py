"""`kinkeeper doctor`: what is set up, what is not, and how to mend it."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def doctor(
    where: Where,
    json_: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
    mend: Annotated[
        bool, typer.Option("--mend", help="First work broken memories out anew, where that helps.")
    ] = False,
) -> None:
    """Check settings, household file, database and clock; say how to mend what is wrong."""
    from kinkeeper.cli.checkup import check_up

    if mend:
        from kinkeeper.cli.mending import mend_memories

        mend_memories(where)
    if not check_up(where, as_json=json_):
        raise typer.Exit(1)
