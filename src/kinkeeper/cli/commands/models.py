"""`kinkeeper models`: which language models there are, how they do, and what they were used for."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def models(
    where: Where,
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days of calls to count.")] = 7,
    json_: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Show model servers, roles, calls, failures, fallbacks and today's budget."""
    from kinkeeper.cli.model_figures import show_models

    show_models(where, days=days, as_json=json_)
