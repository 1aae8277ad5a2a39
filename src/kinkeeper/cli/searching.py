"""Searches memory for one query, or for those of a file."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.table import Table
from sqlalchemy import Connection

from kinkeeper.bootstrap import System
from kinkeeper.bootstrap.embedding import embedder_opened
from kinkeeper.brain.event_words import EventWords
from kinkeeper.brain.question import read_question
from kinkeeper.brain.schedule import scheduled
from kinkeeper.cli.chat_lines import BadLine
from kinkeeper.cli.input import lines_of
from kinkeeper.cli.located import Where
from kinkeeper.cli.memory_import import embed_all
from kinkeeper.cli.memory_lines import EVENT, Query, query_of, read_lines
from kinkeeper.cli.memory_opening import Memory, memory_opened
from kinkeeper.cli.opening import member_named, opened, present
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.time import SystemClock
from kinkeeper.household.model import Household
from kinkeeper.memory.finding.search import Finder, Hit, Search
from kinkeeper.memory.finding.vectors import drop_vectors
from kinkeeper.memory.model import Viewer


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


def recall_text(where: Where, text: str, *, named: str | None, limit: int, as_json: bool) -> None:
    """Show what is remembered of something.

    Args:
        where: Household and database.
        text: What to look for.
        named: Who asks; somebody who only sees what everybody may where None.
        limit: Most hits, > 0.
        as_json: Answer in JSON.

    Raises:
        InputError: Nobody is called so.
    """
    with opened(where) as system:
        household = system.household
        member = None if named is None else member_named(household, named).id
        wanted = Search(
            text=text, viewer=Viewer.of(household.id, member), now=present(system), limit=limit
        )
        hits = asyncio.run(_recalled(system, wanted))
    if as_json:
        answer_json([_shown(hit) for hit in hits])
        return
    if not hits:
        console().print("Nothing is remembered of that.")
        return
    table = Table()
    for heading in ("", "what", "when", "said by", "sure"):
        table.add_column(heading)
    for hit in hits:
        day = hit.at.astimezone(household.zone).date().isoformat()
        table.add_row(hit.kind.value, hit.text, day, hit.speaker or "", f"{hit.confidence:.2f}")
    console().print(table)


async def _search_all(memory: Memory, file: Path) -> int:
    bad = 0
    async with embedder_opened(memory.settings) as embedder:
        finder = Finder(
            memory.store, memory.household, zone=memory.zone, embedder=embedder,
            locale=memory.locale, called=memory.people.called if memory.people else {},
        )  # fmt: skip
        # Whoever waits for a file's answers would rather wait once than get some that are not complete.
        await finder.prepare()
        with lines_of(file) as lines:
            for query in read_lines(lines, query_of):
                if isinstance(query, BadLine):
                    bad += 1
                    answer_json(query.record())
                else:
                    answer_json(await _answered(memory, finder, query))
    return bad


async def _answered(memory: Memory, finder: Finder, query: Query) -> dict[str, Any]:
    start, now = perf_counter(), SystemClock().now()
    hits: list[dict[str, Any]] = []
    if query.kinds:
        viewer = Viewer(memory.household, query.scopes)
        found = await finder.search(
            Search(text=query.text, viewer=viewer, now=now, kinds=query.kinds, limit=query.limit)
        )
        hits = [_ranked(hit) for hit in found.hits]
    if query.with_events and memory.people is not None:
        people = memory.people
        hits += await memory.store.read(lambda conn: _events(conn, people, query.text, now=now))
    hits.sort(key=lambda hit: -float(hit["score"]))
    took = 1_000 * (perf_counter() - start)
    return {"id": query.id, "hits": hits[: query.limit], "ms": round(took, 1)}


async def _recalled(system: System, wanted: Search) -> Sequence[Hit]:
    async with embedder_opened(system.settings) as embedder:
        finder = Finder(
            system.store, system.household.id, zone=system.household.zone, embedder=embedder,
            locale=system.household.locale, called=system.household.called,
        )  # fmt: skip
        await finder.prepare()
        return (await finder.search(wanted)).hits


def _events(
    conn: Connection, household: Household, text: str, *, now: datetime
) -> list[dict[str, Any]]:
    question = read_question(text, household, now=now)
    found = scheduled(conn, household.id, EventWords(household), question, now=now)
    return [
        {
            "id": each.event.id, "kind": EVENT, "score": round(each.relevance, 4),
            "parts": {"relevance": round(each.relevance, 4)},
        }
        for each in found
    ]  # fmt: skip


def _ranked(hit: Hit) -> dict[str, Any]:
    parts = {name: round(part, 4) for name, part in hit.parts.items()}
    return {
        "id": hit.id, "kind": hit.kind.value, "score": round(hit.score, 4),
        "parts": parts | {"relevance": round(hit.relevance, 4)},
    }  # fmt: skip


def _shown(hit: Hit) -> dict[str, Any]:
    return {
        **_ranked(hit), "text": hit.text, "category": hit.category, "at": hit.at.isoformat(),
        "confidence": round(hit.confidence, 3), "created_at": hit.created_at.isoformat(),
        "speaker": hit.speaker, "scope": hit.scope, "provenance": hit.provenance,
    }  # fmt: skip
