"""What is looked up ahead of a turn: ready at once, as memory stands then, and never in the way."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.context.prefetch import (
    MOST_EPISODES,
    MOST_FACTS,
    Streaming,
    Thread,
    is_taken_up,
)
from kinkeeper.memory.context.session_facts import Tier, injected
from kinkeeper.memory.corrections import mark_wrong
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.search import Finder, Found, Search
from kinkeeper.memory.finding.visible_results import HitKind
from kinkeeper.memory.ingest import ImportedFact, import_facts
from kinkeeper.memory.model import Category, Episode, Origin
from kinkeeper.models.embedding.embedder import HashingEmbedder, Vectors
from kinkeeper.store.store import Store

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
VIEWER = Viewer.of("h", "ann")
THREAD = Thread(VIEWER, "s")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "memory.sqlite")) as opened:
        yield opened


def fact(number: int, text: str) -> ImportedFact:
    return ImportedFact(
        id=f"f{number}", text=text, category=Category.PREFERENCE, title=text, at=NOW, confidence=0.9
    )


def say(store: Store, *texts: str, session: str = "s") -> None:
    turns = [
        Episode(
            household="h",
            id=f"{session}-{number}",
            session=session,
            text=text,
            speaker="ann",
            said_at=NOW + timedelta(minutes=number),
            origin=Origin.SAID,
        )
        for number, text in enumerate(texts)
    ]
    store.write_now(lambda conn: insert_episodes(conn, turns, at=NOW, is_read=True))


def know(store: Store, *texts: str) -> None:
    facts = [fact(number, text) for number, text in enumerate(texts)]
    store.write_now(lambda conn: import_facts(conn, "h", facts, at=NOW))


class Meaning:
    """Stands for a model of meaning: like spelling, like meaning."""

    model = "meaning"
    dimension = 2048

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await HashingEmbedder().embed(texts)


class Unreachable(Finder):
    """Finds nothing, because what it asks cannot be reached."""

    async def search(self, search: Search, *, patience: float = 1.0) -> Found:
        raise UnavailableError("not reachable")


@asynccontextmanager
async def looking(
    store: Store, kind: type[Finder] = Finder
) -> AsyncIterator[tuple[Streaming, Callable[[], Awaitable[None]]]]:
    streaming = Streaming(store, kind(store, "h", zone=ZoneInfo("UTC")), VirtualClock(NOW))

    async def until_looked_up() -> None:
        figures = streaming.figures
        before = figures.searched + figures.failed
        streaming.turn_ended(THREAD)
        async with asyncio.timeout(10):
            while figures.searched + figures.failed == before:
                await asyncio.sleep(0.001)

    async with asyncio.TaskGroup() as group:
        running = group.create_task(streaming.run())
        yield streaming, until_looked_up
        running.cancel()


def test_what_both_turns_call_for_comes_before_what_one_of_them_does(store: Store) -> None:
    say(store, "The tent leaks.", session="old")
    say(store, "The tent stood by the lake in Graz.", session="older")
    say(store, "Graz has a fine museum.", session="oldest")
    say(store, "we should take the tent", "what about the lake in Graz?")

    async def run() -> None:
        async with looking(store) as (streaming, look):
            await look()
            ahead = await streaming.take(THREAD)
            first, *others = [hit.text for hit in ahead.episodes]
            assert first == "The tent stood by the lake in Graz."
            assert {*others} == {"The tent leaks.", "Graz has a fine museum."}

    asyncio.run(run())


def test_a_turn_finds_ready_what_the_turns_before_call_for(store: Store) -> None:
    know(store, "Leo loves the violin.", "The tent is in the cellar.")
    say(store, "We bought a tent in Graz once.", session="old")
    say(store, "hello there", "where is the tent?")

    async def run() -> None:
        async with looking(store) as (streaming, look):
            assert (await streaming.take(THREAD)).is_cold
            await look()
            found = await streaming.take(THREAD)
            assert [hit.text for hit in found.facts] == ["The tent is in the cellar."]
            assert [hit.id for hit in found.episodes][:1] == ["old-0"]
            assert (streaming.figures.cold, streaming.figures.warm) == (1, 1)
            other = Thread(Viewer.of("h", "bob"), "s")
            assert (await streaming.take(other)).is_cold

    asyncio.run(run())


def test_what_holds_no_more_does_not_come_out_of_what_was_looked_up(store: Store) -> None:
    know(store, "The tent is in the cellar.")
    say(store, "where is the tent?")

    async def run() -> None:
        async with looking(store) as (streaming, look):
            await look()
            await store.write(lambda conn: mark_wrong(conn, VIEWER, "f0", by="ann", at=NOW))
            found = await streaming.take(THREAD)
            assert (found.facts, found.is_cold) == ([], False)

    asyncio.run(run())


def test_no_more_is_handed_to_a_turn_than_it_has_room_for(store: Store) -> None:
    tents = [f"The tent of {name} is green." for name in ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")]
    know(store, *tents, *(f"Parcel {n} went to Rome." for n in range(60)))
    say(store, *(f"{n}: a tent was mended" for n in range(9)), session="old")
    say(store, *(f"On day {n} it rained, and nobody went out" for n in range(60)), session="rain")
    say(store, "which tent is green, and was it mended?")

    async def run() -> None:
        async with looking(store) as (streaming, look):
            await look()
            found = await streaming.take(THREAD)
            assert 1 <= len(found.facts) <= MOST_FACTS
            assert 1 <= len(found.episodes) <= MOST_EPISODES

    asyncio.run(run())


def test_where_nothing_can_be_searched_turns_go_on_without(store: Store) -> None:
    know(store, "The tent is in the cellar.")
    say(store, "where is the tent?")

    async def run() -> None:
        async with looking(store, Unreachable) as (streaming, look):
            await look()
            assert (await streaming.take(THREAD)).is_cold
            assert streaming.figures.failed == 1
            finder = Unreachable(store, "h", zone=ZoneInfo("UTC"))
            begun = await injected(store, finder, VIEWER, query="tent", now=NOW)
            assert [each.tier for each in begun.placed] == [Tier.CORE]
            assert list(begun.skipped) == [Tier.SEMANTIC]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("answered", "is_used"),
    [("It is in the cellar.", True), ("I do not know where your tent is.", False), ("", False)],
)
def test_an_answer_takes_a_memory_up_where_it_says_what_the_question_did_not(
    answered: str, is_used: bool
) -> None:
    assert is_taken_up("The tent is in the cellar.", "where is my tent?", answered) is is_used


def test_facts_alone_are_found_by_meaning_too(store: Store) -> None:
    know(store, "The tent is in the cellar.", "Leo loves the violin.")
    finder = Finder(store, "h", zone=ZoneInfo("UTC"), embedder=Meaning())

    async def run() -> list[str]:
        await EmbeddingWork(store, "h", Meaning()).finish()
        wanted = Search(text="tent", viewer=VIEWER, now=NOW, kinds=(HitKind.FACT,))
        return [hit.text for hit in (await finder.search(wanted)).hits]

    assert asyncio.run(run())[0] == "The tent is in the cellar."
