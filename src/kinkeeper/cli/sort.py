"""`kinkeeper sort`: which part of the assistant a request is for."""

import asyncio
from typing import Annotated

import typer
from rich.table import Table

from kinkeeper.bootstrap.memory import embedder_opened
from kinkeeper.cli.located import JsonOption, Where, located
from kinkeeper.cli.opener import log_to_stderr, settings_of
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.language.sorting.domains import DomainRouter, Route
from kinkeeper.settings.model import Settings

app = typer.Typer()


@app.command()
@located
def sort(
    where: Where,
    text: Annotated[list[str], typer.Argument(help="A request; no quotes needed.")],
    json_: JsonOption = False,
) -> None:
    """Show which domains a request belongs to."""
    _sort_text(" ".join(text), where, as_json=json_)


def _sort_text(text: str, where: Where, *, as_json: bool) -> None:
    """Sort a request and show the chances of every domain.

    Raises:
        UnavailableError: The embedder of the settings is not installed.
    """
    log_to_stderr()
    route = asyncio.run(_routed(text, settings_of(where)))
    if as_json:
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
