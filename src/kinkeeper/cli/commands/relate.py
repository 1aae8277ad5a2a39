"""`kinkeeper relate` and `kinkeeper classify`: what statements say, before anything is stored."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def relate(
    _where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines {"id", "old", "new", "old_at"?, "new_at"?, "category"?}; "-" reads stdin.',
        ),
    ],
) -> None:
    """Decide: merge, supersede or keep both statements."""
    from kinkeeper.cli.statements import relate_file

    if relate_file(file):
        raise typer.Exit(2)


@located
def classify(
    where: Where,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='JSON lines {"id", "text"}; "-" reads stdin.')
    ],
) -> None:
    """Classify statements by memory category."""
    from kinkeeper.cli.statements import classify_file

    if classify_file(file, where):
        raise typer.Exit(2)
