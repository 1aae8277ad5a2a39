"""`kinkeeper backup` and `kinkeeper restore`: a copy of the database in use, and putting it back."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kinkeeper.bootstrap import database_address
from kinkeeper.channels.telegram import progress as _telegram  # noqa: F401 - makes its tables known
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import settings_of
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer, notice
from kinkeeper.core.time import SystemClock
from kinkeeper.jobs import runners as _jobs  # noqa: F401 - makes its tables known
from kinkeeper.store import backups as store_restore
from kinkeeper.store.backups import BackupContents, check_backup, restorable
from kinkeeper.store.schema import metadata
from kinkeeper.store.store import Store
from kinkeeper.web.access import logins as _access  # noqa: F401 - makes its tables known

app = typer.Typer()


@app.command()
@located
def backup(
    where: Where, file: Annotated[Path, typer.Argument(metavar="FILE", help="New file to write.")]
) -> None:
    """Copy the database to a file, also while it is in use."""
    with Store.open(where.db or database_address(settings_of(where))) as store:
        store.backup_to(file)
    notice(f"wrote {file}; it contains the family's data, so keep it where only you can read it")


# `kinkeeper restore`: puts a backup in the place of the database.


@app.command()
@located
def restore(
    where: Where,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Backup file.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only check the backup and show what it contains.")
    ] = False,
) -> None:
    """Replace the database with a checked backup."""
    if dry_run:
        _check(where, file)
    else:
        _put_in_place(where, file)


def _check(where: Where, file: Path) -> None:
    """Check a backup and show what it holds; changes nothing."""
    database = restorable(_address(where))
    _show(check_backup(file, tables=metadata.tables.keys()))
    answer(f"{file} is intact; it could replace {database}")


def _put_in_place(where: Where, file: Path) -> None:
    """Check a backup, show what it holds, and put it in the place of the database."""
    address = _address(where)
    kept = store_restore.restore(
        address, file, tables=metadata.tables.keys(), at=SystemClock().now(), on_checked=_show
    )
    answer(f"restored {restorable(address)} from {file}")
    if kept is not None:
        answer(
            f"the replaced database is {kept}; it contains the family's data, so delete it when you no longer need it"
        )


def _address(where: Where) -> str:
    return where.db or database_address(settings_of(where))


def _show(contents: BackupContents) -> None:
    table = Table(title=f"Schema {contents.schema}", title_justify="left")
    table.add_column("table")
    table.add_column("rows", justify="right")
    for name, rows in contents.rows.items():
        table.add_row(name, str(rows))
    console().print(table)
