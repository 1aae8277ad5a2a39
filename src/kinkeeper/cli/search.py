"""`kinkeeper search`: what is remembered, for each query of a file."""

import asyncio
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from kinkeeper.bootstrap.memory import embedder_opened
from kinkeeper.brain.evidence_search import find
from kinkeeper.cli.chat_files import BadLine
from kinkeeper.cli.input import lines_of
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.memory_import import embed_all
from kinkeeper.cli.memory_lines import Query, query_of, read_lines
from kinkeeper.cli.memory_opener import Memory, memory_opened
from kinkeeper.cli.recall import AS_LONG_AS_IT_TAKES, ranked
from kinkeeper.cli.terminal import answer_json
from kinkeeper.core.time import SystemClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.finding.search import Finder, Search
from kinkeeper.memory.finding.vectors import drop_vectors

app = typer.Typer()


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
    if _search_file(where, file, rebuilds=rebuild):
        raise typer.Exit(2)


def _search_file(where: Where, file: Path, *, rebuilds: bool) -> int:
    """Search for each line of a file and write what was found; returns how many lines were bad.

    Args:
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
        patience=AS_LONG_AS_IT_TAKES,
    )  # fmt: skip
    took = 1_000 * (perf_counter() - start)
    return {"id": query.id, "hits": [ranked(hit) for hit in found.hits], "ms": round(took, 1)}
