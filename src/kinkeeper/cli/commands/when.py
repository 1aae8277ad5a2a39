"""`kinkeeper when`: how time expressions are read."""

from pathlib import Path
from typing import Annotated

import typer

from kinkeeper.cli.located import Where, located


@located
def when(
    _where: Where,
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]...", help="Text to read; quote separate texts."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help='JSON lines {"text", "reference", "tz"?}; "-" reads stdin.'
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When it was written; default is now."),
    ] = None,
    tz: Annotated[str, typer.Option(metavar="ZONE", help="Time zone to read it in.")] = "UTC",
    locale: Annotated[
        str, typer.Option(metavar="TAG", help="Locale for date order and first day of the week.")
    ] = "en-US",
    json_: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Show how dates and times in a text are read."""
    from kinkeeper.cli.times import Reader, read_file, show_texts

    if bool(text) == (file is not None):
        raise typer.BadParameter("give either text or --file FILE")
    reader = Reader(tz=tz, locale=locale)
    if file is not None:
        if read_file(file, reader):
            raise typer.Exit(2)
        return
    words = text or []
    is_quoted = any(" " in word.strip() for word in words)
    texts = words if is_quoted else [" ".join(words)]
    show_texts(texts, reader, reference=reference, as_json=json_)
