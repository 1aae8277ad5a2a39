"""Whether a confidence means what it says: 200 days of a made-up world whose truth is known, through the real memory.

Only what is transient is told: a confidence stands for a chance that falls with time only there. The
world is the one that memory assumes. What is true today is true tomorrow with the chance that
silence leaves of a confidence; whoever tells of a thing believes something wrong about it as often
as a new statement is doubted, and says the same as long as the thing does not change, so that
repeating it makes it no truer. What is measured is whether statements, updates and nights keep to
that. Worlds in which people err less or more often are told beside it.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import numpy as np
from sqlalchemy import Connection

from evals.report import Floor, Report, Table
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.confidence import FADES_A_DAY, MOST, confidence_now
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.ingest import STARTS, remember
from kinkeeper.memory.model import Category, Episode, Observation, Origin
from kinkeeper.memory.upkeep.consolidation import consolidate
from kinkeeper.memory.upkeep.planner import Tools
from kinkeeper.store.store import Store

DAYS = 200
SEED = 20260301

_Row = tuple[str | int | float, ...]
_HOUSE = "simulated"
_BEGIN = datetime(2026, 1, 1, 18, tzinfo=UTC)
_WRONG = 1 - STARTS[Origin.SAID]
_OTHER_WRONG = (_WRONG - 0.05, _WRONG + 0.05)
_MENTIONS_A_DAY = (1 / 60, 1 / 8)
_LOOKED_EVERY = 5
_BINS = 10
_LARGEST_ERROR = 0.05
_PEOPLE = (
    "Ana",
    "Ben",
    "Carla",
    "David",
    "Emma",
    "Frank",
    "Grace",
    "Henry",
    "Ivan",
    "Julia",
    "Karl",
    "Laura",
    "Martin",
    "Nora",
    "Peter",
    "Quentin",
    "Rosa",
    "Steve",
    "Tina",
    "Victor",
)
_THINGS = {
    "{who} is reading {what} at the moment": (
        "Emma",
        "Ulysses",
        "Dune",
        "Persuasion",
        "Ivanhoe",
        "Kim",
    ),
    "{who} has {what} for breakfast these days": (
        "porridge",
        "toast",
        "muesli",
        "eggs",
        "fruit",
        "yoghurt",
    ),
    "{who} has {what} for lunch these days": ("soup", "salad", "pasta", "rice", "noodles", "curry"),
    "{who} uses {what} for music these days": (
        "Spotify",
        "Tidal",
        "Deezer",
        "Qobuz",
        "Napster",
        "Pandora",
    ),
    "{who}'s thesis is currently about {what}": (
        "moss",
        "reeds",
        "bees",
        "glaciers",
        "rivers",
        "moths",
    ),
}


@dataclass(slots=True)
class _Thing:
    """Something that is so, and what the one who tells of it believes."""

    template: str
    who: str
    values: tuple[str, ...]
    truth: str
    belief: str
    changes: float
    mentions: float

    def told(self, value: str) -> str:
        return self.template.format(who=self.who, what=value)


class _World:
    """What is so, day by day."""

    def __init__(self, seed: int, wrong: float) -> None:
        self._chance = np.random.default_rng(seed)
        self._wrong = wrong
        self._owed = 0.0
        self.things = [
            self._thing(template, who, values)
            for template, values in _THINGS.items()
            for who in _PEOPLE
        ]

    def tell(self) -> Iterator[_Thing]:
        """Let a day pass; yield what somebody speaks of."""
        for thing in self.things:
            if self._chance.random() < thing.changes:
                thing.truth = self._other(thing.values, thing.truth)
                thing.belief = self._believed(thing.values, thing.truth)
            if self._chance.random() < thing.mentions:
                yield thing

    def _thing(self, template: str, who: str, values: tuple[str, ...]) -> _Thing:
        truth = str(self._chance.choice(values))
        return _Thing(
            template=template,
            who=who,
            values=values,
            truth=truth,
            belief=self._believed(values, truth),
            changes=float(FADES_A_DAY * self._chance.uniform(0.5, 1.5)),
            mentions=float(self._chance.uniform(*_MENTIONS_A_DAY)),
        )

    def _believed(self, values: tuple[str, ...], truth: str) -> str:
        # Exactly so many are wrong, in whatever order: there are too few things to leave it to chance.
        self._owed += self._wrong
        if self._chance.random() >= self._owed:
            return truth
        self._owed -= 1
        return self._other(values, truth)

    def _other(self, values: tuple[str, ...], value: str) -> str:
        return str(self._chance.choice([each for each in values if each != value]))


@dataclass(frozen=True, slots=True)
class _Seen:
    """A fact on a day: how sure memory is, and whether it is so."""

    confidence: float
    is_true: bool


def measure(days: int = DAYS, seed: int = SEED, *, has_others: bool = False) -> Report:
    """Live through the days, and compare confidences with the truth.

    Args:
        days: How many, > 0.
        seed: Of the world.
        has_others: Whether worlds in which people err less or more often are lived through, too.
    """
    rows, error, seen, repeated = _lived(days, seed, _WRONG)
    brier = float(np.mean([(each.confidence - each.is_true) ** 2 for each in seen]))
    figures = Table(
        title=f"Confidence against the truth over {days} days",
        columns=("confidence", "looks", "mean confidence", "share true"),
        rows=rows,
    )
    summary = Table(
        title="Summary",
        columns=("figure", "value"),
        rows=(
            ("expected calibration error", error),
            ("Brier score", brier),
            ("one source, repeated daily", repeated),
            *(
                (f"calibration error where {wrong:.0%} is wrong", _lived(days, seed, wrong)[1])
                for wrong in (_OTHER_WRONG if has_others else ())
            ),
        ),
    )
    return Report(
        suite="memory confidence",
        tables=(figures, summary),
        worst=(),
        floors=(
            Floor(name="1 - calibration error", value=1 - error, minimum=1 - _LARGEST_ERROR),
            Floor(name="1 - repeated source", value=1 - repeated, minimum=1 - MOST),
        ),
    )


def _lived(
    days: int, seed: int, wrong: float
) -> tuple[tuple[_Row, ...], float, Sequence[_Seen], float]:
    """Return a row for each bin, the calibration error, all looks, and what repeating leads to."""
    with TemporaryDirectory() as folder, Store.open(str(Path(folder) / "memory.db")) as store:
        seen = _live(store, _World(seed, wrong), days)
        repeated = _repeated(store, days)
    return *_calibration(seen), seen, repeated


def _live(store: Store, world: _World, days: int) -> list[_Seen]:
    seen: list[_Seen] = []
    for count in range(days):
        now = _BEGIN + timedelta(days=count)
        for number, thing in enumerate(world.tell()):
            _say(store, thing.told(thing.belief), now + timedelta(seconds=number))
        night = now + timedelta(hours=10)
        _night(store, night)
        if count % _LOOKED_EVERY == _LOOKED_EVERY - 1:
            seen += _look(store, world, night)
    return seen


def _repeated(store: Store, days: int) -> float:
    """Return how sure memory gets of what one person says every day."""
    for count in range(days):
        _say(store, "Oscar collects stamps", _BEGIN + timedelta(days=days + count))
    now = _BEGIN + timedelta(days=2 * days)
    facts = store.read_now(lambda conn: list_facts(conn, Viewer.of(_HOUSE), now=now))
    (found,) = (each for each in facts if "stamps" in each.narrative)
    return found.confidence


def _say(store: Store, text: str, at: datetime) -> None:
    episode = Episode(
        household=_HOUSE,
        id=f"{at.isoformat()} {text}",
        member="oscar",
        text=text,
        said_at=at,
        origin=Origin.SAID,
    )
    seen = Observation(
        text=text,
        start=0,
        end=len(text),
        category=Category.PROJECT_ACTIVE,
        title=text,
        narrative=text,
    )
    store.write_now(lambda conn: remember(conn, episode, [seen], at=at))


def _night(store: Store, now: datetime) -> None:
    tools = Tools(people={}, zone=ZoneInfo("UTC"))
    asyncio.run(consolidate(store, _HOUSE, tools, now=now, progress=lambda _: None, is_agreed=True))


def _look(store: Store, world: _World, now: datetime) -> list[_Seen]:
    true = {thing.told(thing.truth) for thing in world.things}

    def read(conn: Connection) -> list[_Seen]:
        facts = list_facts(conn, Viewer.of(_HOUSE), now=now)
        return [_Seen(confidence_now(each, now), each.narrative in true) for each in facts]

    return store.read_now(read)


def _calibration(seen: Sequence[_Seen]) -> tuple[tuple[_Row, ...], float]:
    """Return a row for each bin of confidences, and the expected calibration error."""
    rows: list[_Row] = []
    error = 0.0
    for place in range(_BINS):
        low, high = place / _BINS, (place + 1) / _BINS
        among = [each for each in seen if low <= each.confidence < high]
        if among:
            sure = float(np.mean([each.confidence for each in among]))
            share = float(np.mean([each.is_true for each in among]))
            error += len(among) / len(seen) * abs(sure - share)
            rows.append((f"{low:.1f} to {high:.1f}", len(among), sure, share))
    return tuple(rows), error
