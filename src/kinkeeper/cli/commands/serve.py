"""`kinkeeper serve`: the API, the pages and the workers in one process."""

from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located
from kinkeeper.cli.memory import end_at_once, leave_out_unused


@located
def serve(
    where: Where,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="ADDRESS", help="Address to listen on; default is the setting HOST."
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="Port to listen on; default is the setting PORT, 0 picks a free port.",
        ),
    ] = None,
) -> None:
    """Run everything: web pages, API, chat bots and workers."""
    leave_out_unused()
    from kinkeeper.cli.server import serve_until_told

    serve_until_told(where, host=host, port=port)
    end_at_once()
