"""`python -m bench [SUITE]`: speed as ratios to a limit or peer of the same run; `bench.suites` has a module for each suite."""

import pkgutil
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from bench import suites
from bench.report import Figure, Ratio
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.errors import InputError

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

_ALL = frozenset({"all", "observer"})
_READ_DATA = frozenset({"tripwire"})
_LAST_AS_TOLD = frozenset({"conversation", "idle", "ingest"})
_AS_LARGE_AS_TOLD = frozenset({"memory"})
_HEADINGS = ("what", "median µs", "p99 µs", "peer", "ratio or value", "target", "")
_ON_THE_LEFT = frozenset({"what", "peer", ""})
_VERDICTS = {None: ("", ""), True: ("ok", "green"), False: ("MISSED", "bold red")}


@app.command()
def bench(
    suite: Annotated[
        str, typer.Argument(metavar="[SUITE]", help="Suite to run; all if omitted.")
    ] = "all",
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", envvar="KINKEEPER_DATA", help="Folder with the public data sets."
        ),
    ] = None,
    seconds: Annotated[
        int | None,
        typer.Option(
            min=5,
            help="How long the suites ingest and idle watch the server, in seconds (default 180 and 60).",
        ),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(min=1_000, help="Number of memories for the suite memory (default 100,000)."),
    ] = None,
    *,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run benchmarks against limits or other programs; fails if a target is missed."""
    known = sorted(module.name for module in pkgutil.iter_modules(suites.__path__))
    if suite not in {*known, *_ALL}:
        raise InputError(f"no suite {suite!r}; known are all, {', '.join(known)}")
    found: list[Ratio | Figure] = []
    for name in known if suite in _ALL else [suite]:
        notice(f"measuring {name} …")
        found += _measured(name, data, seconds=seconds, rows=rows)
    if json_:
        answer_json([_record(each) for each in found])
    else:
        console().print(_table(found))
    if not all(holds(each) is not False for each in found):
        raise typer.Exit(1)


def holds(found: Ratio | Figure) -> bool | None:
    """Whether a figure reaches its target; None where it has none."""
    if found.target is None:
        return None
    if isinstance(found, Figure):
        return found.value <= found.target
    measured = found.p99_microseconds if found.ratio is None else found.ratio
    return measured <= found.target


def _measured(
    name: str, data: Path | None, *, seconds: int | None, rows: int | None
) -> Sequence[Ratio | Figure]:
    measure = import_module(f"bench.suites.{name}").measure
    found: Sequence[Ratio | Figure]
    if name in _READ_DATA:
        found = measure(data)
    elif name in _LAST_AS_TOLD and seconds is not None:
        found = measure(seconds)
    elif name in _AS_LARGE_AS_TOLD and rows is not None:
        found = measure(rows)
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


if __name__ == "__main__":
    app()
