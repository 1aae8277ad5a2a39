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
            '"pending"?: {"confirmation_message"}}; "-": input.',
        ),
    ],
) -> None:
    """Tell where messages to the assistant go: talk, which parts are meant, what answers an open question."""
    from kinkeeper.cli.routing import route_file

    if route_file(file, where):
        raise typer.Exit(2)
