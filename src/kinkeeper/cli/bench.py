"""`kinkeeper bench`: speed, measured from a checkout of the repository."""

import typer

from kinkeeper.cli.checkout import PASSED_ON, run_from_checkout

app = typer.Typer()


@app.command(context_settings=PASSED_ON)
def bench(context: typer.Context) -> None:
    """Run benchmarks against limits or other programs; needs a checkout."""
    run_from_checkout("bench", context)
