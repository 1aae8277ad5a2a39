"""Runs the benchmark modules and shows what they measured."""

import pkgutil
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from rich.table import Table
from rich.text import Text

from kinkeeper import benchmarks
from kinkeeper.benchmarks.report import Ratio
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.errors import InputError

_ALL = frozenset({"all", "observer"})
_READ_DATA = frozenset({"tripwire"})
_NOT_SUITES = frozenset({"report"})


def run_benchmarks(suite: str, *, data: Path | None, as_json: bool) -> bool:
    """Run one suite or all of them, and show the figures.

    Args:
        suite: Name of a benchmark module, "observer" or "all".
        data: Folder with real messages, for the suites that read some.
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
        raise InputError(f"no suite {suite!r}; known are all, observer, {', '.join(known)}")
    found: list[Ratio] = []
    for name in known if suite in _ALL else [suite]:
        notice(f"measuring {name} …")
        measure = import_module(f"kinkeeper.benchmarks.{name}").measure
        found += measure(data) if name in _READ_DATA else measure()
    if as_json:
        answer_json([{**asdict(each), "ratio": each.ratio, "holds": holds(each)} for each in found])
    else:
        console().print(_table(found))
    return all(holds(each) is not False for each in found)


def holds(found: Ratio) -> bool | None:
    """Whether a figure reaches its target; None where it has none."""
    if found.target is None:
        return None
    measured = found.p99_microseconds if found.ratio is None else found.ratio
    return measured <= found.target


def _table(found: list[Ratio]) -> Table:
    table = Table()
    for heading in ("what", "median µs", "p99 µs", "peer", "ratio", "target", ""):
        table.add_column(heading, justify="left" if heading in {"what", "peer", ""} else "right")
    for each in found:
        verdict = {None: Text(""), True: Text("ok", "green"), False: Text("MISSED", "bold red")}
        unit = "µs p99" if each.ratio is None else "x"
        table.add_row(
            each.name,
            f"{each.microseconds:,.1f}",
            f"{each.p99_microseconds:,.1f}",
            each.peer,
            "" if each.ratio is None else f"{each.ratio:.2f}",
            "" if each.target is None else f"≤ {each.target:g} {unit}",
            verdict[holds(each)],
        )
    return table
