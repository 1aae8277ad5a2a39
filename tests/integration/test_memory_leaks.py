"""What was superseded, and what is another's, comes out of memory by no path.

Random chains of statements are told in one session. Half way through, the next turn's memories are looked up;
then the rest is told. At the end everything that assembles or answers is asked about what is outdated.
"""

import asyncio
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.brain.model import BrainQuery
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Household
from kinkeeper.household.viewing import HOUSEHOLD_SCOPE, Viewer, person_scope
from kinkeeper.memory import tables
from kinkeeper.memory.context.assembling import assembled
from kinkeeper.memory.context.injection import injected
from kinkeeper.memory.context.presenting import as_markdown
from kinkeeper.memory.context.streaming import Streaming, Thread
from kinkeeper.memory.finding.search import Finder, Search
from kinkeeper.memory.model import Category, Correction, Episode, Observation, Origin
from kinkeeper.memory.rows import fact_from_row
from kinkeeper.memory.writing import remember
from kinkeeper.store.store import Store
from live_household import HOUSEHOLD
from memory_chains import MANY, MANY_CHAINS, SINGLE, START

SESSION = "s"
NOW = START + timedelta(days=61)
CHATTER = ("By the way: ", "Ha, listen. ", "", "")
ASKED = 3
CANARY = "The canary sings in the cellar."


@cache
def family() -> Household:
    return load_household(HOUSEHOLD)


def sentence(draw: random.Random) -> tuple[str, Category]:
    """Return something told, changed or ended."""
    if draw.random() < 0.2:
        told, ended, values = MANY
        return draw.choice([*told, *ended]).format(draw.choice(values)), Category.PREFERENCE
    told, changed, ended, values = SINGLE[draw.choice(sorted(SINGLE))]
    said = draw.choice([*told, *changed, *changed, *ended]).replace("{}", draw.choice(values))
    return said, Category.IDENTITY


def turn(draw: random.Random, household: str, number: int) -> tuple[Episode, list[Observation]]:
    """Return one turn of a talk: some sentences, with or without other words around them."""
    text, observations = draw.choice(CHATTER), []
    for _ in range(draw.randint(1, 3)):
        said, category = sentence(draw)
        observations.append(
            Observation(
                text=said, start=len(text), end=len(text) + len(said), category=category,
                title=said, narrative=said,
                correction=draw.choice([None, None, None, Correction()]),
            )
        )  # fmt: skip
        text += said + " "
    day = draw.randint(0, 60)  # told in any order
    episode = Episode(
        household=household, id=f"{household}-{number}", session=SESSION, text=text.rstrip(),
        member="john", speaker="john", said_at=START + timedelta(days=day, minutes=number),
        origin=Origin.SAID,
    )  # fmt: skip
    return episode, observations


def outdated(conn: Connection, household: str) -> set[str]:
    """Return sentences that were true once or never, and are nowhere said of what holds now."""
    said, facts = tables.statements, tables.facts
    rows = conn.execute(select(facts).where(facts.c.household == household)).mappings()
    holds = {row["id"]: fact_from_row(row).is_current(NOW) for row in rows}
    told = conn.execute(
        select(said.c.text, said.c.fact_id).where(said.c.household == household)
    ).all()
    current = {row.text for row in told if row.fact_id is None or holds.get(row.fact_id)}
    gone = {row.text for row in told if row.fact_id and not holds.get(row.fact_id)}
    # What a sentence that holds says again, word for word, is not outdated.
    return {text for text in gone if not any(text in other for other in current)}


