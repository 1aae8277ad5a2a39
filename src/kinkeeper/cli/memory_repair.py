"""Mends memories that are broken, as far as working them out anew can."""

from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import opened_houses
from kinkeeper.cli.terminal import notice
from kinkeeper.core.time import SystemClock
from kinkeeper.memory.invariants import check, mend


def mend_memories(where: Where) -> None:
    """Work broken memories of all households out anew, and say how many there were.

    Args:
        where: Households and database.

    Raises:
        KinkeeperError: A household or the database cannot be used.
    """
    now = SystemClock().now()
    with opened_houses(where) as houses:
        for household, system in houses.by_id.items():
            count = system.store.write_now(partial(_mend, household=household, now=now))
            notice(f"{household}: {count} memories rebuilt")


def _mend(conn: Connection, *, household: str, now: datetime) -> int:
    breaches = check(conn, household)
    count = sum(len(each.ids) for each in breaches if each.is_mendable)
    if count:
        mend(conn, household, breaches, at=now)
    return count
