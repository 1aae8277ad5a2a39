"""`kinkeeper when`: how time expressions are read."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer
from rich.table import Table

from kinkeeper.cli.input import answered, text_in
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.zones import read_zone
from kinkeeper.reading.times import read, to_record

_YEARS = range(1970, 2200)

app = typer.Typer()


@app.command()
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
        str | None, typer.Option(metavar="TIME", help="When it was written; default is now.")
    ] = None,
    tz: Annotated[str, typer.Option(metavar="ZONE", help="Time zone to read it in.")] = "UTC",
    locale: Annotated[
        str, typer.Option(metavar="TAG", help="Locale for date order and first day of the week.")
    ] = "en-US",
    json_: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Show how dates and times in a text are read."""
    if bool(text) == (file is not None):
        raise typer.BadParameter("give either text or --file FILE")
    reader = Reader(tz=tz, locale=locale)
    if file is not None:
        if asyncio.run(answered(file, partial(_read_record, reader))):
            raise typer.Exit(2)
        return
    words = text or []
    is_quoted = any(" " in word.strip() for word in words)
    texts = words if is_quoted else [" ".join(words)]
    _show_texts(texts, reader, reference=reference, as_json=json_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How texts are read where they do not say it themselves.

    Attributes:
        tz: IANA name.
        locale: Language tag.
    """

    tz: str
    locale: str

    def record(self, text: str, reference: str | None, *, tz: str | None = None) -> dict[str, Any]:
        """Return what a text says about time.

        Args:
            reference: ISO date-time it was written at, local in `tz` where it has no offset; now if None.
            tz: IANA name; where None, the offset of the reference, else the reader's own zone.

        Raises:
            InputError: The reference or the zone does not exist.
        """
        zone = _zone(tz or self.tz)
        if reference is None:
            instant = SystemClock().now().astimezone(zone)
        else:
            instant = _instant(reference)
            if instant.tzinfo is None:
                instant = instant.replace(tzinfo=zone)
            elif tz is not None or self.tz != "UTC":
                instant = instant.astimezone(zone)
        spans = read(text, instant, locale=self.locale)
        return {"text": text, "spans": [to_record(span) for span in spans]}


def _show_texts(
    texts: Sequence[str], reader: Reader, *, reference: str | None, as_json: bool
) -> None:
    """Show what texts say about time.

    Args:
        reference: When they were written; now where None.
    """
    records = [reader.record(text, reference) for text in texts]
    if as_json:
        for record in records:
            answer_json(record)
        return
    table = Table()
    for heading in ("words", "kind", "from", "until", "exact to", "repeats"):
        table.add_column(heading)
    for record in records:
        for span in record["spans"]:
            fields = ("surface", "kind", "start", "end", "grain", "recurrence")
            table.add_row(*(str(span.get(field, "")) for field in fields))
    screen = console()
    screen.print(table if table.row_count else "No time is mentioned.")


async def _read_record(reader: Reader, record: Mapping[str, Any]) -> dict[str, Any]:
    text = text_in(record, "text")
    reference, tz = text_in(record, "reference"), record.get("tz")
    if tz is not None and not isinstance(tz, str):
        raise InputError('"tz" must be the name of a timezone, e.g. "America/Chicago"')
    return reader.record(text, reference, tz=tz)


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InputError(f"reference {text!r} is not a real date and time") from error
    if instant.year not in _YEARS:
        raise InputError(f"reference {text!r} must be between {_YEARS[0]} and {_YEARS[-1]}")
    return instant


def _zone(name: str) -> ZoneInfo:
    try:
        return read_zone(name)
    except ValueError as error:
        raise InputError(str(error)) from error
