"""Whether the brain's answers rest on what bears on the question, and whether it says so where nothing is known."""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sqlalchemy import Connection

from evals.report import Floor, Report, Table, share
from kinkeeper.bootstrap import System, open_system
from kinkeeper.brain.answer_text import BEARS
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.brain.model import BrainQuery, Knowledge
from kinkeeper.calendar.event_rows import read_events
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.episodes import insert_episodes
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.search import Finder
from kinkeeper.memory.ingest import ImportedFact, import_facts
from kinkeeper.memory.model import Episode, Origin
from kinkeeper.memory.statements.classification import classify
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.observer.memory_query import query_of
from kinkeeper.settings.model import Settings

FOLDER = Path("evals/data/memory/brain")
HELD_OUT = "heldout"
"""In the names of files on which nothing was fitted."""

FITTED_TITLE, HELD_OUT_TITLE = "fitted on", "held out"

FLOORS = {
    "held out, by words: known things answered": 0.8,
    "held out, by words: unknown things refused": 0.88,
    "held out, by words: answers right": 0.9,
}
_MILLISECONDS = 1000
_BINS = 5
_SEED, _TRIALS = 20260301, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and what came of it.

    Attributes:
        text: The question.
        bears_on: Ids of what bears on it; none where nothing is known.
        known: The answer.
        milliseconds: It took.
        is_held_out: Whether nothing was fitted on it.
    """

    text: str
    bears_on: frozenset[str]
    known: Knowledge
    milliseconds: float
    is_held_out: bool

    @property
    def is_answered(self) -> bool:
        """Whether it says that it knows something."""
        return self.known.relevance >= BEARS

    @property
    def is_known_well(self) -> bool:
        """Whether something bears on it, and nothing else is said."""
        return bool(self.bears_on) and (self.is_right or not self.is_answered)

    @property
    def is_right(self) -> bool:
        """Whether the source it names first bears on the question."""
        return bool(self.known.sources) and self.known.sources[0].id in self.bears_on


def measure(*, embedders: Mapping[str, Embedder | None], root: Path) -> Report:
    """Ask every question of our own sets.

    Args:
        embedders: By name.
        root: The repository.
    """
    rows: list[tuple[str | int | float, ...]] = []
    values: dict[str, float] = {}
    worst: list[str] = []
    for name, embedder in embedders.items():
        asked = asyncio.run(_asked_all(root, embedder))
        by = "words" if embedder is None else name
        for title, some in _split(asked).items():
            known = [each for each in some if each.bears_on]
            unknown = [each for each in some if not each.bears_on]
            answered = [each for each in some if each.is_answered]
            relevances = [each.known.relevance for each in some]
            figures = (
                share(each.is_answered for each in known),
                share(not each.is_answered for each in unknown),
                share(each.is_right for each in answered),
                _calibration_error(relevances, [each.is_known_well for each in some]),
                _error_by_chance(relevances),
                sum(each.milliseconds for each in some) / len(some),
            )
            rows.append((f"{title}, by {by}", len(known), len(unknown), *figures))
            values[f"{title}, by {by}: known things answered"] = figures[0]
            values[f"{title}, by {by}: unknown things refused"] = figures[1]
            values[f"{title}, by {by}: answers right"] = figures[2]
            if title != HELD_OUT_TITLE:
                worst += _mistakes(by, some)
    columns = (
        "questions",
        "known",
        "unknown",
        "answered",
        "refused",
        "right",
        "calibration error",
        "by chance",
        "ms",
    )
    return Report(
        suite="brain",
        worst=tuple(worst),
        tables=(Table(title="Answers of the brain", columns=columns, rows=tuple(rows)),),
        floors=tuple(
            Floor(name=name, value=values[name], minimum=minimum)
            for name, minimum in FLOORS.items()
            if name in values
        ),
    )


def _split(asked: Sequence[Asked]) -> dict[str, list[Asked]]:
    return {
        FITTED_TITLE: [each for each in asked if not each.is_held_out],
        HELD_OUT_TITLE: [each for each in asked if each.is_held_out],
    }


def _calibration_error(relevances: Sequence[float], are_known: Sequence[bool]) -> float:
    """Return how far, on average, a relevance is from the share of questions whose answer bears on them."""
    bins: list[list[float]] = [[] for _ in range(_BINS)]
    for relevance, is_known in zip(relevances, are_known, strict=True):
        bins[min(_BINS - 1, int(relevance * _BINS))].append(relevance - is_known)
    return sum(abs(sum(some)) for some in bins) / len(relevances)


def _error_by_chance(relevances: Sequence[float]) -> float:
    """Return the error that so many relevances would have on average if they meant what they say."""
    drawn = np.random.default_rng(_SEED).random((_TRIALS, len(relevances)))
    errors = (
        _calibration_error(relevances, [bool(each) for each in trial])
        for trial in drawn < np.asarray(relevances)
    )
    return sum(errors) / _TRIALS


def _mistakes(by: str, asked: Sequence[Asked]) -> Iterator[str]:
    for each in asked:
        if each.is_answered and not each.is_right:
            yield f"by {by}, answered with what does not bear on it: {each.text}"
        elif each.bears_on and not each.is_answered:
            yield f"by {by}, known and not answered ({each.known.relevance:.2f}): {each.text}"


async def _asked_all(root: Path, embedder: Embedder | None) -> list[Asked]:
    asked: list[Asked] = []
    for file in sorted((root / FOLDER).glob("*.jsonl")):
        records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        with _household(records[0], root) as (system, now):
            ids = _remember(system, records, now=now)
            finder = await _finder(system, embedder)
            brain = HouseholdBrain(system.store, system.household, finder, VirtualClock(now))
            for record in records:
                if record["kind"] == "question":
                    bears_on = frozenset(ids.get(each, each) for each in record["bears_on"])
                    query = query_of(record["q"], system.participants, now=now)
                    asked.append(
                        await _ask(brain, query, bears_on, is_held_out=HELD_OUT in file.stem)
                    )
    return asked


async def _ask(
    brain: HouseholdBrain, query: BrainQuery, bears_on: frozenset[str], *, is_held_out: bool
) -> Asked:
    begun = perf_counter()
    known = await brain.know(query, Viewer.of(brain.household.id))
    return Asked(
        text=query.text,
        bears_on=bears_on,
        known=known,
        is_held_out=is_held_out,
        milliseconds=_MILLISECONDS * (perf_counter() - begun),
    )


@contextmanager
def _household(record: Mapping[str, Any], root: Path) -> Iterator[tuple[System, datetime]]:
    with tempfile.TemporaryDirectory() as folder:
        database, asked_at = (
            Path(folder) / "brain.sqlite",
            datetime.fromisoformat(record["asked_at"]),
        )
        with open_system(
            Settings(),
            household_file=root / record["file"],
            database=str(database),
            now=asked_at.replace(tzinfo=UTC),
        ) as system:
            yield system, asked_at.replace(tzinfo=system.household.zone)


def _remember(
    system: System, records: Sequence[Mapping[str, Any]], *, now: datetime
) -> dict[str, str]:
    """Store what the records tell, and return the ids under which the calendar keeps its seeds."""
    household, zone = system.household.id, system.household.zone

    def at(record: Mapping[str, Any]) -> datetime:
        return datetime.fromisoformat(record["at"]).replace(tzinfo=zone)

    episodes = [
        Episode(
            household=household,
            id=each["id"],
            session=each["session"],
            speaker=each["speaker"],
            text=each["text"],
            said_at=at(each),
            origin=Origin.IMPORTED,
        )
        for each in records
        if each["kind"] == "episode"
    ]
    facts = []
    for each in records:
        if each["kind"] == "fact":
            read = classify(each["text"])
            facts.append(
                ImportedFact(
                    id=each["id"],
                    text=each["text"],
                    category=read.category,
                    type=read.type,
                    title=read.title,
                    at=at(each),
                )
            )

    def store(conn: Connection) -> dict[str, str]:
        insert_episodes(conn, episodes, at=now, is_read=True)
        import_facts(conn, household, facts, at=now)
        seeds = read_events(conn, Viewer.of(household)).values()
        return {event.provenance.source_id.rpartition(".")[2]: event.id for event in seeds}

    return system.store.write_now(store)


async def _finder(system: System, embedder: Embedder | None) -> Finder:
    household = system.household
    if embedder is not None:
        await EmbeddingWork(system.store, household.id, embedder).finish()
    return Finder(
        system.store, household.id, zone=household.zone, embedder=embedder, locale=household.locale
    )
