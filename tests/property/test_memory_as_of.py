"""What a search as of a time finds is what held then: the same as history tells, and now the same as any search."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import Connection

from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.browser import as_of
from kinkeeper.memory.confidence import GONE, confidence_now
from kinkeeper.memory.finding.search import Finder, Hit, HitKind, Search
from kinkeeper.store.store import Store
from memory_chains import MANY_CHAINS, NOW, START, Said, chains, say

FEW = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
_households = count()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path: Path = tmp_path_factory.mktemp("as_of") / "memory.sqlite"
    with Store.open(str(path)) as opened:
        yield opened


def searched(finder: Finder, search: Search) -> list[Hit]:
    return list(asyncio.run(finder.search(search, patience=60)).hits)


def held(store: Store, viewer: Viewer, instant: datetime) -> set[str]:
    facts = store.read_now(lambda conn: as_of(conn, viewer, instant))
    return {fact.id for fact in facts if confidence_now(fact, instant) > GONE}


def check(store: Store, chain: list[Said]) -> None:
    household = f"h{next(_households)}"
    viewer = Viewer.of(household, "john")
    finder = Finder(store, household, zone=ZoneInfo("UTC"))

    def told(conn: Connection) -> None:
        for place, said in enumerate(chain):
            say(conn, place, said, household=household)

    store.write_now(told)
    plain = Search(
        text=" ".join(said.text for said in chain),
        viewer=viewer,
        now=NOW,
        limit=50,
        is_diverse=False,
    )
    for said in chain:
        for instant in (
            START + timedelta(days=said.day, microseconds=-1),
            START + timedelta(days=said.day),
        ):
            hits = searched(finder, replace(plain, as_of=instant))
            found = {hit.id for hit in hits if hit.kind is HitKind.FACT}
            assert found == held(store, viewer, instant)
            assert all(hit.at <= instant for hit in hits if hit.kind is HitKind.EPISODE)
    assert searched(finder, replace(plain, as_of=NOW)) == searched(finder, plain)
    assert searched(finder, replace(plain, as_of=NOW + timedelta(days=9))) == searched(
        finder, plain
    )


@given(chains)
@FEW
def test_a_search_as_of_a_time_finds_what_held_then(store: Store, chain: list[Said]) -> None:
    check(store, chain)


@pytest.mark.nightly
@given(chains)
@settings(FEW, max_examples=MANY_CHAINS)
def test_a_search_as_of_a_time_finds_what_held_then_in_many_chains(
    store: Store, chain: list[Said]
) -> None:
    check(store, chain)
