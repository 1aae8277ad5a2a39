"""How texts are sorted, for developers: `kinkeeper sort`, `route`, `relate` and `classify`."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.table import Table

from kinkeeper.bootstrap.memory import embedder_opened
from kinkeeper.cli.input import Answer, answered, text_in
from kinkeeper.cli.located import JsonOption, Where, located
from kinkeeper.cli.opener import log_to_stderr, settings_of
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import Progress, answer_json
from kinkeeper.conversation.model import Exchange
from kinkeeper.conversation.routing.router import Routed, Router, exchanges_of
from kinkeeper.core.errors import InputError
from kinkeeper.language.sorting.domains import DomainRouter, Route
from kinkeeper.memory.statements import relation
from kinkeeper.memory.statements.classification import StatementClassifier
from kinkeeper.settings.model import Settings

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
    if asyncio.run(answered(file, _related)):
        raise typer.Exit(2)


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
                "category": found.category,
                "type": found.type,
                "title": found.title,
                "confidence": round(found.confidence, 4),
                "stage": found.stage,
            }

        yield classified


@app.command()
@located
def sort(
    where: Where,
    text: Annotated[list[str], typer.Argument(help="A request; no quotes needed.")],
    json_: JsonOption = False,
) -> None:
    """Show which domains a request belongs to."""
    log_to_stderr()
    route = asyncio.run(_routed(" ".join(text), settings_of(where)))
    if json_:
        answer_json(
            {"domains": route.domains, "domain_chances": route.chances, "stage": route.stage}
        )
        return
    table = Table(title=f"by {route.stage}", title_justify="left")
    table.add_column("as a request")
    table.add_column("", justify="right")
    for domain, chance in sorted(route.chances.items(), key=lambda item: -item[1]):
        table.add_row(f"{'*' if domain in route.domains else ' '} {domain}", f"{chance:.2f}")
    console().print(table)


async def _routed(text: str, settings: Settings) -> Route:
    async with embedder_opened(settings) as embedder:
        (route,) = await DomainRouter(embedder).route([text])
        return route


_PERSON = "user"


@app.command()
@located
def route(
    where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines {"id", "text", "history"?: [{"role", "text"}], '
            '"pending"?: {"confirmation_message"}}; "-" reads stdin.',
        ),
    ],
) -> None:
    """Show how messages to the assistant are routed."""
    log_to_stderr()

    async def routed() -> int:
        async with embedder_opened(settings_of(where)) as embedder:
            router = Router(embedder)
            return await answered(
                file, lambda record: _answer(router, record), progress=Progress("messages routed")
            )

    if asyncio.run(routed()):
        raise typer.Exit(2)


async def _answer(router: Router, record: Mapping[str, Any]) -> Mapping[str, Any]:
    text, history, question = text_in(record, "text"), _history(record), _question(record)
    begun = perf_counter()
    routed = await router.route(text, history=history, open_question=question)
    return {**_told(routed), "ms": round(1000 * (perf_counter() - begun), 3)}


def _told(routed: Routed) -> dict[str, Any]:
    triage = routed.triage
    return {
        "type": triage.type,
        "is_followup": triage.is_followup,
        "domains": list(triage.domains),
        "branch": triage.branch,
        "social": triage.social,
        "mode": triage.mode,
        "confirmation": triage.confirmation,
        "source": triage.source,
        "is_weak": routed.confirmation is not None and routed.confirmation.is_weak,
        "decided_by": routed.decided_by,
    }


def _question(record: Mapping[str, Any]) -> bool | str:
    """Return the question that is open; whether there is one, where its words are missing."""
    pending = record.get("pending")
    if pending is None:
        return False
    if not isinstance(pending, Mapping):
        raise InputError('"pending" is not an object; write {"confirmation_message": "…"}')
    return text_in(pending, "confirmation_message") if "confirmation_message" in pending else True


def _history(record: Mapping[str, Any]) -> Sequence[Exchange]:
    """Return the lines of a history as exchanges: what was said, with what was answered to it."""
    lines = record.get("history") or []
    if not isinstance(lines, list) or not all(isinstance(line, Mapping) for line in lines):
        raise InputError('"history" is not a list of {"role", "text"}')
    return exchanges_of((text_in(line, "role") != _PERSON, text_in(line, "text")) for line in lines)
