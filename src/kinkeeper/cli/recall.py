"""`kinkeeper recall`, `search` and `context`: what is remembered of something, for each query of a file, and at the start of a session."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from functools import partial
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.table import Table

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.memory import embedder_opened
from kinkeeper.brain.evidence_search import EventHit, find
from kinkeeper.cli.chat_files import BadLine
from kinkeeper.cli.input import lines_of
from kinkeeper.cli.located import JsonOption, Where, located
from kinkeeper.cli.memory_import import Query, embed_all, query_of, read_lines
from kinkeeper.cli.memory_opener import Memory, memory_opened
from kinkeeper.cli.opener import member_named, opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer, answer_json
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock, latest_told
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.context.session_facts import (
    Injected,
    Names,
    as_markdown,
    as_record,
    injected,
    name_of,
)
from kinkeeper.memory.finding.search import Finder, Hit, Search
from kinkeeper.memory.finding.vectors import drop_vectors

# What a search of memory on the command line waits for, and how it writes a hit.

# Whoever waits for an answer here would rather wait once than get one that is not complete.
AS_LONG_AS_IT_TAKES = inf


def ranked(hit: Hit | EventHit) -> dict[str, Any]:
    """Return the JSON form of a hit: which it is, and how it scored."""
    legs = {} if isinstance(hit, EventHit) else hit.parts
    parts = {name: round(part, 4) for name, part in legs.items()}
    return {
        "id": hit.id,
        "kind": hit.kind.value,
        "score": round(hit.score, 4),
        "parts": parts | {"relevance": round(hit.relevance, 4)},
    }


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
    text = " ".join(query)
    if not text.strip():
        raise InputError("say what to look for: kinkeeper recall QUERY")
    with opened(where) as system:
        household = system.household
        member = None if as_ is None else member_named(household, as_).id
        wanted = Search(
            text=text,
            viewer=Viewer.of(household.id, member),
            now=SystemClock().now(),
            limit=limit,
            as_of=None if as_of is None else latest_told(as_of, household.zone),
        )
        hits = asyncio.run(_recalled(system, wanted))
    if json_:
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
            system.store,
            system.household.id,
            zone=system.household.zone,
            embedder=embedder,
            locale=system.household.locale,
            called=system.household.called,
        )
        return (await finder.search(wanted, patience=AS_LONG_AS_IT_TAKES)).hits


def _shown(hit: Hit, names: Names) -> dict[str, Any]:
    return {
        **ranked(hit),
        "text": hit.text,
        "category": hit.category,
        "at": hit.at.isoformat(),
        "confidence": round(hit.confidence, 3),
        "created_at": hit.created_at.isoformat(),
        "speaker": name_of(hit.speaker, names),
        "scope": hit.scope,
        "provenance": hit.provenance,
    }


@app.command()
@located
def search(
    where: Where,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='JSON lines {"id", "query", "scope"?, "k"?, "types"?, "as_of"?}; "-" reads stdin.',
        ),
    ],
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Rebuild all vectors first.")] = False,
) -> None:
    """Run a batch of memory searches from a file."""
    with memory_opened(where) as memory:
        if rebuild:
            memory.store.write_now(lambda conn: drop_vectors(conn, memory.household))
            asyncio.run(embed_all(memory))
        bad = asyncio.run(_search_all(memory, file))
    if bad:
        raise typer.Exit(2)


async def _search_all(memory: Memory, file: Path) -> int:
    bad = 0
    async with embedder_opened(memory.settings) as embedder:
        finder = Finder(
            memory.store,
            memory.household,
            zone=memory.zone,
            embedder=embedder,
            locale=memory.locale,
            called=memory.people.called if memory.people else {},
        )
        with lines_of(file) as lines:
            for query in read_lines(lines, partial(query_of, zone=memory.zone)):
                if isinstance(query, BadLine):
                    bad += 1
                    answer_json(query.record())
                else:
                    answer_json(await _answered(memory, finder, query))
    return bad


async def _answered(memory: Memory, finder: Finder, query: Query) -> dict[str, Any]:
    start, now = perf_counter(), SystemClock().now()
    search = Search(
        text=query.text,
        viewer=Viewer(memory.household, query.scopes),
        now=now,
        limit=query.limit,
        as_of=query.as_of,
    )
    found = await find(
        search,
        query.kinds,
        store=memory.store,
        finder=finder,
        household=memory.people,
        patience=AS_LONG_AS_IT_TAKES,
    )
    took = 1_000 * (perf_counter() - start)
    return {"id": query.id, "hits": [ranked(hit) for hit in found.hits], "ms": round(took, 1)}


class Form(StrEnum):
    """How they are written."""

    MARKDOWN = "markdown"
    JSON = "json"


@app.command()
@located
def context(
    where: Where,
    query: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the session is about.")
    ] = None,
    project: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Include this project; repeatable.")
    ] = None,
    as_: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="MEMBER", help="Who is asking; includes their private memories."
        ),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="Output format.")] = Form.MARKDOWN,
    json_: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False,
) -> None:
    """Show the memories an assistant starts with."""
    is_json = json_ or form is Form.JSON
    projects = project or []
    with memory_opened(where) as memory:
        viewer = Viewer.of(memory.household, _member(memory, as_), projects=projects)
        names = memory.people.names if memory.people else {}
        found = asyncio.run(_injected(memory, viewer, query, now=SystemClock().now()))
    if is_json:
        answer_json(as_record(found, names))
    else:
        answer(as_markdown(found, memory.zone, names).rstrip())


def _member(memory: Memory, named: str | None) -> str | None:
    if named is None:
        return None
    if memory.people is None:
        raise InputError("--as needs a household file; specify it with --household FILE")
    return member_named(memory.people, named).id


async def _injected(
    memory: Memory, viewer: Viewer, query: str | None, *, now: datetime
) -> Injected:
    if not query:
        finder = Finder(memory.store, memory.household, zone=memory.zone, locale=memory.locale)
        return await injected(memory.store, finder, viewer, query=None, now=now)
    async with embedder_opened(memory.settings) as embedder:
        finder = Finder(
            memory.store,
            memory.household,
            zone=memory.zone,
            embedder=embedder,
            locale=memory.locale,
            called=memory.people.called if memory.people else {},
        )
        await finder.prepare()
        return await injected(memory.store, finder, viewer, query=query, now=now)
