"""What was superseded, and what is another's, comes out of memory by no path.

How chains are told and everything is asked stands in `evals.memory_leaks`, which `kinkeeper eval leaks` runs, too.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Connection

from evals.memory_leaks import Leaks, leaking
from evals.memory_paths import Paths
from kinkeeper.conversation import looking_back
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_scope
from kinkeeper.memory.context.prefetch import Streaming
from kinkeeper.memory.finding import visible_results
from kinkeeper.memory.finding.search import Finder
from kinkeeper.memory.ingest import remember
from kinkeeper.memory.model import Category, Episode, Observation, Origin
from kinkeeper.observer.wording.participants import compile_participants
from kinkeeper.store.store import Store
from live_household import HOUSEHOLD
from memory_chains import NOW, START

CANARY = "The canary sings in the cellar."
SESSION = "s"


@cache
def family() -> Household:
    return load_household(HOUSEHOLD)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "memory.sqlite")) as opened:
        yield opened


def told(store: Store, chains: int) -> Leaks:
    leaks = Leaks()
    asyncio.run(leaking(store, family(), range(chains), seed=1, into=leaks))
    return leaks


def test_nothing_superseded_comes_out_of_a_few_chains(store: Store) -> None:
    leaks = told(store, 25)
    assert leaks.found == []
    assert leaks.tried > 25


def test_what_is_not_cut_out_of_turns_is_found(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visible_results, "still_true", lambda text, _: text)
    assert {"search", "brain"} <= {*told(store, 10).paths}


def test_what_is_not_cut_out_of_a_talk_is_found(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking_back, "turns_now", lambda *_, **__: {})
    assert "talk" in told(store, 10).paths


def test_nothing_of_other_people_and_households_comes_out(store: Store) -> None:
    def place(conn: Connection, household: str, scope: str) -> None:
        episode = Episode(
            household=household,
            id=f"{household}/{scope}",
            session=SESSION,
            scope=scope,
            text=CANARY,
            member="sarah",
            said_at=START,
            origin=Origin.SAID,
        )
        observation = Observation(
            text=CANARY,
            start=0,
            end=len(CANARY),
            category=Category.IDENTITY,
            title=CANARY,
            narrative=CANARY,
        )
        remember(conn, episode, [observation], at=NOW)

    async def said(household: str) -> str:
        clock, people = VirtualClock(NOW), replace(family(), id=household)
        finder = Finder(store, household, zone=family().zone)
        paths = Paths(
            store,
            people,
            "john",
            clock=clock,
            finder=finder,
            streaming=Streaming(store, finder, clock),
            participants=compile_participants(people),
        )
        return "\n".join((await paths.says(["Where does the canary sing?"], [SESSION])).values())

    store.write_now(lambda conn: place(conn, "h", person_scope("sarah")))
    store.write_now(lambda conn: place(conn, "elsewhere", HOUSEHOLD_SCOPE))
    assert "cellar" not in asyncio.run(said("h"))
    assert "cellar" in asyncio.run(said("elsewhere"))
