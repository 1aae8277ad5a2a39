"""`kinkeeper init`: a household file and settings to start with."""

from pathlib import Path
from typing import Annotated

import typer


def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to write them.")] = Path(),
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing; take what is usual.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Write a commented household file and settings to start with."""
    from kinkeeper.cli.starting import start

    start(folder, is_asking=not yes, is_replacing=force)
