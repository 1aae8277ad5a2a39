"""Whether every change that a chain made can be taken back to the letter, and every fact rests on stored words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from sqlalchemy import Connection, select

from evals.memory_chains import Draws, Told
from evals.memory_orders import APART, Arrival, hear
from kinkeeper.memory import tables
from kinkeeper.memory.adjustments import Finding, decide
from kinkeeper.memory.corrections import edit_fact, mark_wrong, retract_fact
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.invariants import check
from kinkeeper.memory.journal import Cause, changing, list_changes
from kinkeeper.memory.model import Ruling
from kinkeeper.memory.undo import undo

_RESTORED = (
    tables.facts,
    tables.statements,
    tables.statement_keys,
    tables.episodes,
    tables.memory_verdicts,
)
_CHANGES = 4
_LATEST = 100

_Step = Callable[[Connection], object]


def not_restored(arrival: Arrival, turns: Sequence[Told], draws: Draws) -> tuple[list[str], int]:
    """Tell a chain, change what is believed by hand and as a night does, then take all back, the latest first.

    Args:
        arrival: To whom it is told.
        turns: The chain.
        draws: Decide what is changed by hand.

    Returns:
        What is unsound, or not as it was before; and how many changes were taken back.
    """
    store, household = arrival.store, arrival.people.id
    found: list[str] = []
    before: list[tuple[int, Mapping[str, Sequence[str]]]] = []
    for step in _steps(arrival, turns, draws):
        before.append(
            store.read_now(lambda conn: (_last_number(conn, household), _rows(conn, household)))
        )
        store.write_now(step)
        found += store.read_now(lambda conn: _unsound(conn, household))
    count = 0
    for number, rows in reversed(before):
        count += store.write_now(partial(_take_back, arrival=arrival, number=number))
        now = store.read_now(lambda conn: _rows(conn, household))
        found += [f"{table} is not as it was" for table in rows if rows[table] != now[table]]
    return found, count


def _steps(arrival: Arrival, turns: Sequence[Told], draws: Draws) -> Iterator[_Step]:
    for place in range(len(turns)):
        at = arrival.now + place * APART
        yield partial(hear, arrival=arrival, turns=turns, place=place, at=at)
    for _ in range(_CHANGES):
        yield partial(_changed, arrival=arrival, draws=draws)


def _changed(conn: Connection, arrival: Arrival, draws: Draws) -> None:
    """Change one fact as a person does, or what two amount to as a night does."""
    viewer, at = arrival.viewer, arrival.now + _LATEST * APART
    facts = sorted(list_facts(conn, viewer, now=at), key=lambda fact: fact.narrative)
    how = draws.below(_CHANGES)
    if not facts:
        return
    fact = draws.choice(facts)
    if how == 0:
        edit_fact(conn, viewer, fact.id, f"{fact.narrative} So it is.", by=arrival.asker, at=at)
    elif how == 1:
        (mark_wrong if draws.below(2) else retract_fact)(
            conn, viewer, fact.id, by=arrival.asker, at=at
        )
    else:
        ruling = draws.choice([Ruling.SAME, Ruling.UPDATE, Ruling.CONTRADICTION])
        _decided(conn, arrival, Finding(older=fact.id, newer=draws.choice(facts).id, ruling=ruling))


def _decided(conn: Connection, arrival: Arrival, finding: Finding) -> None:
    if finding.older == finding.newer:
        return
    at = arrival.now + _LATEST * APART
    with changing(
        conn, arrival.people.id, cause=Cause.CONSOLIDATE, summary="a night", by="upkeep", at=at
    ) as night:
        decide(conn, night, [finding], by="upkeep", at=at)


def _take_back(conn: Connection, arrival: Arrival, number: int) -> int:
    """Take back the changes after a number, the latest first; return how many."""
    household = arrival.people.id
    latest = [
        each
        for each in list_changes(conn, household, limit=_LATEST)
        if each.number > number and each.undone_at is None
    ]
    for each in latest:
        undo(conn, household, each.id, by=arrival.asker, at=arrival.now + _LATEST * APART)
    return len(latest)


def _last_number(conn: Connection, household: str) -> int:
    return max((each.number for each in list_changes(conn, household, limit=1)), default=0)


def _rows(conn: Connection, household: str) -> Mapping[str, Sequence[str]]:
    """Return every row of what undoing restores, change numbers aside."""
    return {
        table.name: sorted(
            repr({name: value for name, value in row.items() if name != "seq"})
            for row in conn.execute(select(table).where(table.c.household == household)).mappings()
        )
        for table in _RESTORED
    }


def _unsound(conn: Connection, household: str) -> list[str]:
    """Return what rests on nothing that is stored: facts on no episode, statements on words that are not there."""
    said, episodes = tables.statements.c, tables.episodes.c
    rows = conn.execute(
        select(said.text, said.start_index, said.end_index, episodes.text.label("whole"))
        .join(
            tables.episodes,
            (episodes.household == said.household) & (episodes.id == said.episode_id),
        )
        .where(said.household == household)
    )
    strange = [row.text for row in rows if row.whole[row.start_index : row.end_index] != row.text]
    return [each.what for each in check(conn, household)] + [
        f"nobody said {each!r}" for each in strange
    ]
