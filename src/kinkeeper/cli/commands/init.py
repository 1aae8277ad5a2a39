"""`kinkeeper init`: a household file and settings to start with."""

from pathlib import Path
from typing import Annotated

import typer


def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Folder to write to.")] = Path(),
    yes: Annotated[bool, typer.Option("--yes", help="Use defaults instead of asking.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Create a household file and settings for your family."""
    from kinkeeper.cli.setup_questions import start

    start(folder, is_asking=not yes, is_replacing=force)
