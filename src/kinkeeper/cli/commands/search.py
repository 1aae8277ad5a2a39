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
            help='JSON lines {"id", "query", "scope"?, "k"?, "types"?, "as_of"?}; "-" reads stdin.',
        ),
    ],
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Rebuild all vectors first.")] = False,
) -> None:
    """Run a batch of memory searches from a file."""
    from kinkeeper.cli.memory_search import search_file

    if search_file(where, file, rebuilds=rebuild):
        raise typer.Exit(2)


@located
def recall(
    where: Where,
    query: Annotated[list[str], typer.Argument(help="What to look for; no quotes needed.")],
    as_: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="MEMBER", help="Who is asking; includes their private memories."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of results.")] = 5,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="DATE",
            help="Show what was known then: 2026-03-05 or 2026-03-05T16:30.",
        ),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search memory."""
    from kinkeeper.cli.memory_search import recall_text

    recall_text(where, " ".join(query), named=as_, limit=limit, as_of=as_of, as_json=json_)
