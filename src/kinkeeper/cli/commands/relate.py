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
            help='JSON lines {"id", "old", "new", "old_at"?, "new_at"?, "category"?}; "-": input.',
        ),
    ],
) -> None:
    """Tell how new statements relate to old ones: merge, supersede or keep both."""
    from kinkeeper.cli.statements import relate_file

    if relate_file(file):
        raise typer.Exit(2)


@located
def classify(
    where: Where,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='JSON lines {"id", "text"}; "-": input.')
    ],
) -> None:
    """Tell which category of memory statements belong to."""
    from kinkeeper.cli.statements import classify_file

    if classify_file(file, where):
        raise typer.Exit(2)
