"""`kinkeeper rehearse`: a script lived through the real program on a virtual clock."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def rehearse(
    where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines {"at", "do", "as", "text", …}; docs/operations.md describes them; "-" reads stdin.',
        ),
    ],
    seed: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Script to play first, without showing it."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=64, help="Number of processes for the parts between resets.")
    ] = 1,
) -> None:
    """Play a script in a scratch database on a virtual clock; shows the result of each line."""
    from kinkeeper.cli.rehearsal_script import rehearse_file

    if rehearse_file(where, file, seed=seed, jobs=jobs):
        raise typer.Exit(2)
