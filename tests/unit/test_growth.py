"""Reading costs as much as the text is long, whatever is repeated in it, and never longer than others may wait."""

from collections.abc import Callable
from itertools import cycle, product
from string import ascii_lowercase

import pytest

from growth import cpu_seconds, grows_too_fast, takes_too_long
from repeated_texts import LONGEST, classes, repeated
from text_readers import IN_THREADS, READERS

SHORT = 500
MOST_SECONDS, MOST_SECONDS_IN_THREADS = 0.25, 1.0
MARK = 3


def costs(read: Callable[[str], object], token: str) -> Callable[[int], float]:
    """Return what measures reading a repeated token; each text begins with another mark, so none is in a cache."""
    marks = cycle(map("".join, product(ascii_lowercase, repeat=2)))

    def cost(size: int) -> float:
        text = f"{next(marks)} {repeated(token, size)}"
        return cpu_seconds(lambda: read(text), in_threads=True)

    return cost


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_eight_times_the_text_costs_eight_times_the_time(reader: str) -> None:
    read = READERS[reader]
    read("Leo has soccer on Tuesday at 4pm")
    found = {name: grows_too_fast(costs(read, token), SHORT) for name, token in classes().items()}
    assert not {name: told for name, told in found.items() if told}


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_the_longest_text_holds_nobody_up(reader: str) -> None:
    read = READERS[reader]
    most = MOST_SECONDS_IN_THREADS if reader in IN_THREADS else MOST_SECONDS
    read("Leo has soccer on Tuesday at 4pm")

    def told(token: str) -> str | None:
        cost = costs(read, token)
        return takes_too_long(lambda: cost(LONGEST - MARK), most)

    found = {name: told(token) for name, token in classes().items()}
    assert not {name: each for name, each in found.items() if each}


@pytest.mark.parametrize(("power", "is_too_fast"), [(1, False), (2, True), (3, True)])
def test_a_cost_that_grows_faster_than_the_size_is_found(power: int, is_too_fast: bool) -> None:
    def cost(size: int) -> float:
        return cpu_seconds(lambda: sum(number for number in range(16 * size**power)))

    smallest = {1: 50_000, 2: 100, 3: 12}[power]
    assert (grows_too_fast(cost, smallest) is not None) is is_too_fast


def test_what_takes_too_long_is_found() -> None:
    def cost() -> float:
        return cpu_seconds(lambda: sum(number for number in range(2_000_000)))

    assert takes_too_long(cost, 0.001)
    assert not takes_too_long(cost, 10.0)
