"""What a measurement suite returns: tables for people, floors for CI, the worst mistakes."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table of results.

    Attributes:
        title: What was measured, on which data.
        columns: Headings.
        rows: Cells, as many as headings; ratios are floats in [0, 1], counts ints.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """A figure that must not drop.

    Attributes:
        name: What the figure is.
        value: What was measured now.
        minimum: The floor; a lower value fails.
    """

    name: str
    value: float
    minimum: float

    @property
    def holds(self) -> bool:
        """Whether the value reaches the floor."""
        return self.value >= self.minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The outcome of one suite.

    Attributes:
        suite: Its name on the command line.
        tables: Results, per data set and slice.
        floors: Figures that CI checks.
        worst: The most telling mistakes, a line each.
    """

    suite: str
    tables: tuple[Table, ...]
    floors: tuple[Floor, ...]
    worst: tuple[str, ...]


def share(verdicts: Iterable[bool], *, of_none: float = 0.0) -> float:
    """Return the share of true ones, in [0, 1].

    Args:
        verdicts: Of each thing that was judged.
        of_none: What it is where nothing was judged.
    """
    found = list(verdicts)
    return sum(found) / len(found) if found else of_none
