"""`kinkeeper observe`: replays a chat file, or stores it for workers."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def observe(
    where: Where,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='Chat as JSON lines; "-" reads stdin.')
    ],
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Let the virtual clock run until this time.")
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Add the result to this database; default is a scratch database."
        ),
    ] = None,
    enqueue: Annotated[
        bool,
        typer.Option(
            "--enqueue", help="Only store the messages; `kinkeeper worker` reads them later."
        ),
    ] = False,
) -> None:
    """Replay a group chat; prints one decision per line."""
    from kinkeeper.cli.input import lines_of

    if enqueue and (until or into):
        raise typer.BadParameter("--until and --into need a replay, and --enqueue does not replay")
    with lines_of(file) as lines:
        if enqueue:
            from kinkeeper.cli.enqueuing import enqueue_chat

            bad = enqueue_chat(where, lines)
        else:
            from kinkeeper.cli.observing import replay_chat

            bad = replay_chat(where, lines, until=until, into=into)
    if bad:
        raise typer.Exit(2)
