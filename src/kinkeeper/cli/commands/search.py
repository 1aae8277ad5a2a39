"""`kinkeeper search` and `kinkeeper recall`: what is remembered of something."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def search(
    where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines {"id", "query", "scope"?, "k"?, "types"?, "as_of"?}; "-": input.',
        ),
    ],
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make all vectors anew before searching.")
    ] = False,
) -> None:
    """Search memory for each line of a file; a line tells what was found."""
    from kinkeeper.cli.searching import search_file

    if search_file(where, file, rebuilds=rebuild):
        raise typer.Exit(2)


@located
def recall(
    where: Where,
    query: Annotated[list[str], typer.Argument(help="What to look for; quotes are not needed.")],
    as_: Annotated[
        str | None,
        typer.Option("--as", metavar="MEMBER", help="Who asks; sees their own memories too."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Most of them.")] = 5,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", metavar="DATE", help="What held then: 2026-03-05, or 2026-03-05T16:30."
        ),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Tell what is remembered of something."""
    from kinkeeper.cli.searching import recall_text

    recall_text(where, " ".join(query), named=as_, limit=limit, as_of=as_of, as_json=json_)
