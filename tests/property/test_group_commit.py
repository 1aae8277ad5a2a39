"""Whatever waits together and whatever fails of it: the outcome is that of one unit after the other."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Column, Connection, Integer, MetaData, Table, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from kinkeeper.store.store import Store

metadata = MetaData()
scraps = Table(
    "scraps", metadata, Column("id", Integer, primary_key=True), Column("total", Integer)
)

Ending = Literal["kept", "refused", "rehearsed"]
Row = tuple[int, int]


@dataclass(frozen=True)
class Unit:
    """Inserts rows that say how many there were before, and may change its mind."""

    ids: tuple[int, ...]
    ending: Ending

    def __call__(self, conn: Connection) -> int:
        for number in self.ids:
            total = conn.execute(select(func.count()).select_from(scraps)).scalar_one()
            conn.execute(insert(scraps), {"id": number, "total": total})
        if self.ending == "refused":
            raise ValueError(self.ids)
        return len(self.ids)


UNITS = st.lists(
    st.builds(
        Unit,
        ids=st.lists(st.integers(0, 9), max_size=3).map(tuple),
        ending=st.sampled_from(["kept", "kept", "kept", "refused", "rehearsed"]),
    ),
    min_size=2,
    max_size=12,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path: Path = tmp_path_factory.mktemp("group") / "scraps.db"
    with Store.open(str(path)) as opened:
        opened.write_now(metadata.create_all)
        yield opened


def rows(conn: Connection) -> list[Row]:
    return [(row.id, row.total) for row in conn.execute(select(scraps).order_by(scraps.c.id))]


async def ended(store: Store, unit: Unit) -> int | str:
    run: Callable[[Unit], object] = store.rehearse if unit.ending == "rehearsed" else store.write
    try:
        return await run(unit)  # type: ignore[no-any-return, misc]  # of one of the two
    except (ValueError, IntegrityError) as error:
        return type(error).__name__


async def one_by_one(store: Store, units: Sequence[Unit]) -> tuple[list[int | str], list[Row]]:
    return [await ended(store, unit) for unit in units], await store.read(rows)


async def together(store: Store, units: Sequence[Unit]) -> tuple[list[int | str], list[Row]]:
    """Let all wait behind one unit, so that they are one group."""
    is_held, go = threading.Event(), threading.Event()

    def hold(_conn: Connection) -> None:
        is_held.set()
        assert go.wait(10)

    holding = asyncio.ensure_future(store.write(hold))
    await asyncio.to_thread(is_held.wait, 10)
    waiting = [asyncio.ensure_future(ended(store, unit)) for unit in units]
    await asyncio.sleep(0)
    go.set()
    await holding
    return list(await asyncio.gather(*waiting)), await store.read(rows)


@given(units=UNITS)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_group_ends_as_its_units_one_by_one(store: Store, units: list[Unit]) -> None:
    store.write_now(lambda conn: conn.execute(delete(scraps)))
    grouped = asyncio.run(together(store, units))
    store.write_now(lambda conn: conn.execute(delete(scraps)))
    assert grouped == asyncio.run(one_by_one(store, units))
