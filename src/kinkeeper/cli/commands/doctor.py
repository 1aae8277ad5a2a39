"""`kinkeeper doctor`: checks the setup."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def doctor(
    where: Where,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    mend: Annotated[
        bool, typer.Option("--mend", help="First rebuild damaged memories where possible.")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Show every setting, not only those you changed.")
    ] = False,
) -> None:
    """Check your setup and explain how to fix problems."""
    from kinkeeper.cli.checkup import check_up

    if mend:
        from kinkeeper.cli.memory_repair import mend_memories

        mend_memories(where)
    if not check_up(where, as_json=json_, show_all=all_):
        raise typer.Exit(1)
