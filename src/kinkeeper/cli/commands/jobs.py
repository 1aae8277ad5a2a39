"""`kinkeeper jobs`: how much work waits, is under way, is done or has failed."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def jobs(
    where: Where,
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days of work to count.")] = 7,
    json_: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Show what the workers have to do and did, by kind of work, and what needs a look."""
    from kinkeeper.cli.job_figures import show_jobs

    show_jobs(where, days=days, as_json=json_)
