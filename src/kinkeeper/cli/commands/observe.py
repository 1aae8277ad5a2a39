"""`kinkeeper observe`: replays a chat file, or takes it in for workers."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def observe(
    where: Where,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='Chat as JSON lines; "-" reads the input.')
    ],
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Let the clock run on to this time.")
    ] = None,
    enqueue: Annotated[
        bool,
        typer.Option(
            "--enqueue", help="Only take the messages in; `kinkeeper worker` understands them."
        ),
    ] = False,
) -> None:
    """Replay a chat on a virtual clock, by rules alone; a decision a line."""
    from kinkeeper.cli.input import lines_of

    if enqueue and until:
        raise typer.BadParameter("--until moves a virtual clock, and --enqueue has none")
    with lines_of(file) as lines:
        if enqueue:
            from kinkeeper.cli.enqueuing import enqueue_chat

            bad = enqueue_chat(where, lines)
        else:
            from kinkeeper.cli.observing import replay_chat

            bad = replay_chat(where, lines, until)
    if bad:
        raise typer.Exit(2)
