"""`kinkeeper sort`: which part of the assistant a request is for."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def sort(
    where: Where,
    text: Annotated[list[str], typer.Argument(help="What somebody says; quotes are not needed.")],
    json_: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Tell which domains a request is for."""
    from kinkeeper.cli.sorting import sort_text

    sort_text(" ".join(text), where, as_json=json_)