async def outputs(
    store: Store, household: str, sentences: Iterable[str], streaming: Streaming, finder: Finder
) -> str:
    """Return everything that any path says of memory, in one text."""
    viewer, clock = Viewer.of(household, "john"), VirtualClock(NOW)
    people = family()
    brain = HouseholdBrain(store, replace(people, id=household), finder, clock)
    turn_context = await assembled(
        store, streaming, Thread(viewer, SESSION), now=START + timedelta(days=60, hours=12),
        budget=5000, names=people.names,
    )  # fmt: skip
    fitted = turn_context.fitted
    said = [*fitted.recent, *(each.text for each in (*fitted.facts, *fitted.episodes))]
    for text in sentences:
        begun = await injected(store, finder, viewer, query=text, now=NOW)
        found = await finder.search(Search(text=text, viewer=viewer, now=NOW, limit=20))
        known = await brain.know(BrainQuery(text=text), viewer)
        said += [
            as_markdown(begun, people.zone, people.names), *(hit.text for hit in found.hits), known.answer,
            *(source.text + source.sentence for source in known.sources),
            *(f"{time.context} {time.value}" for time in known.times),
        ]  # fmt: skip
    return "\n".join(said)


async def leaks_of(store: Store, draw: random.Random, number: int) -> tuple[list[str], int]:
    """Tell one chain, and return what leaks out of it, and how many sentences were outdated."""
    household = f"h{number}"
    turns = [turn(draw, household, place) for place in range(draw.randint(2, 6))]
    finder = Finder(store, household, zone=family().zone)
    streaming = Streaming(store, finder, VirtualClock(NOW))
    half = len(turns) // 2

    def tell(some: Sequence[tuple[Episode, list[Observation]]]) -> None:
        def work(conn: Connection) -> None:
            for episode, observations in some:
                remember(conn, episode, observations, at=NOW)

        store.write_now(work)

    tell(turns[:half])
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(streaming.run())
        streaming.turn_ended(Thread(Viewer.of(household, "john"), SESSION))
        while not streaming.figures.searched:
            await asyncio.sleep(0)
        looking.cancel()
    tell(turns[half:])
    gone = store.read_now(lambda conn: outdated(conn, household))
    # Nothing brings a sentence back as surely as itself.
    said = await outputs(store, household, sorted(gone)[:ASKED], streaming, finder)
    return [text for text in gone if text in said], len(gone)


async def leaking(store: Store, chains: int, seed: int) -> tuple[list[str], int]:
    draw, leaks, tried = random.Random(seed), [], 0  # noqa: S311 - a test's chains
    for number in range(chains):
        found, gone = await leaks_of(store, draw, number)
        leaks += [f"chain {number}: {text}" for text in found]
        tried += gone
    return leaks, tried


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "memory.sqlite")) as opened:
        yield opened


def test_nothing_superseded_comes_out_of_a_few_chains(store: Store) -> None:
    leaks, tried = asyncio.run(leaking(store, 20, seed=1))
    assert leaks == []
    assert tried > 20


@pytest.mark.slow
def test_nothing_superseded_comes_out_of_many_chains(store: Store) -> None:
    leaks, tried = asyncio.run(leaking(store, MANY_CHAINS, seed=2))
    assert leaks == []
    assert tried > MANY_CHAINS


def test_nothing_of_other_people_and_households_comes_out(store: Store) -> None:
    def place(conn: Connection, household: str, scope: str) -> None:
        episode = Episode(
            household=household, id=f"{household}/{scope}", session=SESSION, scope=scope,
            text=CANARY, member="sarah", said_at=START, origin=Origin.SAID,
        )  # fmt: skip
        observation = Observation(
            text=CANARY, start=0, end=len(CANARY), category=Category.IDENTITY, title=CANARY,
            narrative=CANARY,
        )  # fmt: skip
        remember(conn, episode, [observation], at=NOW)

    async def told(household: str) -> str:
        finder = Finder(store, household, zone=family().zone)
        streaming = Streaming(store, finder, VirtualClock(NOW))
        return await outputs(store, household, ["Where does the canary sing?"], streaming, finder)

    store.write_now(lambda conn: place(conn, "h", person_scope("sarah")))
    store.write_now(lambda conn: place(conn, "elsewhere", HOUSEHOLD_SCOPE))
    assert "cellar" not in asyncio.run(told("h"))
    assert "cellar" in asyncio.run(told("elsewhere"))
