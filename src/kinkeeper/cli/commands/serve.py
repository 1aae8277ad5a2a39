"""`kinkeeper serve`: the API, the pages and the workers in one process."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located
from kinkeeper.cli.memory import leave_out_unused


@located
def serve(
    where: Where,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Listen there; HOST otherwise.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65535, help="Listen there; PORT otherwise, 0 any free one."
        ),
    ] = None,
) -> None:
    """Serve the API and the pages, and understand messages, until told to stop."""
    leave_out_unused()
    from kinkeeper.cli.serving import serve_until_told

    serve_until_told(where, host=host, port=port)
