"""Lets a new SQLite file of this process begin as a copy of a migrated one: migrating it takes a fifth of a second of CPU."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from sqlalchemy import URL

from kinkeeper.store import engines
from kinkeeper.store.store import Store

really_create: Callable[[URL], None] = engines.create_file


def create_migrated(url: URL) -> None:
    """Do what `engines.create_file` does; a file that is created has all tables already, with no row in them."""
    path = Path(str(url.database))
    if path.exists() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        really_create(url)
        return
    beside = path.with_name(f"{path.name}.{uuid4().hex}")
    really_create(url.set(database=str(beside)))
    beside.write_bytes(_migrated())
    try:
        # Another thread may be creating it too: who comes second finds it there.
        os.link(beside, path)
    except FileExistsError:
        pass
    finally:
        beside.unlink()


@cache
def _migrated() -> bytes:
    from kinkeeper.jobs.queue import JobQueue  # noqa: PLC0415 - slow to load, and often not needed

    with TemporaryDirectory() as folder:
        path = Path(folder) / "migrated.db"
        really_create(URL.create("sqlite", database=str(path)))
        with Store.open(str(path)) as store:
            JobQueue(store).close()
            store.fold_log()
        return path.read_bytes()
