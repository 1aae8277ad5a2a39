"""`kinkeeper recall`: what is remembered of something."""

import asyncio
from collections.abc import Sequence
from math import inf
from typing import Annotated, Any

import typer
from rich.table import Table

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.memory import embedder_opened
from kinkeeper.brain.evidence_search import EventHit
from kinkeeper.cli.located import JsonOption, Where, located
from kinkeeper.cli.opener import member_named, opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock, latest_told
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.context.session_facts import Names, name_of
from kinkeeper.memory.finding.search import Finder, Hit, Search

# What a search of memory on the command line waits for, and how it writes a hit.

# Whoever waits for an answer here would rather wait once than get one that is not complete.
AS_LONG_AS_IT_TAKES = inf


def ranked(hit: Hit | EventHit) -> dict[str, Any]:
    """Return the JSON form of a hit: which it is, and how it scored."""
    legs = {} if isinstance(hit, EventHit) else hit.parts
    parts = {name: round(part, 4) for name, part in legs.items()}
    return {
        "id": hit.id, "kind": hit.kind.value, "score": round(hit.score, 4),
        "parts": parts | {"relevance": round(hit.relevance, 4)},
    }  # fmt: skip


app = typer.Typer()


@app.command()
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
    json_: JsonOption = False,
) -> None:
    """Search memory."""
    _recall_text(where, " ".join(query), named=as_, limit=limit, as_of=as_of, as_json=json_)


def _recall_text(
    where: Where, text: str, *, named: str | None, limit: int, as_of: str | None, as_json: bool
) -> None:
    """Show what is remembered of something.

    Args:
        named: Who asks; somebody who only sees what everybody may where None.
        limit: Most hits, > 0.
        as_of: As of which date or date-time, in ISO 8601; None for what holds now.
        as_json: Answer in JSON.

    Raises:
        InputError: Nothing is to be looked for, nobody is called so, or that is no date or time.
    """
    if not text.strip():
        raise InputError("say what to look for: kinkeeper recall QUERY")
    with opened(where) as system:
        household = system.household
        member = None if named is None else member_named(household, named).id
        wanted = Search(
            text=text, viewer=Viewer.of(household.id, member), now=SystemClock().now(), limit=limit,
            as_of=None if as_of is None else latest_told(as_of, household.zone),
        )  # fmt: skip
        hits = asyncio.run(_recalled(system, wanted))
    if as_json:
        answer_json([_shown(hit, household.names) for hit in hits])
        return
    if not hits:
        console().print("Nothing in memory matches that.")
        return
    table = Table()
    for heading in ("", "what", "when", "said by", "sure"):
        table.add_column(heading)
    for hit in hits:
        day = hit.at.astimezone(household.zone).date().isoformat()
        speaker = name_of(hit.speaker, household.names) or ""
        table.add_row(hit.kind.value, hit.text, day, speaker, f"{hit.confidence:.2f}")
    console().print(table)


async def _recalled(system: System, wanted: Search) -> Sequence[Hit]:
    async with embedder_opened(system.settings) as embedder:
        finder = Finder(
            system.store, system.household.id, zone=system.household.zone, embedder=embedder,
            locale=system.household.locale, called=system.household.called,
        )  # fmt: skip
        return (await finder.search(wanted, patience=AS_LONG_AS_IT_TAKES)).hits


def _shown(hit: Hit, names: Names) -> dict[str, Any]:
    return {
        **ranked(hit), "text": hit.text, "category": hit.category, "at": hit.at.isoformat(),
        "confidence": round(hit.confidence, 3), "created_at": hit.created_at.isoformat(),
        "speaker": name_of(hit.speaker, names), "scope": hit.scope, "provenance": hit.provenance,
    }  # fmt: skip
