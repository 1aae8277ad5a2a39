"""The order in which words arrive changes nothing, what held when is known, and every change is taken back.

How chains are told stands in `evals.memory_laws`, which `kinkeeper eval laws` runs with a thousand of them.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from evals import memory_moments
from evals.memory_laws import Laws, try_laws
from kinkeeper.household.file import load_household
from kinkeeper.memory import fact_sync, undo
from kinkeeper.store.store import Store
from live_household import HOUSEHOLD


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "memory.sqlite")) as opened:
        yield opened


def tried(store: Store, numbers: range, seed: int = 1) -> Laws:
    laws = Laws()
    asyncio.run(try_laws(store, load_household(HOUSEHOLD), numbers, seed=seed, into=laws))
    return laws


def assert_kept(laws: Laws) -> None:
    assert (laws.differing, laws.wrong, laws.not_restored) == (0, 0, 0), laws.found
    assert min(laws.orders, laws.moments, laws.taken_back) > laws.chains


def test_a_few_chains_keep_the_laws(store: Store) -> None:
    assert_kept(tried(store, range(4)))


@pytest.mark.slow
def test_some_chains_keep_the_laws(store: Store) -> None:
    assert_kept(tried(store, range(100, 130)))


def test_an_order_that_matters_is_found(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_sync, "updated_fact", lambda old, *_, **__: old)
    assert tried(store, range(4)).differing


def test_a_feeling_that_does_not_end_is_found(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_moments, "FEELINGS_LAST", 2 * memory_moments.FEELINGS_LAST)
    assert tried(store, range(4)).wrong


def test_what_is_not_put_back_is_found(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo, "_put_back", lambda *_: None)
    assert tried(store, range(4)).not_restored
