"""What was superseded, and what is another's, comes out of memory by no path.

How chains are told and everything is asked stands in `evaluation.memory_leaks`, which `kinkeeper eval memory` runs, too.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Connection

from kinkeeper.core.time import VirtualClock
from kinkeeper.evaluation.memory_leaks import NOW, SESSION, leaking, outputs
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Household
from kinkeeper.household.viewing import HOUSEHOLD_SCOPE, person_scope
from kinkeeper.memory.context.streaming import Streaming
from kinkeeper.memory.finding.search import Finder
from kinkeeper.memory.model import Category, Episode, Observation, Origin
from kinkeeper.memory.writing import remember
from kinkeeper.store.store import Store
from live_household import HOUSEHOLD
from memory_chains import MANY_CHAINS, START

CANARY = "The canary sings in the cellar."


@cache
def family() -> Household:
    return load_household(HOUSEHOLD)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "memory.sqlite")) as opened:
        yield opened


def test_nothing_superseded_comes_out_of_a_few_chains(store: Store) -> None:
    leaks, tried = asyncio.run(leaking(store, family(), chains=20, seed=1))
    assert leaks == []
    assert tried > 20


@pytest.mark.slow
def test_nothing_superseded_comes_out_of_many_chains(store: Store) -> None:
    leaks, tried = asyncio.run(leaking(store, family(), chains=MANY_CHAINS, seed=2))
    assert leaks == []
    assert tried > MANY_CHAINS


def test_nothing_of_other_people_and_households_comes_out(store: Store) -> None:
    def place(conn: Connection, household: str, scope: str) -> None:
        episode = Episode(
            household=household, id=f"{household}/{scope}", session=SESSION, scope=scope,
            text=CANARY, member="sarah", said_at=START, origin=Origin.SAID,
        )  # fmt: skip
        observation = Observation(
            text=CANARY, start=0, end=len(CANARY), category=Category.IDENTITY, title=CANARY,
            narrative=CANARY,
        )  # fmt: skip
        remember(conn, episode, [observation], at=NOW)

    async def told(household: str) -> str:
        finder = Finder(store, household, zone=family().zone)
        streaming = Streaming(store, finder, VirtualClock(NOW))
        people = replace(family(), id=household)
        return await outputs(
            store, people, ["Where does the canary sing?"], streaming=streaming, finder=finder
        )

    store.write_now(lambda conn: place(conn, "h", person_scope("sarah")))
    store.write_now(lambda conn: place(conn, "elsewhere", HOUSEHOLD_SCOPE))
    assert "cellar" not in asyncio.run(told("h"))
    assert "cellar" in asyncio.run(told("elsewhere"))
