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
        typer.Argument(metavar="[TEXT]...", help="Words; quoted texts are read one by one."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help='JSON lines {"text", "reference", "tz"?}; "-": input.'),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When it was written; now if not given."),
    ] = None,
    tz: Annotated[str, typer.Option(metavar="ZONE", help="Timezone to read it in.")] = "UTC",
    locale: Annotated[
        str, typer.Option(metavar="TAG", help="Order of dates, first day of a week.")
    ] = "en-US",
    json_: Annotated[bool, typer.Option("--json", help="Answer in JSON lines.")] = False,
) -> None:
    """Show which days and times a text speaks of."""
    from kinkeeper.cli.times import Reader, read_file, show_texts

    if bool(text) == (file is not None):
        raise typer.BadParameter("give either a text or --file FILE")
    reader = Reader(tz=tz, locale=locale)
    if file is not None:
        if read_file(file, reader):
            raise typer.Exit(2)
        return
    words = text or []
    is_quoted = any(" " in word.strip() for word in words)
    texts = words if is_quoted else [" ".join(words)]
    show_texts(texts, reader, reference=reference, as_json=json_)
