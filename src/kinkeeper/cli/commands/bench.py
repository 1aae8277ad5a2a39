"""`kinkeeper bench`: speed as ratios to a limit or peer of the same run."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def bench(
    _where: Where,
    suite: Annotated[
        str, typer.Argument(metavar="[SUITE]", help="Name of one suite, or all of them.")
    ] = "all",
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", envvar="KINKEEPER_DATA", help="Folder with real messages to time with."
        ),
    ] = None,
    seconds: Annotated[
        int | None,
        typer.Option(min=5, help="How long ingest and idle watch a server; 180 and 60 otherwise."),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            min=1_000, help="How many memories the suite memory searches; 100,000 otherwise."
        ),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Measure the hot paths against a limit or a peer."""
    from kinkeeper.cli.timing import Extent, run_benchmarks

    if not run_benchmarks(
        suite, data=data, extent=Extent(seconds=seconds, rows=rows), as_json=json_
    ):
        raise typer.Exit(1)
