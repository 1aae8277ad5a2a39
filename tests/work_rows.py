"""A table of work of tests' own, and its rows: what claims, works off and finishes them is told by their kind alone."""

from typing import Any

from sqlalchemy import Column, MetaData, Row, String, Table, select

from kinkeeper.jobs import leases
from kinkeeper.jobs.leases import Key
from kinkeeper.store.store import Store

metadata = MetaData()
work = Table(
    "work",
    metadata,
    Column("household", String, primary_key=True),
    Column("id", String, primary_key=True),
    *leases.work_columns(),
)


class WorkRows:
    """A store with that table."""

    def __init__(self, store: Store) -> None:
        self.store = store
        store.write_now(metadata.create_all)

    def row(self, name: str) -> Row[Any]:
        return self.store.read_now(
            lambda conn: conn.execute(select(work).where(work.c.id == name)).one()
        )

    async def finish(self, key: Key, epoch: int) -> None:
        await self.store.write(lambda conn: leases.finish(conn, work, key, epoch))
