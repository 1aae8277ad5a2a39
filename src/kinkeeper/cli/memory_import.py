"""Imports episodes and facts, a batch a transaction, and waits until they are found.

What is known by its id is left as it is: an import that was cut short is simply begun again.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection

from kinkeeper.bootstrap.memory import embedder_opened
from kinkeeper.cli.chat_files import BadLine
from kinkeeper.cli.import_audience import Audiences, kept_as
from kinkeeper.cli.input import lines_of
from kinkeeper.cli.located import Where
from kinkeeper.cli.memory_lines import episode_of, fact_of, read_lines
from kinkeeper.cli.memory_opener import Memory, memory_opened
from kinkeeper.cli.opener import member_named
from kinkeeper.cli.terminal import Progress, answer_json, notice
from kinkeeper.core.time import SystemClock
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.memory.episodes import count_episodes, episodes_by_id, insert_episodes
from kinkeeper.memory.facts import count_facts, facts_by_id
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.search import compares_meaning
from kinkeeper.memory.finding.vectors import drop_vectors
from kinkeeper.memory.ingest import ImportedFact, import_facts
from kinkeeper.memory.model import Episode, FactStatus

T = TypeVar("T", bound=Episode | ImportedFact)

Writing = Callable[[Connection], Mapping[str, str]]
"""Stores rows, and returns the scopes of those that were new by their ids."""

_BATCH = 500


def import_memories(
    where: Where, file: Path, *, as_facts: bool, waits: bool, rebuilds: bool, by: str | None = None
) -> int:
    """Import a file and write a line for each; returns how many lines were bad.

    What does not say who may see it is seen by those whom its author would have let see it.

    Args:
        file: JSON lines.
        as_facts: Whether they are facts, and not episodes.
        waits: Whether to return only when all is found by its meaning too.
        rebuilds: Whether all vectors are made anew.
        by: Who imports, and counts as the author of what names none; the owner or the first adult where None.

    Raises:
        InputError: The file cannot be read, or no member is called so.
        UnavailableError: The database or the embedder cannot be used.
    """
    with memory_opened(where) as memory, lines_of(file) as lines:
        audiences = _audiences(memory, by)
        if as_facts:
            items = read_lines(lines, partial(fact_of, zone=memory.zone, audiences=audiences))
            bad = _import(memory, items, _store_facts, "facts imported", audiences)
        else:
            read = partial(
                episode_of, household=memory.household, zone=memory.zone, audiences=audiences
            )
            store = partial(_store_episodes, audiences)
            bad = _import(memory, read_lines(lines, read), store, "episodes imported", audiences)
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


def _audiences(memory: Memory, by: str | None) -> Audiences | None:
    household = memory.people
    if household is None:
        return None
    owner = household.member(household.owner or "") or next(iter(household.adults), None)
    importer = owner if by is None else member_named(household, by)
    return None if importer is None else Audiences(household, importer)


def _import(
    memory: Memory,
    items: Iterator[T | BadLine],
    store: Callable[[str, Sequence[T], Collection[str]], Writing],
    what: str,
    audiences: Audiences | None,
) -> int:
    bad, hidden, progress = 0, 0, Progress(what)
    asked = set[str]() if audiences is None else audiences.asked
    while batch := [*islice(items, _BATCH)]:
        good = [each for each in batch if not isinstance(each, BadLine)]
        new = memory.store.write_now(store(memory.household, good, asked))
        for each in batch:
            bad += isinstance(each, BadLine)
            answer_json(_report(each, new))
        hidden += sum(new[each] != HOUSEHOLD_SCOPE for each in new.keys() & asked)
        progress.add(len(good))
    progress.finish()
    if hidden:
        notice(f"{hidden} kept from some of the household: their words read like something private")
    return bad


def _report(item: Episode | ImportedFact | BadLine, new: Mapping[str, str]) -> dict[str, Any]:
    if isinstance(item, BadLine):
        return item.record()
    return {"id": item.id, "status": "stored" if item.id in new else "known"}


def _store_episodes(
    audiences: Audiences | None, _household: str, given: Sequence[Episode], asked: Collection[str]
) -> Writing:
    new = audiences.kept_afterwards(given) if audiences is not None and asked else [*given]

    def store(conn: Connection) -> dict[str, str]:
        stored = {*insert_episodes(conn, new, at=SystemClock().now())}
        return {each.id: each.scope for each in new if each.id in stored}

    return store


def _store_facts(household: str, given: Sequence[ImportedFact], asked: Collection[str]) -> Writing:
    def store(conn: Connection) -> dict[str, str]:
        known = facts_by_id(conn, household, [each.id for each in given])
        rest_on = {one for each in given if each.id in asked for one in each.evidence}
        evidence = episodes_by_id(conn, household, rest_on)
        new = [
            kept_as(each, evidence) if each.id in asked else each
            for each in given
            if each.id not in known
        ]
        import_facts(conn, household, new, at=SystemClock().now())
        return {each.id: each.scope for each in new}

    return store
