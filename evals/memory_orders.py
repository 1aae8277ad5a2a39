"""Whether the order in which words arrive changes what is believed, found and handed on.

The turns of a chain arrive in several orders, a minute apart, each order in a household of its own. Afterwards all that
is stored of what is believed is compared, and what searches and a new session show.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, select

from evals.memory_chains import Draws, Told
from kinkeeper.household.model import Household, members_by_name
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory import tables
from kinkeeper.memory.context.session_facts import as_markdown, injected
from kinkeeper.memory.episodes import outdated_spans
from kinkeeper.memory.finding.search import Finder, Search
from kinkeeper.memory.ingest import remember
from kinkeeper.memory.model import FactStatus, Row
from kinkeeper.store.store import Store

RANDOM_ORDERS = 3
"""Orders beside the one in which a chain is told and its reverse."""

APART = timedelta(minutes=1)
"""Between two arrivals."""

_NEARLY = 1e-3
_MOST = 50
_ASKED = 4
# What tells when something arrived, or is made of ids that differ with the order of arrival.
_OF_ARRIVAL = frozenset(
    (
        "household",
        "id",
        "status",
        "superseded_by",
        "merged_into_id",
        "doubted_by",
        "confidence",
        "created_at",
        "decayed_until",
        "due_at",
        "seq",
        "derived_from",
        "source",
        "fact_id",
        "strand",
        "episode_id",
    )
)


class State(NamedTuple):
    """What is believed and shown at the end.

    Attributes:
        lines: A line each thing, in an order of their own.
        confidences: Of the facts, in the order of their lines.
    """

    lines: Sequence[str]
    confidences: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A household to which a chain is told.

    Attributes:
        store: Holds nothing of it.
        people: The household, with an id of its own.
        asker: On whose behalf is searched: a member id.
        now: When the first turn arrives, after all were said; aware.
    """

    store: Store
    people: Household
    asker: str
    now: datetime

    @property
    def viewer(self) -> Viewer:
        """Who sees the asker's memory."""
        return Viewer.of(self.people.id, self.asker)


def orders(draws: Draws, count: int) -> list[list[int]]:
    """Return the orders in which so many turns arrive: as told, reversed, and random ones.

    Args:
        draws: Decide the random ones.
        count: Of turns, > 0.
    """
    found = [[*range(count)], [*reversed(range(count))]]
    for _ in range(RANDOM_ORDERS):
        left = [*range(count)]
        found.append([left.pop(draws.below(len(left))) for _ in range(count)])
    return found


async def state_after(arrival: Arrival, turns: Sequence[Told], order: Sequence[int]) -> State:
    """Tell a chain in an order of arrival; return what is believed and shown then.

    Args:
        arrival: To whom it is told.
        turns: The chain.
        order: Places in it.
    """
    for minute, place in enumerate(order):
        at = arrival.now + minute * APART
        arrival.store.write_now(partial(hear, arrival=arrival, turns=turns, place=place, at=at))
    now = arrival.now + len(order) * APART
    believed, confidences = arrival.store.read_now(
        lambda conn: _believed(conn, arrival.people.id, now)
    )
    texts = sorted({each.text for turn in turns for each in turn.observations})
    return State([*believed, *await _shown(arrival, texts[:_ASKED], now)], confidences)


def hear(
    conn: Connection, arrival: Arrival, turns: Sequence[Told], place: int, *, at: datetime
) -> None:
    """Remember one turn of a chain, as what members say is remembered.

    Args:
        conn: In a write transaction.
        arrival: To whom it is told.
        turns: The chain.
        place: Which of its turns.
        at: When it arrives, aware.
    """
    people = arrival.people
    remember(
        conn,
        turns[place].as_episode(people.id, place),
        turns[place].observations,
        at=at,
        people=members_by_name(people),
        guardians=people.guardians,
    )


def differences(one: State, other: State) -> list[str]:
    """Return what two states do not share, a line each; confidences differ by what minutes of silence take.

    Args:
        one: A state.
        other: Of the same chain.
    """
    found = sorted({*one.lines} ^ {*other.lines})
    if not found and one.lines != other.lines:
        found = ["a line stands there more often"]
    pairs = zip(one.confidences, other.confidences, strict=False)
    if not found and not all(math.isclose(a, b, abs_tol=_NEARLY) for a, b in pairs):
        found = [f"confidences {one.confidences} and {other.confidences}"]
    return found


def _believed(
    conn: Connection, household: str, now: datetime
) -> tuple[Sequence[str], Sequence[float]]:
    """Return statements and facts as lines without ids, and how far the facts are believed."""
    facts = {row["id"]: row for row in _rows(conn, tables.facts, household)}
    held = {key: row for key, row in facts.items() if row["status"] != FactStatus.MERGED_INTO}
    lines = {key: _fact_line(row, facts) for key, row in held.items()}
    ordered = sorted(lines, key=lambda key: lines[key])
    said = [
        f"statement {each['episode_id'].rpartition('-')[2]} {_plain(each)} "
        f"of {facts[each['fact_id']]['narrative'] if each['fact_id'] else None}"
        for each in _rows(conn, tables.statements, household)
    ]
    episodes = [row["id"] for row in _rows(conn, tables.episodes, household)]
    cut = outdated_spans(conn, household, episodes, at=now)
    spans = [f"cut {key.rpartition('-')[2]} {places}" for key, places in cut.items()]
    return (sorted([*lines.values(), *said, *spans]), [held[key]["confidence"] for key in ordered])


def _fact_line(row: Row, facts: Mapping[str, Row]) -> str:
    status = "held" if FactStatus(row["status"]).is_active else row["status"]
    leads = [facts[row[name]]["narrative"] if row[name] else None for name in _LEADS]
    rests = sorted(each.rpartition("-")[2] for each in row["derived_from"])
    return f"fact {status} {_plain(row)} to {leads} on {rests} from {row['source'][-1]}"


_LEADS = ("superseded_by", "doubted_by")


def _plain(row: Row) -> str:
    return str({name: str(value) for name, value in row.items() if name not in _OF_ARRIVAL})


def _rows(conn: Connection, table: Table, household: str) -> Sequence[Mapping[str, Any]]:
    rows = conn.execute(select(table).where(table.c.household == household)).mappings()
    return [dict(row) for row in rows]


async def _shown(arrival: Arrival, texts: Sequence[str], now: datetime) -> list[str]:
    """Return what searches and a new session show, a line each; hits that are as good in any order."""
    finder = Finder(arrival.store, arrival.people.id, zone=arrival.people.zone)
    lines: list[str] = []
    for text in texts:
        search = Search(text=text, viewer=arrival.viewer, now=now, limit=_MOST)
        hits = (await finder.search(search)).hits
        lines += sorted(
            f"search {text} {hit.kind} {hit.text} {hit.at} {hit.speaker} {hit.score:.3f}"
            for hit in hits
        )
    begun = await injected(arrival.store, finder, arrival.viewer, query=None, now=now)
    session = as_markdown(begun, arrival.people.zone, arrival.people.names)
    return [*lines, *sorted(session.splitlines())]
