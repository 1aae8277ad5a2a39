"""`kinkeeper jobs`: how much work waits, is under way, is done or has failed."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def jobs(
    where: Where,
    days: Annotated[int, typer.Option(min=1, max=366, help="Number of days to include.")] = 7,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show queued, running, finished and failed background work."""
    from kinkeeper.cli.job_figures import show_jobs

    show_jobs(where, days=days, as_json=json_)
