"""Whether two databases were left in the same state, told in a few lines where they were not."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any


def assert_same_tables(
    found: Mapping[str, Sequence[Any]], wanted: Mapping[str, Sequence[Any]]
) -> None:
    """Fail with each table's first row that differs; a whole table's difference reads as noise.

    Args:
        found: Rows by table; tables that are not wanted are left out.
        wanted: Rows by table.
    """
    told = []
    for table, rows in wanted.items():
        pairs = enumerate(zip_longest(found[table], rows))
        differing = [(number, *pair) for number, pair in pairs if pair[0] != pair[1]]
        if differing:
            number, here, there = differing[0]
            told.append(
                f"{table}: {len(differing)} of {len(rows)} rows, first row {number}:\n"
                f"  found  {here}\n  wanted {there}"
            )
    assert not told, "\n".join(told)
