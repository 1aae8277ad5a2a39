"""`kinkeeper restore`: puts a backup in the place of the database."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def restore(
    where: Where,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `kinkeeper backup` wrote.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the backup and tell what it holds; no more.")
    ] = False,
) -> None:
    """Check a backup and put it in the place of the database, which is kept beside."""
    from kinkeeper.cli.restoring import check, put_in_place

    if dry_run:
        check(where, file)
    else:
        put_in_place(where, file)
