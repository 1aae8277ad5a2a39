"""`kinkeeper eval`: accuracy, measured from a checkout of the repository."""

import typer

from kinkeeper.cli.checkout import PASSED_ON, run_from_checkout

app = typer.Typer()


@app.command("eval", context_settings=PASSED_ON)
def eval_(context: typer.Context) -> None:
    """Measure accuracy on labelled data; needs a checkout."""
    run_from_checkout("evals", context)
