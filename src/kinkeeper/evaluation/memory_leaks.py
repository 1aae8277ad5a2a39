"""Whether what holds no more, or is another's, comes out of memory by any path: random chains of statements.

Each chain is told in one session, in any order of what it speaks of. Half way through, the next turn's memories are
looked up; then the rest is told. At the end everything that assembles or answers is asked about what is outdated.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from sqlalchemy import Connection, select

from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.brain.model import BrainQuery
from kinkeeper.core.time import VirtualClock
from kinkeeper.evaluation.report import Floor, Report, Table
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Household
from kinkeeper.household.viewing import Viewer
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

SAMPLE, FULL = 40, 1_000
"""How many chains are told: by default, and in full."""

_FAMILY = Path("examples") / "miller" / "household.toml"
_BEGUN = datetime(2026, 1, 5, 8, tzinfo=UTC)
NOW = _BEGUN + timedelta(days=61)
"""When everything is asked, after all was said."""

SESSION = "s"
_CHATTER = ("By the way: ", "Ha, listen. ", "", "")
_ASKED = 3
_ONE_IN = 5

T = TypeVar("T")

# Slots that hold one value: ways to say it, ways to say that it changed, ways to end it, and values.
SINGLE = {
    "home": (
        ["I live in {}.", "My home is in {}."], ["I moved to {}.", "I live in {} now."],
        ["I no longer live in {}."], ["York", "Leeds", "Hull", "Bath", "Derby", "Truro"],
    ),
    "employer": (
        ["I work for {}.", "I work at {}."], ["I now work for {}.", "I switched to {} for work, I work at {}."],
        ["I no longer work for {}."], ["Siemens", "Tesco", "Lidl", "Ocado", "Asda"],
    ),
    "car": (
        ["My car is a {}."], ["My car is now a {}."], ["I no longer have the {}."],
        ["Volvo", "Skoda", "Honda", "Fiat"],
    ),
}  # fmt: skip
MANY = (
    ["I love {}.", "I really like {}."],
    ["I don't like {} any more."],
    ["sushi", "tennis", "jazz", "olives"],
)


def measure(root: Path, *, chains: int = SAMPLE) -> Report:
    """Tell chains, and count what of them comes out though it holds no more.

    Args:
        root: The repository.
        chains: How many, > 0.
    """
    with (
        TemporaryDirectory(prefix="kinkeeper-eval-") as folder,
        Store.open(f"{folder}/memory.sqlite") as store,
    ):
        found, tried = asyncio.run(
            leaking(store, load_household(root / _FAMILY), chains=chains, seed=3)
        )
    kept = 1 - len(found) / max(1, tried)
    return Report(
        suite="memory leaks", worst=tuple(found),
        tables=(
            Table(
                title="Superseded text that reaches a context or an answer",
                columns=("chains of updates", "outdated sentences", "leaked"),
                rows=((chains, tried, len(found)),),
            ),
        ),
        floors=(
            Floor(name="outdated sentences kept in", value=kept, minimum=1.0),
            Floor(name="outdated sentences tried, by chain", value=tried / chains, minimum=1.0),
        ),
    )  # fmt: skip


class _Draws:
    """Draws that are the same in every run: digests of a seed and a counter."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._count = 0

    def below(self, end: int) -> int:
        """Return a number of [0, end)."""
        self._count += 1
        digest = hashlib.sha256(f"{self._seed} {self._count}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % end

    def between(self, first: int, last: int) -> int:
        """Return a number of [first, last]."""
        return first + self.below(last - first + 1)

    def choice(self, among: Sequence[T]) -> T:
        """Return one of some."""
        return among[self.below(len(among))]


async def leaking(
    store: Store, family: Household, *, chains: int, seed: int
) -> tuple[list[str], int]:
    """Tell chains, and return what leaks out of them, and how many sentences were outdated.

    Args:
        store: Empty.
        family: Whose members speak.
        chains: How many.
        seed: Of the draws.
    """
    draws, tried = _Draws(seed), 0
    leaks: list[str] = []
    for number in range(chains):
        found, gone = await _leaks_of(store, family, draws, number)
        leaks += [f"chain {number}: {text}" for text in found]
        tried += gone
    return leaks, tried


def _sentence(draws: _Draws) -> tuple[str, Category]:
    """Return something told, changed or ended."""
    if not draws.below(_ONE_IN):
        told, ended, values = MANY
        return draws.choice([*told, *ended]).format(draws.choice(values)), Category.PREFERENCE
    told, changed, ended, values = SINGLE[draws.choice(sorted(SINGLE))]
    said = draws.choice([*told, *changed, *changed, *ended]).replace("{}", draws.choice(values))
    return said, Category.IDENTITY


def _turn(draws: _Draws, household: str, number: int) -> tuple[Episode, list[Observation]]:
    """Return one turn of a talk: some sentences, with or without other words around them.

    Args:
        draws: Decide what is said.
        household: Tenant key.
        number: Of the turn.
    """
    text, observations = draws.choice(_CHATTER), []
    for _ in range(draws.between(1, 3)):
        said, category = _sentence(draws)
        observations.append(
            Observation(
                text=said, start=len(text), end=len(text) + len(said), category=category,
                title=said, narrative=said,
                correction=draws.choice([None, None, None, Correction()]),
            )
        )  # fmt: skip
        text += said + " "
    day = draws.between(0, 60)  # told in any order
    episode = Episode(
        household=household, id=f"{household}-{number}", session=SESSION, text=text.rstrip(),
        member="john", speaker="john", said_at=_BEGUN + timedelta(days=day, minutes=number),
        origin=Origin.SAID,
    )  # fmt: skip
    return episode, observations


def _outdated(conn: Connection, household: str) -> set[str]:
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
    store: Store,
    people: Household,
    sentences: Iterable[str],
    *,
    streaming: Streaming,
    finder: Finder,
) -> str:
    """Return everything that any path says of memory, in one text.

    Args:
        store: The database.
        people: The household, with the id under which it was told.
        sentences: What to ask about.
        streaming: What was looked up ahead.
        finder: Searches the same memory.
    """
    viewer, clock = Viewer.of(people.id, "john"), VirtualClock(NOW)
    brain = HouseholdBrain(store, people, finder, clock)
    turn_context = await assembled(
        store, streaming, Thread(viewer, SESSION), now=_BEGUN + timedelta(days=60, hours=12),
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


async def _leaks_of(
    store: Store, family: Household, draws: _Draws, number: int
) -> tuple[list[str], int]:
    """Tell one chain, and return what leaks out of it, and how many sentences were outdated."""
    household = f"h{number}"
    turns = [_turn(draws, household, place) for place in range(draws.between(2, 6))]
    finder = Finder(store, household, zone=family.zone)
    streaming = Streaming(store, finder, VirtualClock(NOW))
    half = len(turns) // 2

    def tell(some: Sequence[tuple[Episode, list[Observation]]]) -> None:
        def work(conn: Connection) -> None:
            for episode, observations in some:
                remember(conn, episode, observations, at=NOW)

        store.write_now(work)

    tell(turns[:half])
    await _looked_up(streaming, Thread(Viewer.of(household, "john"), SESSION))
    tell(turns[half:])
    gone = store.read_now(lambda conn: _outdated(conn, household))
    # Nothing brings a sentence back as surely as itself.
    said = await outputs(
        store,
        replace(family, id=household),
        sorted(gone)[:_ASKED],
        streaming=streaming,
        finder=finder,
    )
    return [text for text in gone if text in said], len(gone)


async def _looked_up(streaming: Streaming, thread: Thread) -> None:
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(streaming.run())
        streaming.turn_ended(thread)
        while not streaming.figures.searched:  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0)
        looking.cancel()
