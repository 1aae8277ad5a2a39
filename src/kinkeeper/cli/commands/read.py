"""`kinkeeper read`: what texts say, as frames."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def read(
    where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines {"id", "text", "speaker", "sent_at", "surface", "context"?: [{"text", "speaker"}]}; '
            '"-" reads stdin.',
        ),
    ],
    *,
    model: Annotated[
        bool,
        typer.Option(
            "--model",
            help="Read the lines as one group chat, in batches, with the language model of the settings.",
        ),
    ] = False,
) -> None:
    """Show what the trained reader, or a language model, makes of texts."""
    if model:
        from kinkeeper.cli.reading_talk import read_talk as read_all
    else:
        from kinkeeper.cli.reading_file import read_file as read_all

    if read_all(where, file):
        raise typer.Exit(2)
