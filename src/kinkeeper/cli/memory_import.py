"""Imports episodes and facts, a batch a transaction, and waits until they are found.

What is known by its id is left as it is: an import that was cut short is simply begun again.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection

from kinkeeper.bootstrap.memory import embedder_opened
from kinkeeper.cli.chat_files import BadLine
from kinkeeper.cli.input import lines_of
from kinkeeper.cli.located import Where
from kinkeeper.cli.memory_lines import episode_of, fact_of, read_lines
from kinkeeper.cli.memory_opener import Memory, memory_opened
from kinkeeper.cli.terminal import Progress, answer_json, notice
from kinkeeper.core.time import SystemClock
from kinkeeper.memory.episodes import count_episodes, insert_episodes
from kinkeeper.memory.facts import count_facts, facts_by_id
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.search import compares_meaning
from kinkeeper.memory.finding.vectors import drop_vectors
from kinkeeper.memory.ingest import ImportedFact, import_facts
from kinkeeper.memory.model import Episode, FactStatus

T = TypeVar("T", bound=Episode | ImportedFact)

Writing = Callable[[Connection], set[str]]
"""Stores rows, and returns the ids of those that were new."""

_BATCH = 500


def import_memories(
    where: Where, file: Path, *, as_facts: bool, waits: bool, rebuilds: bool
) -> int:
    """Import a file and write a line for each; returns how many lines were bad.

    Args:
        file: JSON lines.
        as_facts: Whether they are facts, and not episodes.
        waits: Whether to return only when all is found by its meaning too.
        rebuilds: Whether all vectors are made anew.

    Raises:
        InputError: The file cannot be read.
        UnavailableError: The database or the embedder cannot be used.
    """
    with memory_opened(where) as memory, lines_of(file) as lines:
        if as_facts:
            items = read_lines(lines, partial(fact_of, zone=memory.zone))
            bad = _import(memory, items, _store_facts, "facts imported")
        else:
            read = partial(episode_of, household=memory.household, zone=memory.zone)
            bad = _import(memory, read_lines(lines, read), _store_episodes, "episodes imported")
        if rebuilds:
            memory.store.write_now(lambda conn: drop_vectors(conn, memory.household))
        if waits or rebuilds:
            asyncio.run(embed_all(memory))
    return bad


async def embed_all(memory: Memory) -> None:
    """Make all vectors that are missing, and show how far it is.

    Raises:
        UnavailableError: The database or the embedder cannot be used.
    """
    async with embedder_opened(memory.settings) as embedder:
        model = embedder if compares_meaning(embedder) else None
        if model is None:
            notice("searchable by words; EMBEDDER=minilm also compares meaning")
        work = EmbeddingWork(memory.store, memory.household, model)
        progress = Progress("made ready", total=memory.store.read_now(_waiting(memory)))
        while made := await work.run_once():
            progress.add(made)
        progress.finish()


def _waiting(memory: Memory) -> Callable[[Connection], int | None]:
    def count(conn: Connection) -> int | None:
        pending = count_episodes(conn, memory.household)["pending"]
        pending += count_facts(conn, memory.household).get(FactStatus.PENDING_EMBED, 0)
        return pending or None

    return count


def _import(
    memory: Memory,
    items: Iterator[T | BadLine],
    store: Callable[[str, Sequence[T]], Writing],
    what: str,
) -> int:
    bad, progress = 0, Progress(what)
    while batch := [*islice(items, _BATCH)]:
        good = [each for each in batch if not isinstance(each, BadLine)]
        new = memory.store.write_now(store(memory.household, good))
        for each in batch:
            bad += isinstance(each, BadLine)
            answer_json(_report(each, new))
        progress.add(len(good))
    progress.finish()
    return bad


def _report(item: Episode | ImportedFact | BadLine, new: set[str]) -> dict[str, Any]:
    if isinstance(item, BadLine):
        return item.record()
    return {"id": item.id, "status": "stored" if item.id in new else "known"}


def _store_episodes(_household: str, new: Sequence[Episode]) -> Writing:
    return lambda conn: {*insert_episodes(conn, new, at=SystemClock().now())}


def _store_facts(household: str, given: Sequence[ImportedFact]) -> Writing:
    def store(conn: Connection) -> set[str]:
        known = facts_by_id(conn, household, [each.id for each in given])
        new = [each for each in given if each.id not in known]
        import_facts(conn, household, new, at=SystemClock().now())
        return {each.id for each in new}

    return store
