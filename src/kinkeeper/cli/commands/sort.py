"""`kinkeeper sort`: which part of the assistant a request is for."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def sort(
    where: Where,
    text: Annotated[list[str], typer.Argument(help="A request; no quotes needed.")],
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which domains a request belongs to."""
    from kinkeeper.cli.sort_check import sort_text

    sort_text(" ".join(text), where, as_json=json_)
