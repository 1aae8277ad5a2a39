"""The pure rules of memory's nights: what crowds together, what is near, when a person is asked."""

import numpy as np
import pytest

from kinkeeper.memory.upkeep.consolidation import asks
from kinkeeper.memory.upkeep.neighbourhood import Block, Near, Nearest
from kinkeeper.memory.upkeep.recurrence import SMALLEST, clusters
from kinkeeper.models.embedding.embedder import Vectors, normalised

DIMENSION = 32


def around(middle: int, count: int, spread: float, rng: np.random.Generator) -> Vectors:
    """Vectors near one axis."""
    found = spread * rng.normal(size=(count, DIMENSION))
    found[:, middle] += 1
    return normalised(found)


@pytest.mark.parametrize(
    ("leaving", "active", "is_asked"),
    [
        (0, 0, False),
        (3, 4, False),
        (4, 10, True),
        (5, 100, False),
        (6, 100, True),
        (50, 1000, False),
    ],
)
def test_a_person_is_asked_when_much_would_leave(leaving: int, active: int, is_asked: bool) -> None:
    assert asks(leaving, active) is is_asked


@pytest.mark.slow
def test_what_crowds_together_is_found_and_what_stands_alone_is_left() -> None:
    rng = np.random.default_rng(5)
    alone = normalised(rng.normal(size=(40, DIMENSION)))
    first, second = around(0, 5, 0.03, rng), around(7, 4, 0.03, rng)
    found = clusters(np.vstack([first, alone, second]), floor=0.8)
    assert [sorted(each) for each in found] == [[0, 1, 2, 3, 4], [45, 46, 47, 48]]


@pytest.mark.slow
def test_a_loose_heap_is_no_habit() -> None:
    rng = np.random.default_rng(6)
    assert clusters(around(3, 20, 0.4, rng), floor=0.95) == []
    assert clusters(around(3, SMALLEST - 1, 0.01, rng), floor=0.5) == []


def test_the_nearest_of_its_own_group_are_found_whatever_the_blocks() -> None:
    rng = np.random.default_rng(7)
    stored = normalised(rng.normal(size=(200, DIMENSION)))
    queries = normalised(rng.normal(size=(9, DIMENSION)))
    ids = [f"f{number:03}" for number in range(200)]
    groups = ["a" if number % 3 else "b" for number in range(200)]
    wanted = ["a", "b", "c"] * 3
    whole = [Block(ids, groups, stored)]
    parts = [
        Block(ids[at : at + 7], groups[at : at + 7], stored[at : at + 7]) for at in range(0, 200, 7)
    ]

    def found_in(blocks: list[Block]) -> list[list[Near]]:
        looking = Nearest(queries, wanted, floor=0.1, count=5)
        for block in blocks:
            looking.look_at(block)
        return looking.found()

    found, again = found_in(whole), found_in(parts)
    cosines = stored @ queries.T
    for number, near in enumerate(found):
        fitting = [row for row in range(200) if groups[row] == wanted[number]]
        best = sorted(fitting, key=lambda row: -cosines[row, number])[:5]
        expected = [ids[row] for row in best if cosines[row, number] >= 0.1]
        assert [each.id for each in near] == expected == [each.id for each in again[number]]
