"""`kinkeeper classify`: what statements are about, before anything is stored."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from kinkeeper.bootstrap.memory import embedder_opened
from kinkeeper.cli.input import Answer, answered, text_in
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.opener import log_to_stderr, settings_of
from kinkeeper.core.errors import InputError
from kinkeeper.memory.statements.classification import StatementClassifier

app = typer.Typer()


@app.command()
@located
def classify(
    where: Where,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='JSON lines {"id", "text"}; "-" reads stdin.')
    ],
) -> None:
    """Classify statements by memory category."""
    log_to_stderr()

    async def classified() -> int:
        async with _classifier(where) as answer:
            return await answered(file, answer)

    if asyncio.run(classified()):
        raise typer.Exit(2)


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
