"""Runs the benchmark modules and shows what they measured."""

import pkgutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

from rich.table import Table
from rich.text import Text

from kinkeeper import benchmarks
from kinkeeper.benchmarks.report import Figure, Ratio
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.errors import InputError

_ALL = frozenset({"all", "observer"})
_READ_DATA = frozenset({"tripwire"})
_LAST_AS_TOLD = frozenset({"conversation", "idle", "ingest"})
_AS_LARGE_AS_TOLD = frozenset({"memory"})
_NOT_SUITES = frozenset({"cost", "report", "serving"})
_HEADINGS = ("what", "median µs", "p99 µs", "peer", "ratio or value", "target", "")
_ON_THE_LEFT = frozenset({"what", "peer", ""})
_VERDICTS = {None: ("", ""), True: ("ok", "green"), False: ("MISSED", "bold red")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much is measured; each suite's own measure where None.

    Attributes:
        seconds: How long a server is watched.
        rows: How many memories are searched.
    """

    seconds: int | None = None
    rows: int | None = None


def run_benchmarks(suite: str, *, data: Path | None, extent: Extent, as_json: bool) -> bool:
    """Run one suite or all of them, and show the figures.

    Args:
        suite: Name of a benchmark module, "observer" or "all".
        data: Folder with real messages, for the suites that read some.
        extent: For the suites that can do more or less.
        as_json: Answer with one JSON list.

    Returns:
        Whether every target was reached.

    Raises:
        InputError: There is no such suite.
    """
    known = sorted(
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if module.name not in _NOT_SUITES
    )
    if suite not in {*known, *_ALL}:
        raise InputError(f"no suite {suite!r}; known are all, {', '.join(known)}")
    found: list[Ratio | Figure] = []
    for name in known if suite in _ALL else [suite]:
        notice(f"measuring {name} …")
        found += _measured(name, data, extent)
    if as_json:
        answer_json([_record(each) for each in found])
    else:
        console().print(_table(found))
    return all(holds(each) is not False for each in found)


def holds(found: Ratio | Figure) -> bool | None:
    """Whether a figure reaches its target; None where it has none."""
    if found.target is None:
        return None
    if isinstance(found, Figure):
        return found.value <= found.target
    measured = found.p99_microseconds if found.ratio is None else found.ratio
    return measured <= found.target


def _measured(name: str, data: Path | None, extent: Extent) -> Sequence[Ratio | Figure]:
    measure = import_module(f"kinkeeper.benchmarks.{name}").measure
    found: Sequence[Ratio | Figure]
    if name in _READ_DATA:
        found = measure(data)
    elif name in _LAST_AS_TOLD and extent.seconds is not None:
        found = measure(extent.seconds)
    elif name in _AS_LARGE_AS_TOLD and extent.rows is not None:
        found = measure(extent.rows)
    else:
        found = measure()
    return found


def _record(found: Ratio | Figure) -> dict[str, object]:
    ratio = {"ratio": found.ratio} if isinstance(found, Ratio) else {}
    return {**asdict(found), **ratio, "holds": holds(found)}


def _table(found: Sequence[Ratio | Figure]) -> Table:
    table = Table()
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if heading in _ON_THE_LEFT else "right")
    for each in found:
        table.add_row(*_row(each), Text(*_VERDICTS[holds(each)]))
    return table


def _row(found: Ratio | Figure) -> tuple[str, ...]:
    target = "" if found.target is None else f"≤ {found.target:g}"
    if isinstance(found, Figure):
        return found.name, "", "", "", f"{found.value:,.4g} {found.unit}", target
    unit = "µs p99" if found.ratio is None else "x"
    return (
        found.name,
        f"{found.microseconds:,.1f}",
        f"{found.p99_microseconds:,.1f}",
        found.peer,
        "" if found.ratio is None else f"{found.ratio:.2f}",
        target and f"{target} {unit}",
    )
