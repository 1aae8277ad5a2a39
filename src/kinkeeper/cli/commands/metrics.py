"""`kinkeeper metrics`: how silent the assistant was, and what its gates did."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def metrics(
    where: Where,
    days: Annotated[int, typer.Option(min=1, max=366, help="Number of days up to today.")] = 7,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how often it spoke and what people confirmed."""
    from kinkeeper.cli.metrics_report import show_metrics

    show_metrics(where, days=days, as_json=json_)
