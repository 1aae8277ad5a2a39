"""Searches memory for one query, or for those of a file."""

import asyncio
from collections.abc import Sequence
from functools import partial
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.table import Table

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.embedder import embedder_opened
from kinkeeper.brain.evidence_search import EventHit, find
from kinkeeper.cli.chat_lines import BadLine
from kinkeeper.cli.input import lines_of
from kinkeeper.cli.located import Where
from kinkeeper.cli.memory_import import embed_all
from kinkeeper.cli.memory_lines import Query, query_of, read_lines
from kinkeeper.cli.memory_opener import Memory, memory_opened
from kinkeeper.cli.opener import member_named, opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock, latest_told
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.context.attribution import Names, name_of
from kinkeeper.memory.finding.search import Finder, Hit, Search
from kinkeeper.memory.finding.vectors import drop_vectors

# Whoever waits for an answer here would rather wait once than get one that is not complete.
_AS_LONG_AS_IT_TAKES = inf


def search_file(where: Where, file: Path, *, rebuilds: bool) -> int:
    """Search for each line of a file and write what was found; returns how many lines were bad.

    Args:
        where: Household and database.
        file: JSON lines.
        rebuilds: Whether all vectors are made anew before.

    Raises:
        InputError: The file cannot be read.
        UnavailableError: The database or the embedder cannot be used.
    """
    with memory_opened(where) as memory:
        if rebuilds:
            memory.store.write_now(lambda conn: drop_vectors(conn, memory.household))
            asyncio.run(embed_all(memory))
        return asyncio.run(_search_all(memory, file))


def recall_text(
    where: Where, text: str, *, named: str | None, limit: int, as_of: str | None, as_json: bool
) -> None:
    """Show what is remembered of something.

    Args:
        where: Household and database.
        text: What to look for.
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


async def _search_all(memory: Memory, file: Path) -> int:
    bad = 0
    async with embedder_opened(memory.settings) as embedder:
        finder = Finder(
            memory.store, memory.household, zone=memory.zone, embedder=embedder,
            locale=memory.locale, called=memory.people.called if memory.people else {},
        )  # fmt: skip
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
        text=query.text, viewer=Viewer(memory.household, query.scopes), now=now, limit=query.limit,
        as_of=query.as_of,
    )  # fmt: skip
    found = await find(
        search, query.kinds, store=memory.store, finder=finder, household=memory.people,
        patience=_AS_LONG_AS_IT_TAKES,
    )  # fmt: skip
    took = 1_000 * (perf_counter() - start)
    return {"id": query.id, "hits": [_ranked(hit) for hit in found.hits], "ms": round(took, 1)}


async def _recalled(system: System, wanted: Search) -> Sequence[Hit]:
    async with embedder_opened(system.settings) as embedder:
        finder = Finder(
            system.store, system.household.id, zone=system.household.zone, embedder=embedder,
            locale=system.household.locale, called=system.household.called,
        )  # fmt: skip
        return (await finder.search(wanted, patience=_AS_LONG_AS_IT_TAKES)).hits


def _ranked(hit: Hit | EventHit) -> dict[str, Any]:
    legs = {} if isinstance(hit, EventHit) else hit.parts
    parts = {name: round(part, 4) for name, part in legs.items()}
    return {
        "id": hit.id, "kind": hit.kind.value, "score": round(hit.score, 4),
        "parts": parts | {"relevance": round(hit.relevance, 4)},
    }  # fmt: skip


def _shown(hit: Hit, names: Names) -> dict[str, Any]:
    return {
        **_ranked(hit), "text": hit.text, "category": hit.category, "at": hit.at.isoformat(),
        "confidence": round(hit.confidence, 3), "created_at": hit.created_at.isoformat(),
        "speaker": name_of(hit.speaker, names), "scope": hit.scope, "provenance": hit.provenance,
    }  # fmt: skip
