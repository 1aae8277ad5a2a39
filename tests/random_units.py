"""Random units of work on the rows of many households, and the serial order that explains what they read.

Also a process of its own: `random_units.py ADDRESS SEED UNITS HOUSEHOLDS`.
"""

import asyncio
import random
import sys
from collections import Counter

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    func,
    insert,
    select,
    update,
)

from kinkeeper.store.store import Store

CELLS = 3
AT_ONCE = 16

metadata = MetaData()
cells = Table(
    "cells",
    metadata,
    Column("household", String(20), primary_key=True),
    Column("cell", Integer, primary_key=True),
    Column("value", Integer, nullable=False),
)
# No unique key: two units that see the same length would write the same position.
log = Table(
    "log",
    metadata,
    Column("household", String(20), index=True),
    Column("position", Integer),
    Column("unit", JSON),
    Column("seen", JSON),
)


def household(number: int) -> str:
    return f"house{number}"


def create(conn: Connection, households: int) -> None:
    metadata.create_all(conn)
    rows = [
        {"household": household(number), "cell": cell, "value": 1}
        for number in range(households)
        for cell in range(CELLS)
    ]
    conn.execute(insert(cells), rows)


def outcome(values: list[int], unit: list[int]) -> list[int]:
    """Return the cells after a unit: one of them becomes a function of all the others."""
    target, factor = unit
    changed = list(values)
    changed[target] = (sum(values) - values[target]) * factor % 1_000_003
    return changed


def run(conn: Connection, name: str, unit: list[int]) -> None:
    """Read all cells of a household, write one, and add what was read to its log."""
    mine = cells.c.household == name
    rows = conn.execute(select(cells.c.cell, cells.c.value).where(mine).order_by(cells.c.cell))
    seen = [value for _, value in rows]
    target = unit[0]
    changed = update(cells).where(mine, cells.c.cell == target)
    conn.execute(changed.values(value=outcome(seen, unit)[target]))
    length = select(func.count()).select_from(log).where(log.c.household == name)
    position = conn.execute(length).scalar_one()
    values = {"household": name, "position": position, "unit": unit, "seen": seen}
    conn.execute(insert(log), values)


async def work(store: Store, *, seed: int, units: int, households: int) -> None:
    """Run random units, some of which fail, many at once."""
    choice = random.Random(seed)  # noqa: S311 - to be repeated
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, unit: list[int], *, fails: bool) -> None:
        def do(conn: Connection) -> None:
            run(conn, name, unit)
            if fails:
                raise ValueError(name)

        async with slots:
            try:
                await store.locking(name).write(do)
            except ValueError:
                assert fails

    async with asyncio.TaskGroup() as tasks:
        for _ in range(units):
            name = household(choice.randrange(households))
            unit = [choice.randrange(CELLS), choice.randrange(1, 1000)]
            tasks.create_task(one(name, unit, fails=choice.random() < 0.02))


def unexplained(conn: Connection) -> list[str]:
    """Return the households whose logged units, one after the other, do not give what they read and left."""
    stored: dict[str, list[int]] = {}
    for name, _, value in conn.execute(select(cells).order_by(cells.c.household, cells.c.cell)):
        stored.setdefault(name, []).append(value)
    values = {name: [1] * CELLS for name in stored}
    lengths: Counter[str] = Counter()
    wrong = set()
    for name, position, unit, seen in conn.execute(
        select(log).order_by(log.c.household, log.c.position)
    ):
        if position != lengths[name] or seen != values[name]:
            wrong.add(name)
        lengths[name] += 1
        values[name] = outcome(values[name], unit)
    return sorted(wrong | {name for name in stored if stored[name] != values[name]})


def main() -> None:
    address, seed, units, households = sys.argv[1:]
    with Store.open(address) as store:
        asyncio.run(work(store, seed=int(seed), units=int(units), households=int(households)))


if __name__ == "__main__":
    main()
