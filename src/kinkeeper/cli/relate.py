"""`kinkeeper relate`: how two statements stand to each other, before anything is stored."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from kinkeeper.cli.input import answered, text_in
from kinkeeper.cli.located import Where, located
from kinkeeper.core.errors import InputError
from kinkeeper.memory.statements import relation

app = typer.Typer()


@app.command()
@located
def relate(
    _where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines {"id", "old", "new", "old_at"?, "new_at"?, "category"?}; "-" reads stdin.',
        ),
    ],
) -> None:
    """Decide whether to merge, supersede or keep pairs of statements."""
    if _relate_file(file):
        raise typer.Exit(2)


def _relate_file(path: Path) -> int:
    """Relate pairs of statements and write a line for each; returns how many lines were bad.

    Args:
        path: JSON lines; "-" reads the standard input.

    Raises:
        InputError: The file cannot be read.
    """
    return asyncio.run(answered(path, _related))


async def _related(record: Mapping[str, Any]) -> Mapping[str, Any]:
    old, new = text_in(record, "old"), text_in(record, "new")
    found = relation.relate(
        old, new, old_at=_time_in(record, "old_at"), new_at=_time_in(record, "new_at")
    )
    return {"relation": found.relation, "effect": found.effect, "why": found.why}


def _time_in(record: Mapping[str, Any], name: str) -> datetime | None:
    """Return when a statement was made; a time without an offset is taken as UTC."""
    if record.get(name) is None:
        return None
    try:
        instant = datetime.fromisoformat(text_in(record, name).strip())
    except ValueError as error:
        raise InputError(f'"{name}" is not a real date or date-time') from error
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
