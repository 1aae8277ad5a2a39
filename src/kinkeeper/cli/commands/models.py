"""`kinkeeper models`: which language models there are, how they do, and what they were used for."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def models(
    where: Where,
    days: Annotated[int, typer.Option(min=1, max=366, help="Number of days to include.")] = 7,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show language model usage, failures and today's budget."""
    from kinkeeper.cli.model_figures import show_models

    show_models(where, days=days, as_json=json_)
