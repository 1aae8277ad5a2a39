"""`kinkeeper restore`: puts a backup in the place of the database."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def restore(
    where: Where,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Backup file.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only check the backup and show what it contains.")
    ] = False,
) -> None:
    """Replace the database with a checked backup."""
    from kinkeeper.cli.backup_restore import check, put_in_place

    if dry_run:
        check(where, file)
    else:
        put_in_place(where, file)
