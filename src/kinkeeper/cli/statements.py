"""Reads statements from a file, and tells how they relate or what they are, a line for each."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kinkeeper.bootstrap.embedder import embedder_opened
from kinkeeper.cli.input import text_in
from kinkeeper.cli.line_by_line import Answer, answered
from kinkeeper.cli.located import Where
from kinkeeper.cli.opener import log_to_stderr, settings_of
from kinkeeper.core.errors import InputError
from kinkeeper.memory.statements.classification import StatementClassifier
from kinkeeper.memory.statements.relation import relate


def relate_file(path: Path) -> int:
    """Relate pairs of statements and write a line for each; returns how many lines were bad.

    Args:
        path: JSON lines; "-" reads the standard input.

    Raises:
        InputError: The file cannot be read.
    """
    return asyncio.run(answered(path, _related))


def classify_file(path: Path, where: Where) -> int:
    """Classify statements and write a line for each; returns how many lines were bad.

    Args:
        path: JSON lines; "-" reads the standard input.
        where: Whose settings choose the embedder.

    Raises:
        InputError: The file cannot be read.
        UnavailableError: The embedder of the settings is not installed.
    """
    log_to_stderr()

    async def classified() -> int:
        async with _classifier(where) as answer:
            return await answered(path, answer)

    return asyncio.run(classified())


async def _related(record: Mapping[str, Any]) -> Mapping[str, Any]:
    old, new = text_in(record, "old"), text_in(record, "new")
    found = relate(old, new, old_at=_time_in(record, "old_at"), new_at=_time_in(record, "new_at"))
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


@asynccontextmanager
async def _classifier(where: Where) -> AsyncIterator[Answer]:
    async with embedder_opened(settings_of(where)) as embedder:
        classifier = StatementClassifier(embedder)

        async def classified(record: Mapping[str, Any]) -> Mapping[str, Any]:
            text = text_in(record, "text")
            if not text.strip():
                raise InputError('"text" is empty')
            (found,) = await classifier.classify([text])
            return {
                "category": found.category, "type": found.type, "title": found.title,
                "confidence": round(found.confidence, 4), "stage": found.stage,
            }  # fmt: skip

        yield classified
