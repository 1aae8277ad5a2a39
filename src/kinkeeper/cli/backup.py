"""`kinkeeper backup`: a consistent copy of the database while it is in use."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.bootstrap import database_address
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import settings_of
from kinkeeper.cli.terminal import notice
from kinkeeper.store.store import Store

app = typer.Typer()


@app.command()
@located
def backup(
    where: Where,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="New file to write.")],
) -> None:
    """Copy the database to a file, also while it is in use."""
    with Store.open(where.db or database_address(settings_of(where))) as store:
        store.backup_to(file)
    notice(f"wrote {file}; it contains the family's data, so keep it where only you can read it")
