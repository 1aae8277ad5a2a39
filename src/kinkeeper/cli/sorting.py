"""Sorts one text as it would be sorted in a conversation, and shows why."""

import asyncio

from rich.table import Table

from kinkeeper.bootstrap.embedding import embedder_opened
from kinkeeper.cli.located import Where
from kinkeeper.cli.opening import log_to_stderr, settings_of
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.language.sorting.categories import Categorised, Categoriser
from kinkeeper.language.sorting.domains import DomainRouter, Route
from kinkeeper.settings.model import Settings


def sort_text(text: str, where: Where, *, as_json: bool) -> None:
    """Sort a text and show the chances of every label.

    Args:
        text: What somebody says.
        where: Whose settings.
        as_json: Answer with one JSON object.

    Raises:
        UnavailableError: The embedder of the settings is not installed.
    """
    log_to_stderr()
    route, statement = asyncio.run(_sorted(text, settings_of(where)))
    if as_json:
        answer_json(
            {
                "domains": route.domains, "domain_chances": route.chances,
                "category": statement.category, "category_chances": statement.chances,
                "stage": route.stage,
            }
        )  # fmt: skip
        return
    table = Table(title=f"by {route.stage}", title_justify="left")
    for heading in ("as a request", "", "as a statement", ""):
        table.add_column(heading, justify="left" if heading else "right")
    domains = sorted(route.chances.items(), key=lambda item: -item[1])
    categories = sorted(statement.chances.items(), key=lambda item: -item[1])
    for place, (category, chance) in enumerate(categories):
        domain, likely = domains[place] if place < len(domains) else ("", None)
        mark = "* " if domain in route.domains else "  "
        shown = "" if likely is None else f"{likely:.2f}"
        sign = "  " if place else "* "
        table.add_row(f"{mark}{domain}", shown, f"{sign}{category}", f"{chance:.2f}")
    console().print(table)


async def _sorted(text: str, settings: Settings) -> tuple[Route, Categorised]:
    async with embedder_opened(settings) as embedder:
        (route,) = await DomainRouter(embedder).route([text])
        (statement,) = await Categoriser(embedder).categorise([text])
        return route, statement
