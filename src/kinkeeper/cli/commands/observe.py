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
    with_model: Annotated[
        bool, typer.Option("--with-model", help="Let the configured model read the talk, too.")
    ] = False,
    enqueue: Annotated[
        bool,
        typer.Option(
            "--enqueue", help="Only store the messages; `kinkeeper worker` reads them later."
        ),
    ] = False,
) -> None:
    """Replay a group chat; prints one decision per line."""
    from kinkeeper.cli.input import lines_of

    if enqueue and (until or into or with_model):
        raise typer.BadParameter(
            "--until, --into and --with-model need a replay, and --enqueue does not replay"
        )
    with lines_of(file) as lines:
        if enqueue:
            from kinkeeper.cli.chat_intake import enqueue_chat

            bad = enqueue_chat(where, lines)
        else:
            from kinkeeper.cli.chat_replay import replay_chat

            bad = replay_chat(where, lines, until=until, into=into, with_model=with_model)
    if bad:
        raise typer.Exit(2)
