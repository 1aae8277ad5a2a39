"""How sure a reader must be before its card or offer is shown: what a household's own decisions moved, version by version.

Only the regulator writes versions (see `background.regulator`); whoever shows something reads the latest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    RowMapping,
    String,
    Table,
    bindparam,
    func,
    insert,
    select,
    update,
)

from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared
from kinkeeper.store.schema import Instant, metadata

TOPIC: Final = "bars"

learned_bars = Table(
    "learned_bars",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("bar", String(16), nullable=False),
    # What made it: a step, a bridge over where nothing was decided, a release, a revert, a person.
    Column("cause", String(16), nullable=False),
    # How far it lies above the shipped bar, and where it goes back to.
    Column("offset", Float, nullable=False),
    Column("back_to", Float, nullable=False),
    # What it rested on: numbers only.
    Column("why", JSON, nullable=False),
    Column("at", Instant, nullable=False),
    # Kept or reverted, on what, and when; nothing while it is on trial.
    Column("outcome", String(16)),
    Column("judged_on", JSON(none_as_null=True)),
    Column("judged_at", Instant),
    Index("ix_learned_bars_bar", "household", "bar", "id"),
)


class Bar(StrEnum):
    """What has a bar of its own."""

    CARDS = "cards"  # all kinds of cards that have too few decisions of their own
    JOBS = "jobs"
    EVENTS = "events"
    OFFERS = "offers"  # what the trained reader offers in conversation

    @property
    def label(self) -> str:
        """What it is called where people see it."""
        return _LABELS[self]

    @property
    def pool(self) -> "Bar | None":
        """The bar that holds where this one was never moved."""
        return Bar.CARDS if self in POOLED else None


_LABELS: Final = {
    Bar.CARDS: "cards",
    Bar.JOBS: "cards about who does something",
    Bar.EVENTS: "cards about events",
    Bar.OFFERS: "offers in conversation",
}
POOLED: Final = frozenset({Bar.JOBS, Bar.EVENTS})


class Cause(StrEnum):
    """What made a version."""

    STEP = "step"
    BRIDGE = "bridge"  # a step over scores at which nothing was decided: taken back with the next
    RELEASE = "release"  # back towards the shipped bar: what spoke against that is long ago
    REVIEW = "review"  # a step because a strong model often judged otherwise than was decided
    REVERT = "revert"
    PERSON = "person"


class Outcome(StrEnum):
    """What became of a version on trial."""

    KEPT = "kept"
    REVERTED = "reverted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A decision that people's next steps told right or wrong.

    Attributes:
        score: How sure the reader was, in [0, 1], above the shipped bar: 0 where it just passed that.
        is_wanted: Whether it was right to show it, or would have been.
        at: When it was decided whether to show it, aware.
        signal: What told so: "confirmed", "dismissed", "undone", "corrected", "rephrased", "reviewed as act".
        by: The model that said so; empty where people did.
    """

    bar: Bar
    score: float
    is_wanted: bool
    at: datetime
    signal: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a version rests on, or was judged by.

    Attributes:
        decisions: How many were labelled.
        pressure: Share of them that went wrong: shown and not wanted, or wanted and not shown.
        signals: Their number by signal.
        by: The model that labelled them; empty where people did.
    """

    decisions: int
    pressure: float
    signals: Mapping[str, int] = field(default_factory=dict)
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of one bar.

    Attributes:
        id: Counts up within the household.
        offset: How far it lies above the shipped bar.
        back_to: Where it goes if it is not kept.
        why: What it rests on.
        outcome: None while it is on trial, or never was.
        judged_on: What it was judged by.
    """

    id: int
    bar: Bar
    cause: Cause
    offset: float
    back_to: float
    why: Evidence
    at: datetime
    outcome: Outcome | None = None
    judged_on: Evidence | None = None
    judged_at: datetime | None = None

    @property
    def is_on_trial(self) -> bool:
        """Whether it has yet to prove itself."""
        return self.outcome is None and self.cause in _TRIED


_TRIED = frozenset({Cause.STEP, Cause.RELEASE, Cause.REVIEW})
_bars = learned_bars.c
_LAST = (
    select(func.max(_bars.id))
    .where(_bars.household == bindparam("of_household"), _bars.at <= bindparam("by", type_=Instant))
    .group_by(_bars.bar)
)
_IN_FORCE = Prepared(
    select(_bars.bar, _bars.offset).where(
        _bars.household == bindparam("of_household"), _bars.id.in_(_LAST)
    )
)


@dataclass(frozen=True, slots=True)
class Offsets:
    """How far each bar of a household lies above the shipped one."""

    by_bar: Mapping[Bar, float] = field(default_factory=dict)

    def of(self, bar: Bar) -> float:
        """Return how far one lies above the shipped one: its own, else that of its pool."""
        if bar in self.by_bar:
            return self.by_bar[bar]
        return self.by_bar.get(bar.pool, 0.0) if bar.pool else 0.0


NOT_MOVED = Offsets()


def offsets_at(conn: Connection, household: str, at: datetime) -> Offsets:
    """Return how far the bars of a household were moved by then: what is read again later is judged as it was."""
    rows = _IN_FORCE.execute(conn, {"of_household": household, "by": at})
    return Offsets({Bar(bar): offset for bar, offset in rows})


def versions(conn: Connection, household: str, *, limit: int | None = None) -> Sequence[Version]:
    """Return the versions of a household's bars, the newest first."""
    query = select(learned_bars).where(_bars.household == household).order_by(_bars.id.desc())
    return [_version(row) for row in conn.execute(query.limit(limit)).mappings()]


def add_version(conn: Connection, household: str, version: Version) -> None:
    """Put a version in force; the regulator's alone to call."""
    touch(conn, TOPIC, household)
    conn.execute(
        insert(learned_bars).values(
            household=household,
            id=version.id,
            bar=version.bar.value,
            cause=version.cause.value,
            offset=version.offset,
            back_to=version.back_to,
            why=asdict(version.why),
            at=version.at,
        )
    )


def judge_version(
    conn: Connection, household: str, number: int, outcome: Outcome, *, on: Evidence, now: datetime
) -> None:
    """Write what became of a version on trial; the regulator's alone to call."""
    conn.execute(
        update(learned_bars)
        .where(_bars.household == household, _bars.id == number)
        .values(outcome=outcome.value, judged_on=asdict(on), judged_at=now)
    )


def _version(row: RowMapping) -> Version:
    judged_on = row["judged_on"]
    return Version(
        id=row["id"],
        bar=Bar(row["bar"]),
        cause=Cause(row["cause"]),
        offset=row["offset"],
        back_to=row["back_to"],
        why=Evidence(**row["why"]),
        at=row["at"],
        outcome=row["outcome"] and Outcome(row["outcome"]),
        judged_on=judged_on and Evidence(**judged_on),
        judged_at=row["judged_at"],
    )
