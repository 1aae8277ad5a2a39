"""`kinkeeper backup`: a consistent copy of the database while it is in use."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def backup(
    where: Where,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that does not exist yet.")],
) -> None:
    """Write a consistent copy of the database; it may be in use meanwhile."""
    from kinkeeper.bootstrap import database_address
    from kinkeeper.cli.opening import settings_of
    from kinkeeper.cli.terminal import notice
    from kinkeeper.store.store import Store

    with Store.open(where.db or database_address(settings_of(where))) as store:
        store.backup_to(file)
    notice(f"wrote {file}; it holds the family's data, so keep it where only you can read it")
