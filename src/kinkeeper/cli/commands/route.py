"""`kinkeeper route`: where messages to the assistant would go."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def route(
    where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines {"id", "text", "history"?: [{"role", "text"}], '
            '"pending"?: {"confirmation_message"}}; "-" reads stdin.',
        ),
    ],
) -> None:
    """Show how messages to the assistant are routed."""
    from kinkeeper.cli.route_check import route_file

    if route_file(file, where):
        raise typer.Exit(2)
