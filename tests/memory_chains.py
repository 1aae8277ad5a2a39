"""Random chains of statements about one family's life, and what a memory holds, made comparable.

The slow tests go through a sample of chains; MEMORY_CHAINS asks for more (a thousand is the aim).
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from sqlalchemy import Connection, create_engine, select

from evals.memory_chains import BEGUN, MANY, SINGLE
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE
from kinkeeper.memory import tables
from kinkeeper.memory.ingest import Remembered, remember
from kinkeeper.memory.model import Category, Correction, Episode, Observation, Origin
from kinkeeper.store.schema import metadata

START = BEGUN
NOW = START + timedelta(days=365)
MANY_CHAINS = int(os.environ.get("MEMORY_CHAINS", "150"))
TABLES = [table for table in metadata.tables.values() if table.name in vars(tables)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One sentence of a chain.

    Attributes:
        text: The sentence.
        day: When, days after `START`.
        origin: Where it comes from.
        member: Who says it.
        correction: What it sets right.
        category: What it is about.
        from_day: Since when it holds, where it says so.
        until_day: Until when, where it says so.
    """

    text: str
    day: int
    origin: Origin = Origin.SAID
    member: str = "john"
    correction: Correction | None = None
    category: Category = Category.IDENTITY
    from_day: int | None = None
    until_day: int | None = None


@st.composite
def sentences(draw: st.DrawFn) -> Said:
    """Return any sentence: told, changed, ended or corrected, also several at one instant and with a span of its own."""
    day = draw(st.one_of(st.integers(0, 60), st.integers(0, 2)))
    member = draw(st.sampled_from(["john", "john", "john", "sarah"]))
    if draw(st.integers(0, 4)) == 0:
        told, ended, values = MANY
        text = draw(st.sampled_from([*told, *ended])).format(draw(st.sampled_from(values)))
        return Said(text=text, day=day, member=member, category=Category.PREFERENCE)
    told, changed, ended, values, _ = SINGLE[draw(st.sampled_from(sorted(SINGLE)))]
    value, other = draw(st.sampled_from(values)), draw(st.sampled_from(values))
    text = draw(st.sampled_from([*told, *told, *changed, *ended])).replace("{}", value)
    wrong = draw(st.sampled_from(told)).replace("{}", other)
    correction = draw(
        st.sampled_from(
            [
                *[None] * 7,
                Correction(),
                Correction(corrects=wrong),
                Correction(corrects=wrong, is_retraction=True),
            ]
        )
    )
    origin = draw(st.sampled_from([Origin.SAID, Origin.SAID, Origin.SAID, Origin.IMPORTED]))
    from_day, until_day = draw(
        st.sampled_from([(None, None)] * 6 + [(day - 20, None), (None, day + 30), (day + 10, None)])
    )
    return Said(
        text=text,
        day=day,
        origin=origin,
        member=member,
        correction=correction,
        from_day=from_day,
        until_day=until_day,
    )


chains = st.lists(sentences(), min_size=2, max_size=6)


def say(
    conn: Connection,
    place: int,
    said: Said,
    *,
    household: str = "h",
    scope: str = HOUSEHOLD_SCOPE,
    at: datetime = NOW,
) -> Remembered:
    """Let a sentence of a chain be remembered; its place makes its episode."""
    episode = Episode(
        household=household,
        id=f"{household}-{place}",
        scope=scope,
        text=said.text,
        member=said.member,
        said_at=START + timedelta(days=said.day),
        origin=said.origin,
    )
    observation = Observation(
        text=said.text,
        start=0,
        end=len(said.text),
        category=said.category,
        title=said.text,
        narrative=said.text,
        correction=said.correction,
        valid_from=_instant(said.from_day),
        valid_to=_instant(said.until_day),
    )
    return remember(conn, episode, [observation], at=at)


def _instant(day: int | None) -> datetime | None:
    return None if day is None else START + timedelta(days=day)


def state(conn: Connection, household: str = "h") -> list[tuple[Any, ...]]:
    """Return what is believed, without ids, and without facts that turned out to be others."""
    facts = tables.facts
    rows = conn.execute(select(facts).where(facts.c.household == household)).mappings().all()
    words = {row["id"]: row["narrative"] for row in rows}
    return sorted(
        (
            row["narrative"],
            row["scope"],
            row["status"],
            row["held_from"].isoformat(),
            row["valid_to"] and row["valid_to"].isoformat(),
            row["evidence_count"],
            tuple(sorted(row["derived_from"])),
            row["is_contradicted"],
            row["superseded_by"] and words[row["superseded_by"]],
            row["origin"],
        )
        for row in rows
        if row["status"] != "merged_into"
    )


def rows(conn: Connection) -> Mapping[str, Sequence[str]]:
    """Return every row of what undo restores, change numbers aside."""
    tracked = (
        tables.facts,
        tables.statements,
        tables.statement_keys,
        tables.episodes,
        tables.memory_verdicts,
    )
    return {
        table.name: sorted(
            repr({name: value for name, value in row.items() if name != "seq"})
            for row in conn.execute(select(table)).mappings()
        )
        for table in tracked
    }


@contextmanager
def memory() -> Iterator[Connection]:
    """Yield a connection to an empty memory that is gone afterwards."""
    engine = create_engine("sqlite://")
    metadata.create_all(engine, TABLES)
    with engine.begin() as conn:
        yield conn
    engine.dispose()
